/** Conversions with all that happened to them, from the first event to the last callback attempt; and why one has no click. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { ConversionHold, NoMatch } from "../lib/enums.ts";
import { type ConversionKey, keyOf } from "./conversion.ts";
import { readLedgerState } from "./read-ledger-state.ts";
import {
	type AttemptRow,
	type CallbackRow,
	type ConversionRow,
	type EventRow,
	type ShownConversion,
	showAttempt,
	showCallback,
	showConversion,
	showEvent,
} from "./show-rows.ts";

/** @param found some hundred rows at most */
export async function showWithHistory(db: Database, found: readonly ConversionRow[]): Promise<ShownConversion[]> {
	const keys = JSON.stringify(found.map(({ platform, txnid }) => ({ platform, txnid })));
	const isOfKeys = sql`t.platform = k.value ->> 'platform' AND t.txnid = k.value ->> 'txnid'`;
	const [events, callbacksFound, attempts] = await Promise.all([
		db.all<EventRow>(
			sql`SELECT t.* FROM json_each(${keys}) k CROSS JOIN conversion_events t WHERE ${isOfKeys} ORDER BY t.platform, t.txnid, t.seq`,
		),
		db.all<CallbackRow>(
			sql`SELECT t.* FROM json_each(${keys}) k CROSS JOIN callbacks t WHERE ${isOfKeys} ORDER BY t.platform, t.txnid, t.seq`,
		),
		db.all<AttemptRow>(
			sql`SELECT a.* FROM json_each(${keys}) k CROSS JOIN callbacks t CROSS JOIN callback_attempts a
				WHERE ${isOfKeys} AND a.callback_id = t.id ORDER BY a.started_at, a.id`,
		),
	]);
	const whyUncounted = await explainUncounted(db, found);
	return found.map((conversion) => {
		const isOf = ({ platform, txnid }: ConversionKey) => platform === conversion.platform && txnid === conversion.txnid;
		return {
			...showConversion(conversion),
			why: whyUncounted(conversion),
			events: events.filter(isOf).map(showEvent),
			callbacks: callbacksFound.filter(isOf).map((callback) => ({
				...showCallback(callback),
				attempts: attempts.filter(({ callback_id }) => callback_id === callback.id).map(showAttempt),
			})),
		};
	});
}

/** What the question why needs of a conversion. */
export type Uncounted = Pick<ConversionRow, "platform" | "txnid" | "cid" | "click_id" | "held_for">;

export type Why = NoMatch | ConversionHold | null;

/** PostgreSQL looks for each click hash in every week of clicks that is kept: more in one statement may take longer than a statement may. */
const MAX_EXPLAINED = 250;

/** Why no click is found for a conversion, by what is stored at this moment; for one that has a click, what it is held for. */
export async function explainUncounted(db: Database, rows: readonly Uncounted[]): Promise<(conversion: Uncounted) => Why> {
	const missing = rows.filter(({ click_id }) => click_id === null);
	if (missing.length === 0) return ({ held_for }) => held_for;
	const whyOf = new Map<string, Why>();
	for (let start = 0; start < missing.length; start += MAX_EXPLAINED) {
		const part = missing.slice(start, start + MAX_EXPLAINED);
		const { conversionOf, findClick } = await readLedgerState(db, { others: part });
		for (const { platform, txnid, cid } of part) {
			const toldAt = conversionOf({ platform, txnid })?.firstReceivedAt ?? Number.POSITIVE_INFINITY;
			whyOf.set(keyOf({ platform, txnid }), findClick(platform, cid, toldAt).why);
		}
	}
	return ({ platform, txnid, click_id, held_for }) => (click_id === null ? (whyOf.get(keyOf({ platform, txnid })) ?? null) : held_for);
}
