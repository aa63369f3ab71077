/** Answer of GET /operator/reports. */
import * as v from "valibot";
import { count, time } from "../lib/shapes.ts";
import { CLICK_REASONS } from "../lib/traffic-rules.ts";

/** What reports may be grouped by. */
export const REPORT_GROUPS = ["day", "publisher", "brand", "campaign", "platform", "country", "source", "kind"] as const;
export type ReportGroup = (typeof REPORT_GROUPS)[number];

const text = v.string();
const textOrNull = v.nullable(text);
const usd = v.pipe(text, v.regex(/^-?\d+\.\d{4,6}$/));
/** Negative where a group of sources has less than its sources. */
const whole = v.pipe(v.number(), v.integer());
const rate = v.pipe(v.nullable(v.number()), v.description("0.1 is ten percent; null of nothing."));

/** Sums that every group has. */
const sums = {
	gross_revenue: v.pipe(usd, v.description("What platforms pay for approved and pending conversions, on the day of the conversion.")),
	publisher_revenue: v.pipe(usd, v.description("Of clicks, conversions and amounts of the operator's.")),
	pending_revenue: v.pipe(usd, v.description("What of that is of pending conversions.")),
	margin: v.pipe(usd, v.description("`gross_revenue` less `publisher_revenue`.")),
	margin_rate: rate,
	sales_amount: usd,
	clicks_paid: whole,
	conversion_count: v.pipe(whole, v.description("Approved and pending ones.")),
	epc_earned: v.pipe(v.nullable(usd), v.description("`gross_revenue` a paid click.")),
};

/** What sums of sources lack. */
const details = {
	pending_gross_revenue: v.pipe(usd, v.description("What of `gross_revenue` is of pending conversions.")),
	clicks_unpaid: v.pipe(
		count,
		v.description("Those that were stored: past 600 an hour of an address they are only counted (`operator status`)."),
	),
	unpaid: v.pipe(v.record(v.picklist(CLICK_REASONS), count), v.description("By reason, without those that do not occur.")),
	conversions: v.strictObject({ approved: count, pending: count, cancelled: count }),
	epc_bid: v.pipe(v.nullable(usd), v.description("What bids and links promised a paid click to be worth, before the publishers' shares.")),
	reversal_rate: rate,
};

export const reportRowSchema = v.strictObject({
	day: v.optional(v.pipe(text, v.isoDate(), v.description("UTC."))),
	publisher: v.optional(v.pipe(textOrNull, v.description("Null where nobody has the identity of a click."))),
	brand: v.optional(v.pipe(textOrNull, v.description("Domain; null for amounts of the operator's, and for brands that are no more."))),
	campaign: v.optional(v.pipe(v.nullable(count), v.description("Null for amounts of the operator's."))),
	platform: v.optional(v.pipe(textOrNull, v.description("Of the campaign when it was clicked."))),
	country: v.optional(v.pipe(textOrNull, v.description("Of the campaign that the link led to."))),
	kind: v.optional(v.pipe(textOrNull, v.description("Where the link came from: openrtb, serving-engine or link."))),
	source: v.optional(
		v.pipe(
			textOrNull,
			v.description(
				"Empty where links named none; null for what the others lack of the total: amounts of the operator's, clicks that are no longer kept and, of sums of sources, what these do not have.",
			),
		),
	),
	...sums,
	...v.partial(v.strictObject(details)).entries,
});

export const reportTotalSchema = v.strictObject({ ...sums, ...details });

export const networkReportSchema = v.strictObject({
	from: v.pipe(text, v.isoDate()),
	to: v.pipe(text, v.isoDate()),
	group: v.array(v.picklist(REPORT_GROUPS)),
	data_through: v.pipe(
		v.nullable(time),
		v.description("Up to when everything that came in is counted; null where a queue or KV does not tell what waits in it."),
	),
	data: v.array(reportRowSchema),
	total: v.pipe(reportTotalSchema, v.description("Of the whole period: what the rows of all pages add up to, whatever the group.")),
	limit: count,
	next_cursor: v.pipe(textOrNull, v.description("Ask again with it; null where there are no more.")),
});

export type ReportRow = v.InferOutput<typeof reportRowSchema>;
export type ReportTotal = v.InferOutput<typeof reportTotalSchema>;
export type NetworkReport = v.InferOutput<typeof networkReportSchema>;
