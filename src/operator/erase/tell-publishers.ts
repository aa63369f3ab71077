/** Tells publishers, who keep copies of their records by the feed of changes, of which ones a user was erased. */
import { type SQL, sql } from "drizzle-orm";
import { type Conversion, type ConversionKey, type ConversionRow, toConversion } from "../../conversions/conversion.ts";
import { erasedRow } from "../../conversions/reported.ts";
import type { Database } from "../../db/client.ts";
import { allColumns, insertRows } from "../../db/json-rows.ts";
import { NUMBER, TAKE_NUMBER } from "../../db/report-sequence.ts";
import { conversions } from "../../db/schema/conversions.ts";
import { conversionChanges } from "../../db/schema/report-history.ts";
import { creditedOf } from "../../reports/credited.ts";

/** A conversion, and what its callbacks have credited. Micro-dollars. */
export type PublisherRecord = { conversion: Conversion; creditedMicros: number };

export async function readRecords(db: Database, keys: readonly ConversionKey[]): Promise<PublisherRecord[]> {
	if (keys.length === 0) return [];
	const named = JSON.stringify(keys.map(({ platform, txnid }) => ({ platform, txnid })));
	const rows = await db.all<ConversionRow & { creditedMicros: number }>(sql`
		SELECT ${allColumns(conversions, "v")}, ${creditedOf(false)} AS "creditedMicros"
		FROM json_each(${named}) j CROSS JOIN conversions v WHERE v.platform = j.value ->> 'platform' AND v.txnid = j.value ->> 'txnid'`);
	return rows.map(({ creditedMicros, ...row }) => ({ conversion: toConversion(row), creditedMicros }));
}

/** A change of each that a report has. The record keeps its own number: it stands as it stood. */
export function tellPublishers(records: readonly PublisherRecord[], at: number): SQL[] {
	const changes = records.flatMap(({ conversion, creditedMicros }) => erasedRow(conversion, creditedMicros, at));
	return changes.length === 0 ? [] : [TAKE_NUMBER, insertRows(conversionChanges, changes, sql``, { sequence: NUMBER })];
}
