import type { SumDifference } from "../../src/reconcile/reconcile-answers.ts";

/** A counter that differs from its rows, in words. */
export function describeSum(difference: SumDifference): string {
	const { counter, day, publisher, source, campaign_id, brand, platform, country, kind, reason, column, stored, counted } = difference;
	const of = Object.entries({ publisher, source, campaign: campaign_id, brand, platform, country, kind, reason })
		.filter(([, value]) => value !== null && value !== undefined)
		.map(([name, value]) => `${name} ${value === "" ? '""' : value}`);
	return `${day ?? "all days"}  ${counter}, ${of.join(", ")}: ${column} is ${stored}, its rows give ${counted}`;
}
