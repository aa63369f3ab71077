/** Answer of GET /api/earnings. */
import * as v from "valibot";
import { count, time } from "../lib/shapes.ts";
import { CLICK_REASONS } from "../lib/traffic-rules.ts";

const text = v.string();
const usd = v.pipe(text, v.regex(/^-?\d+\.\d{4,6}$/));

/** What earnings may be grouped by. */
export const EARNINGS_GROUPS = ["day", "source", "brand", "campaign", "country"] as const;
export type EarningsGroup = (typeof EARNINGS_GROUPS)[number];

const sums = {
	publisher_revenue: v.pipe(usd, v.description("Of clicks, conversions and amounts of the operator's, USD.")),
	approved_revenue: usd,
	pending_revenue: usd,
	gross_revenue: v.optional(v.pipe(usd, v.description("Before your share; not where you are paid by clicks."))),
	sales_amount: v.optional(v.pipe(usd, v.description("Where enabled for you."))),
	click_count: v.pipe(v.number(), v.integer(), v.description("Paid clicks.")),
	conversion_count: v.pipe(v.number(), v.integer()),
};

export const earningsRowSchema = v.strictObject({
	day: v.optional(v.pipe(text, v.isoDate(), v.description("UTC."))),
	source_id: v.optional(v.pipe(text, v.description("Empty where the link had none."))),
	brand: v.optional(v.pipe(v.nullable(text), v.description("Domain; null for amounts of the operator's."))),
	campaign_id: v.optional(v.pipe(v.nullable(text), v.description("Null for amounts of the operator's."))),
	country: v.optional(
		v.pipe(v.nullable(text), v.description("The campaign's; null for amounts of the operator's, and for campaigns that are no more.")),
	),
	...sums,
});
export const earningsTotalSchema = v.strictObject(sums);

export const earningsSchema = v.strictObject({
	from: v.pipe(text, v.isoDate()),
	to: v.pipe(text, v.isoDate()),
	group: v.array(v.picklist(EARNINGS_GROUPS)),
	data: v.array(earningsRowSchema),
	total: v.pipe(earningsTotalSchema, v.description("Of the whole period: what the rows of all pages add up to, and `daywise`.")),
	conversions: v.pipe(
		v.strictObject({ approved: count, pending: count, cancelled: count }),
		v.description("Of the whole period, by the day on which they happened."),
	),
	unpaid_clicks: v.pipe(
		v.record(v.picklist(CLICK_REASONS), count),
		v.description("Of the whole period, by reason, without those that do not occur."),
	),
	data_through: v.pipe(
		v.nullable(time),
		v.description("Up to when everything that came in is counted; null where a queue or KV does not tell what waits in it."),
	),
	limit: count,
	next_cursor: v.pipe(v.nullable(text), v.description("Ask again with it; null where there are no more.")),
});

export type EarningsRow = v.InferOutput<typeof earningsRowSchema>;
export type Earnings = v.InferOutput<typeof earningsSchema>;
