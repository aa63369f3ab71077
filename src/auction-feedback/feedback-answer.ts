/** Answer of GET /operator/auction-feedback. */
import * as v from "valibot";
import { NOTICE_KINDS } from "../lib/enums.ts";
import { count, usd } from "../lib/shapes.ts";

export const FEEDBACK_GROUPS = ["day", "publisher", "loss"] as const;
export type FeedbackGroup = (typeof FEEDBACK_GROUPS)[number];

const sums = {
	auctions: v.pipe(count, v.description("That publishers told of.")),
	won: count,
	lost: count,
	win_rate: v.pipe(v.nullable(v.number()), v.description("Won of all, 0 to 1, four decimals; null where there are none.")),
	price_to_beat: v.pipe(v.nullable(usd), v.description("Mean price of those that were lost to a higher bid (102), where it was told.")),
};

const notices = v.strictObject(
	Object.fromEntries(NOTICE_KINDS.map((kind) => [kind, count])) as Record<(typeof NOTICE_KINDS)[number], typeof count>,
);

export const feedbackRowSchema = v.strictObject({
	day: v.optional(v.pipe(v.string(), v.isoDate(), v.description("UTC day on which it was told."))),
	publisher: v.optional(v.string()),
	loss: v.optional(v.pipe(count, v.description("Loss code of OpenRTB; 0 of bids that won."))),
	meaning: v.optional(v.pipe(v.nullable(v.string()), v.description("Of the code; null where it is an exchange's own."))),
	...sums,
});

export const feedbackPageSchema = v.strictObject({
	from: v.pipe(v.string(), v.isoDate()),
	to: v.pipe(v.string(), v.isoDate(), v.description("Included.")),
	group: v.array(v.picklist(FEEDBACK_GROUPS)),
	data: v.array(feedbackRowSchema),
	total: v.strictObject({ ...sums, notices: v.pipe(notices, v.description("Calls of `nurl`, `burl` and `lurl`: anyone can make them.")) }),
	limit: count,
	next_cursor: v.pipe(v.nullable(v.string()), v.description("Ask again with it; null where there are no more.")),
});

export type FeedbackRow = v.InferOutput<typeof feedbackRowSchema>;
export type FeedbackPage = v.InferOutput<typeof feedbackPageSchema>;
