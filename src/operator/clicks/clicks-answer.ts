/** Answer of GET /operator/clicks. */
import * as v from "valibot";
import { tracedClickSchema } from "../../conversions/trace-answer.ts";
import { count } from "../../lib/shapes.ts";

const textOrNull = v.nullable(v.string());

export const listedClickSchema = v.strictObject({
	...tracedClickSchema.entries,
	country: v.pipe(textOrNull, v.description("Of the campaign that the link led to.")),
	keyword: v.pipe(textOrNull, v.description("The keyword that priced the bid.")),
	address_prefix: v.pipe(textOrNull, v.description("Network that clicked: an IPv4 /24 or an IPv6 /48. `void_clicks` selects by it.")),
	asked_from: v.pipe(textOrNull, v.description("Network that asked for the bid, likewise.")),
});

export const clickPageSchema = v.strictObject({
	data: v.array(listedClickSchema),
	limit: count,
	next_cursor: v.pipe(
		textOrNull,
		v.description("Ask again with it; null where there are no more. A page may be short, and have one, where few clicks are meant."),
	),
});

export type ListedClick = v.InferOutput<typeof listedClickSchema>;
export type ClickPage = v.InferOutput<typeof clickPageSchema>;
