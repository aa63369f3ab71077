/** How the operator names callbacks: by publisher, transaction, id, state and time. One reading for lists and replays. */
import { type SQL, sql } from "drizzle-orm";
import * as v from "valibot";
import { times } from "../http/datetime.ts";
import { nameOfAtMost } from "../http/texts.ts";
import { CALLBACK_STATES } from "../lib/enums.ts";

const text = nameOfAtMost(2_000);

/** Entries of a selection: each narrows it. */
export const selectionEntries = {
	id: v.optional(text),
	/** publishers.id. */
	publisher: v.optional(text),
	/** platforms.id. */
	platform: v.optional(text),
	txnid: v.optional(text),
	state: v.optional(v.picklist(CALLBACK_STATES, `must be one of ${CALLBACK_STATES.join(", ")}`)),
	/** When the callback came to be: from, and before, Unix milliseconds. */
	...times,
};

const selectionSchema = v.object(selectionEntries);
export type Selection = v.InferOutput<typeof selectionSchema>;

/** Written out, not as parameters: only so do they match the conditions of partial indexes. */
const STATES: Record<NonNullable<Selection["state"]>, SQL> = {
	due: sql`state = 'due'`,
	delivered: sql`state = 'delivered'`,
	exhausted: sql`state = 'exhausted'`,
	no_url: sql`state = 'no_url'`,
};

/** A transaction has few callbacks. By the index of publishers, which has the order of lists, all of the publisher's would be read for them. */
const UNINDEXED_PUBLISHER = sql`coalesce(publisher_id, '')`;
/** Likewise of a platform, where anything else narrows the selection. A transaction's are found by both. */
const UNINDEXED_PLATFORM = sql`platform || ''`;

/** The selection as a condition on the table `callbacks`, to stand behind WHERE. */
export function conditionOf({ id, publisher, platform, txnid, state, from, to }: Selection): SQL {
	const isNarrow = [id, publisher, from, to].some((value) => value !== undefined) || state === "due" || state === "exhausted";
	const conditions = [
		id === undefined ? null : sql`id = ${id}`,
		publisher === undefined ? null : sql`${txnid === undefined ? sql`publisher_id` : UNINDEXED_PUBLISHER} = ${publisher}`,
		platform === undefined ? null : sql`${isNarrow && txnid === undefined ? UNINDEXED_PLATFORM : sql`platform`} = ${platform}`,
		txnid === undefined ? null : sql`txnid = ${txnid}`,
		state === undefined ? null : STATES[state],
		from === undefined ? null : sql`created_at >= ${from}`,
		to === undefined ? null : sql`created_at < ${to}`,
	].filter((condition) => condition !== null);
	return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
}
