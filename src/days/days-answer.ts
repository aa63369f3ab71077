/** Answer of GET /api/days. */
import * as v from "valibot";
import { count, time, usd } from "../lib/shapes.ts";

export const closedDaySchema = v.strictObject({
	day: v.pipe(v.string(), v.isoDate(), v.description("UTC.")),
	publisher_revenue: usd,
	gross_revenue: v.optional(v.pipe(usd, v.description("Not for CPC publishers."))),
	click_count: count,
	record_count: v.pipe(v.nullable(count), v.description("Records of clickid_level in the digest.")),
	digest: v.pipe(
		v.nullable(v.pipe(v.string(), v.regex(/^[\da-f]{64}$/))),
		v.description("Of the day's records of clickid_level; null before it is computed."),
	),
	computed_at: v.pipe(v.nullable(time), v.description("When the digest was computed: what changed later is not in it.")),
	current: v.pipe(v.boolean(), v.description("False where the day changed since, or has no digest yet: ask again some hours later.")),
});

export const closedDaysSchema = v.strictObject({
	data: v.array(closedDaySchema),
	limit: count,
	next_cursor: v.pipe(v.nullable(v.string()), v.description("Ask again with it; null where there are no more.")),
});

export type ClosedDay = v.InferOutput<typeof closedDaySchema>;
export type ClosedDays = v.InferOutput<typeof closedDaysSchema>;
