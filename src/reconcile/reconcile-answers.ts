/** Request and answer of POST /operator/reconcile-sums. */
import * as v from "valibot";
import { count } from "../lib/shapes.ts";
import { COUNTERS } from "./compare-sums.ts";

const textOrNull = v.nullable(v.string());

export const SUM_COLUMNS = [
	"click_count",
	"click_revenue",
	"click_gross",
	"approved_count",
	"pending_count",
	"cancelled_count",
	"spend",
	"conversion_count",
	"conversion_revenue",
	"pending_revenue",
	"gross",
	"pending_gross",
	"sales",
	"adjustment",
] as const;

/** What tells rows of daily_network apart beside the names of the others. */
export const NETWORK_KEYS = ["platform", "country", "kind", "reason"] as const;

const decimal = v.pipe(v.string(), v.regex(/^-?\d+\.\d{4,6}$/));
const amount = v.pipe(
	v.union([v.pipe(v.number(), v.integer()), decimal]),
	v.description("A number of clicks or conversions; of all others USD, decimal."),
);

export const sumDifferenceSchema = v.strictObject({
	counter: v.picklist(COUNTERS),
	day: v.pipe(textOrNull, v.description("UTC; of campaign_days on the campaign's own clocks; null for totals.")),
	publisher: textOrNull,
	source: textOrNull,
	campaign_id: v.nullable(count),
	brand: v.pipe(v.nullable(count), v.description("The brand's internal id.")),
	...v.entriesFromList(NETWORK_KEYS, v.optional(v.pipe(v.string(), v.description("Of daily_network; empty where it has none.")))),
	column: v.picklist(SUM_COLUMNS),
	stored: amount,
	counted: v.pipe(amount, v.description("What the rows give.")),
});

export const reconcileAnswerSchema = v.strictObject({
	days: v.pipe(count, v.description("Days that were compared.")),
	from: v.pipe(textOrNull, v.description("The first of them.")),
	to: v.pipe(textOrNull, v.description("The last of them.")),
	of_days: v.pipe(count, v.description("Days from `from` to `to` of the request, those that were compared before included.")),
	campaigns: v.pipe(count, v.description("Campaigns whose totals were compared.")),
	clicks_gone: v.pipe(v.array(v.string()), v.description("Days whose clicks were removed: their sums of clicks were not compared.")),
	difference_count: count,
	differences: v.pipe(v.array(sumDifferenceSchema), v.description("The first hundred.")),
	repaired: v.pipe(v.boolean(), v.description("Whether they were written right.")),
	next_cursor: v.pipe(textOrNull, v.description("Ask again with it; null where all is compared.")),
});

export type SumDifference = v.InferOutput<typeof sumDifferenceSchema>;
export type ReconcileAnswer = v.InferOutput<typeof reconcileAnswerSchema>;
