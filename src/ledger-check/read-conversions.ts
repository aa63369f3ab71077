/** Reads conversions with all that they are checked against, at one moment. */
import { type SQL, sql } from "drizzle-orm";
import { type ConversionKey, type ConversionRow, type EventDetails, keyOf, toConversion } from "../conversions/conversion.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { allColumns } from "../db/json-rows.ts";
import { conversions } from "../db/schema/conversions.ts";
import type { Amendments } from "../lib/enums.ts";
import type { CheckedCallback, CheckedConversion } from "./check-conversion.ts";

type EventRow = ConversionKey & { seq: number; details: string };
type CallbackRow = ConversionKey & CheckedCallback;
type StoredRow = ConversionRow & { amendments: Amendments | null };

export async function readConversions(db: Database, keys: readonly ConversionKey[]): Promise<CheckedConversion[]> {
	const list = JSON.stringify(keys.map(({ platform, txnid }) => ({ platform, txnid })));
	const ofKeys = (table: SQL) => sql`FROM json_each(${list}) k CROSS JOIN ${table} t
		WHERE t.platform = k.value ->> 'platform' AND t.txnid = k.value ->> 'txnid'`;
	const [stored, events, callbacks] = await runTransaction(db, [
		sql`SELECT ${allColumns(conversions, "t")}, (SELECT p.amendments FROM publishers p WHERE p.id = t.publisher_id) AS amendments
			${ofKeys(sql`conversions`)}`,
		sql`SELECT t.platform, t.txnid, t.seq, t.details ${ofKeys(sql`conversion_events`)} ORDER BY t.platform, t.txnid, t.seq`,
		sql`SELECT t.platform, t.txnid, t.seq, t.status, t.payout_micros AS "payoutMicros", t.state, t.held_for AS "heldFor"
			${ofKeys(sql`callbacks`)} ORDER BY t.platform, t.txnid, t.seq`,
	]);
	const eventsOf = Map.groupBy((events?.results ?? []) as EventRow[], keyOf);
	const callbacksOf = Map.groupBy((callbacks?.results ?? []) as CallbackRow[], keyOf);
	return ((stored?.results ?? []) as StoredRow[]).map(({ amendments, ...rest }) => ({
		conversion: toConversion(rest),
		amendments: amendments ?? "none",
		events: (eventsOf.get(keyOf(rest)) ?? []).map(({ seq, details }) => ({ seq, ...(JSON.parse(details) as EventDetails) })),
		callbacks: callbacksOf.get(keyOf(rest)) ?? [],
	}));
}

/** The next conversions behind one, in the order of platform and transaction. */
export function readNextKeys(db: Database, after: ConversionKey, limit: number): Promise<ConversionKey[]> {
	return db.all<ConversionKey>(sql`SELECT platform, txnid FROM conversions
		WHERE (platform, txnid) > (${after.platform}, ${after.txnid}) ORDER BY platform, txnid LIMIT ${limit}`);
}

export type ChangedKey = ConversionKey & { changedAt: number };

/** The next conversions that were written behind one and before a time, in the order of writing. */
export function readChangedKeys(db: Database, after: ChangedKey, before: number, limit: number): Promise<ChangedKey[]> {
	return db.all<ChangedKey>(sql`SELECT platform, txnid, updated_at AS "changedAt" FROM conversions
		WHERE updated_at >= ${after.changedAt} AND updated_at < ${before}
			AND (updated_at > ${after.changedAt} OR (platform, txnid) > (${after.platform}, ${after.txnid}))
		ORDER BY updated_at, platform, txnid LIMIT ${limit}`);
}
