/** An event of a conversion in words: what it set, with amounts as amounts and times as times. */
import type { Trace } from "../../src/conversions/trace-answer.ts";

type Event = Trace["conversions"][number]["events"][number];

/** Amounts, in USD or in the conversion's own currency. */
const AMOUNTS: Readonly<Record<string, "USD" | "own">> = {
	payout: "own",
	sales: "own",
	gross_usd: "USD",
	sales_usd: "USD",
	publisher_revenue: "USD",
};
const LABELS: Record<string, string> = { gross_usd: "gross", sales_usd: "sales", publisher_revenue: "earned" };

const NOT_HELD = "no longer held";

/** A line each, with amounts in the currency that the conversion had then. @param events all, the oldest first @param currency of now */
export function describeEvents(events: readonly Event[], currency: string): string[] {
	let then = currency;
	return events.map((event) => {
		then = currencyOf(event, then);
		return describeEvent(event, then);
	});
}

/**
 * One line.
 * @param currency of the conversion, where the event does not set it
 * @example "2026-11-21T22:33:35.112Z  attributed: stage settled, gross 12.3400 USD, earned 9.8720 USD, revenue share 80 %"
 */
export function describeEvent(event: Event, currency: string): string {
	const { at, kind, set, why } = event;
	const own = currencyOf(event, currency);
	// An event of this kind also ends what was held and is voided: that is no release.
	const isLetGo = kind === "released" && set.held_for === null;
	const told = Object.entries(set)
		.filter(([name, value]) => value !== false && !isSaid(name, own, set) && !(isLetGo && name === "held_for"))
		.map(([name, value]) => describeField(name, value, own));
	return `${at}  ${isLetGo ? NOT_HELD : kind}${why === undefined ? "" : ` (${why.replaceAll("_", " ")})`}${told.length === 0 ? "" : `: ${told.join(", ")}`}`;
}

function currencyOf({ set }: Event, before: string): string {
	return typeof set.currency === "string" ? set.currency : before;
}

/** True for what the other fields' amounts say already. */
function isSaid(name: string, currency: string, set: Event["set"]): boolean {
	return (name === "currency" && "payout" in set) || (name === "usd_rate" && currency === "USD");
}

function describeField(name: string, value: unknown, currency: string): string {
	if (name === "held_for") return value === null ? NOT_HELD : `held for ${String(value).replaceAll("_", " ")}`;
	const label = LABELS[name] ?? name.replaceAll("_", " ");
	if (value === null) return `no ${label}`;
	if (value === true) return label;
	const of = AMOUNTS[name];
	if (of !== undefined) return `${label} ${String(value)} ${of === "own" ? currency : "USD"}`;
	if (name === "usd_rate") return `1 ${currency} = ${String(value)} USD`;
	return name === "revenue_share" ? `${label} ${percentOf(value)} %` : `${label} ${String(value)}`;
}

function percentOf(share: unknown): number {
	return Number((Number(share) * 100).toFixed(4));
}
