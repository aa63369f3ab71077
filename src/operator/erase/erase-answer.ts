/** Answer of POST /operator/erase. */
import * as v from "valibot";
import { count, time } from "../../lib/shapes.ts";

/** Rows, or messages, that had something of the user. */
const countsSchema = v.strictObject({
	clicks: count,
	visits: count,
	conversions: count,
	conversion_events: count,
	postbacks: count,
	callbacks: count,
	claims: count,
	dead_letters: count,
	kept_in_kv: count,
	archived: count,
});

export const erasedSchema = v.strictObject({
	id: v.nullable(v.pipe(v.string(), v.uuid(), v.description("Of the receipt; a dry run, by which nothing is erased, gives none."))),
	at: time,
	dry_run: v.boolean(),
	complete: v.pipe(v.boolean(), v.description("False where there is more: ask again, with `next_cursor` as `cursor` if there is one.")),
	next_cursor: v.nullable(v.string()),
	hash: v.nullable(
		v.pipe(
			v.string(),
			v.regex(/^[0-9a-f]{64}$/),
			v.description("SHA-256 of the receipt's id, a line feed, and what was asked for: whoever has both can verify it. Null in a dry run."),
		),
	),
	counts: countsSchema,
});

export type Erased = v.InferOutput<typeof erasedSchema>;
export type EraseCounts = Erased["counts"];
