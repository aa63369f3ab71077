/** Answers of /operator/problems/postbacks and /operator/postback-url. */
import * as v from "valibot";
import { count, time, usd } from "../../lib/shapes.ts";
import { PROBLEM_CAUSES } from "./classify.ts";
import { POSTBACK_FIELDS } from "./network-macros.ts";

const text = v.string();
const textOrNull = v.nullable(text);

export const problemSchema = v.strictObject({
	platform: v.pipe(textOrNull, v.description("Null where the key is unknown.")),
	cause: v.picklist(PROBLEM_CAUSES),
	field: v.pipe(v.nullable(v.picklist(POSTBACK_FIELDS)), v.description("Which field, where it is one.")),
	sent: v.pipe(textOrNull, v.description("What stands in its place: a placeholder, another parameter's name, a word, a currency.")),
	count,
	since: v.pipe(time, v.description("When the first of them came.")),
	newest_at: time,
	examples: v.array(
		v.strictObject({
			request_id: v.pipe(textOrNull, v.description("Of the postback, for `trace`.")),
			txnid: textOrNull,
			at: time,
			query: v.pipe(textOrNull, v.description("As it came, without the key; its beginning.")),
		}),
	),
	fix: v.strictObject({
		text: v.pipe(text, v.description("What mends it.")),
		macro: v.pipe(textOrNull, v.description("The network's macro that belongs there, where it is known.")),
		source: v.pipe(textOrNull, v.description("Where the network documents its macros.")),
		command: v.pipe(textOrNull, v.description("The operator's command that is of use.")),
	}),
});

export const problemsSchema = v.strictObject({
	data: v.pipe(v.array(problemSchema), v.description("The most frequent first.")),
	limit: count,
	next_cursor: textOrNull,
	complete: v.pipe(v.boolean(), v.description("False where there is more than was looked at: the counts are the least there are.")),
});

export const replayedPostbacksSchema = v.strictObject({
	looked_at: v.pipe(count, v.description("Refused postbacks, and conversions without a click.")),
	accepted: v.pipe(count, v.description("Refused ones that are in order now.")),
	still_refused: count,
	conversions: v.pipe(count, v.description("Conversions that changed, or would.")),
	publisher_revenue: usd,
	gross_revenue: usd,
	next_cursor: v.pipe(textOrNull, v.description("Ask again with it; null once all were looked at.")),
	dry_run: v.boolean(),
});

export const postbackUrlSchema = v.strictObject({
	platform: text,
	url: v.pipe(
		text,
		v.description("To give to the platform. Keys are stored as hashes: `{access_key}` stands for one, unless a new one was issued."),
	),
	network: v.pipe(textOrNull, v.description("Whose macros stand in it; null for none that is known.")),
	source: v.pipe(textOrNull, v.description("Where the network documents them.")),
	read: v.pipe(v.boolean(), v.description("Whether they were read there; otherwise they are general usage, to be compared.")),
	note: textOrNull,
	unknown: v.pipe(
		v.array(v.picklist(POSTBACK_FIELDS)),
		v.description("Required fields of which the macro is not known: words in capitals stand in their places."),
	),
	key_id: v.pipe(textOrNull, v.description("Of the key that was issued, as `keys list` shows it.")),
});

export type Problem = v.InferOutput<typeof problemSchema>;
export type Problems = v.InferOutput<typeof problemsSchema>;
export type ReplayedPostbacks = v.InferOutput<typeof replayedPostbacksSchema>;
export type PostbackUrlAnswer = v.InferOutput<typeof postbackUrlSchema>;
