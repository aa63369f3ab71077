import type { SumDifference } from "../../src/reconcile/reconcile-answers.ts";

/** A counter that differs from its rows, in words. */
export function describeSum({ counter, day, publisher, source, campaign_id, brand, column, stored, counted }: SumDifference): string {
	const of = Object.entries({ publisher, source, campaign: campaign_id, brand })
		.filter(([, value]) => value !== null)
		.map(([name, value]) => `${name} ${value === "" ? '""' : value}`);
	return `${day ?? "all days"}  ${counter}, ${of.join(", ")}: ${column} is ${stored}, its rows give ${counted}`;
}
