/** What the operator's endpoints for callbacks take. */
import * as v from "valibot";
import { inOrder } from "../http/datetime.ts";
import { OPERATOR_CURSOR, pageLimit } from "../lib/page-cursor.ts";
import { selectionEntries } from "./select-callbacks.ts";

/** Query of GET /operator/callbacks. Closed: a filter that is misspelled would show what it was to leave out. */
export const listSchema = v.pipe(
	v.strictObject({
		...selectionEntries,
		limit: pageLimit,
		cursor: v.optional(v.pipe(v.string(), v.regex(OPERATOR_CURSOR.pattern, "must be the next_cursor of an answer"))),
	}),
	inOrder(),
);

export type ListQuery = v.InferOutput<typeof listSchema>;

/** Body of POST /operator/callbacks/replay. */
export const replaySchema = v.pipe(
	// Closed: a mistyped field would send more than was meant.
	v.strictObject({
		...selectionEntries,
		/** True only counts. */
		dry_run: v.optional(v.boolean("must be true or false"), false),
	}),
	v.check(
		({ id, publisher, platform, txnid, from, to }) => [id, publisher, platform, txnid, from, to].some((value) => value !== undefined),
		"must name callbacks by id, publisher, platform, txnid, from or to",
	),
	inOrder(),
);

export type ReplayRequest = v.InferOutput<typeof replaySchema>;

/** Body of POST /operator/callbacks/test. */
export const testSchema = v.union(
	[v.strictObject({ publisher: v.pipe(v.string(), v.nonEmpty()) }), v.strictObject({ url: v.pipe(v.string(), v.nonEmpty()) })],
	"must hold either publisher (an id) or url (an address), and nothing else",
);
