/** Answer of GET /operator/bids. */
import * as v from "valibot";
import { BID_ENDPOINTS } from "../lib/enums.ts";
import { count, time } from "../lib/shapes.ts";

/** What requests may be grouped by. */
export const BIDS_GROUPS = ["hour", "day", "publisher", "endpoint", "reason"] as const;
export type BidsGroup = (typeof BIDS_GROUPS)[number];

const bidsSums = {
	requests: v.pipe(count, v.description("Bids and no-bids.")),
	bids: count,
	no_bids: count,
};

export const bidsRowSchema = v.strictObject({
	hour: v.optional(v.pipe(time, v.description("Its beginning."))),
	day: v.optional(v.pipe(v.string(), v.isoDate(), v.description("UTC."))),
	publisher: v.optional(v.pipe(v.nullable(v.string()), v.description("Null where nobody has the name that asked."))),
	endpoint: v.optional(v.picklist(BID_ENDPOINTS)),
	reason: v.optional(v.pipe(v.nullable(v.string()), v.description("Why there was no bid; null of bids."))),
	...bidsSums,
});

export const bidsPageSchema = v.strictObject({
	from: time,
	to: v.pipe(time, v.description("Excluded.")),
	group: v.array(v.picklist(BIDS_GROUPS)),
	data: v.array(bidsRowSchema),
	total: v.pipe(v.strictObject(bidsSums), v.description("Of the whole period: what the rows of all pages add up to.")),
	limit: count,
	next_cursor: v.pipe(v.nullable(v.string()), v.description("Ask again with it; null where there are no more.")),
});

export type BidsRow = v.InferOutput<typeof bidsRowSchema>;
export type BidsPage = v.InferOutput<typeof bidsPageSchema>;
