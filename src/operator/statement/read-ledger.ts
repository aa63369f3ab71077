/** What of the ledger a statement is compared with. */
import { type SQL, sql } from "drizzle-orm";
import { type Conversion, type ConversionRow, toConversion } from "../../conversions/conversion.ts";
import { asClickHash } from "../../conversions/match-click.ts";
import type { StatedPlatform } from "../../conversions/restate.ts";
import type { Database } from "../../db/client.ts";
import { allColumns } from "../../db/json-rows.ts";
import { conversions } from "../../db/schema/conversions.ts";
import { invalidInput } from "../../http/errors.ts";
import type { NegativePayout } from "../../lib/enums.ts";
import { DAY_MS, utcDay } from "../../lib/time.ts";
import type { Ledger, SameClick } from "./compare-statement.ts";
import type { StatedSale } from "./read-row.ts";
import { MAX_STATEMENT_ROWS } from "./read-statement.ts";

/** Transactions that one statement asks for. */
const AT_ONCE = 500;

type PlatformRow = { currency: string; statusMap: string; negativePayout: NegativePayout };

type Period = { fromAt: number; toAt: number };

/** The days of a statement's dates, Unix milliseconds; `toAt` is excluded. Null where it has no dates. */
export function periodOf(sales: readonly StatedSale[]): Period | null {
	const times = sales.flatMap(({ at }) => (at === null ? [] : [at]));
	if (times.length === 0) return null;
	const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
	return { fromAt: Date.parse(utcDay(first)), toAt: Date.parse(utcDay(last)) + DAY_MS };
}

/** @throws HttpError 422 where there is no such platform */
export async function readPlatform(db: Database, id: string): Promise<StatedPlatform & { id: string }> {
	const [platform] = await db.all<PlatformRow>(
		sql`SELECT currency, status_map AS "statusMap", negative_payout AS "negativePayout" FROM platforms WHERE id = ${id}`,
	);
	if (platform === undefined) throw invalidInput([{ path: "platform", message: "is no platform's id" }]);
	return { ...platform, id, statusMap: JSON.parse(platform.statusMap) as StatedPlatform["statusMap"] };
}

/** `isCut` where the platform has more conversions in the period than are looked at. */
export async function readLedger(
	db: Database,
	platform: StatedPlatform & { id: string },
	sales: readonly StatedSale[],
): Promise<Ledger & { isCut: boolean }> {
	const { id } = platform;
	const known = new Map<string, Conversion>();
	const sameClick = new Map<string, SameClick[]>();
	for (let start = 0; start < sales.length; start += AT_ONCE) {
		const part = sales.slice(start, start + AT_ONCE);
		const txnids = JSON.stringify(part.map(({ txnid }) => txnid));
		const rows = await db.all<ConversionRow>(sql`SELECT ${allColumns(conversions, "v")} FROM json_each(${txnids}) j CROSS JOIN conversions v
			WHERE v.platform = ${id} AND v.txnid = j.atom`);
		for (const row of rows) known.set(row.txnid, toConversion(row));
		const missing = part.filter(({ txnid, cid }) => cid !== null && !known.has(txnid)).map(({ cid }) => cid ?? "");
		if (missing.length === 0) continue;
		const cids = JSON.stringify([...new Set(missing.flatMap((cid) => [cid, cid.toLowerCase(), cid.toUpperCase()]))]);
		const others = await db.all<SameClick>(sql`SELECT v.txnid, v.cid, v.payout_micros AS "payoutMicros", v.currency
			FROM json_each(${cids}) j CROSS JOIN conversions v WHERE v.cid = j.atom AND v.platform = ${id}`);
		// A person may have found another click than the postback named: a statement has the hash of that.
		const clicksOf = (reason: SQL) => sql`SELECT c.id, c.click_hash FROM json_each(${cids}) j CROSS JOIN clicks c
			WHERE c.click_hash = j.atom AND ${reason}`;
		const attached = await db.all<SameClick>(sql`SELECT v.txnid, k.click_hash AS cid, v.payout_micros AS "payoutMicros", v.currency
			FROM (${clicksOf(sql`(c.reason IS NULL OR c.reason = 'voided')`)} UNION ALL ${clicksOf(sql`c.reason <> 'voided'`)}) k
			CROSS JOIN conversions v WHERE v.click_id = k.id AND v.platform = ${id} AND v.attribution = 'operator'`);
		for (const other of [...others, ...attached]) sameClick.set(spell(other.cid), [...(sameClick.get(spell(other.cid)) ?? []), other]);
	}
	const period = periodOf(sales);
	const ofPeriod = async (query: typeof countedQuery) => (period === null ? [] : await db.all<ConversionRow>(query(id, period)));
	const [counted, held] = await Promise.all([ofPeriod(countedQuery), ofPeriod(heldQuery)]);
	return {
		platform,
		conversionOf: (txnid) => known.get(txnid) ?? null,
		ofClick: (cid) => sameClick.get(spell(cid)) ?? [],
		counted: [counted, held].flatMap((rows) => rows.slice(0, MAX_STATEMENT_ROWS).map(toConversion)),
		isCut: [counted, held].some(({ length }) => length > MAX_STATEMENT_ROWS),
	};
}

/** What a platform counts in a period: for its query plan, too. */
export function countedQuery(platform: string, period: Period): SQL {
	return inPeriod(sql`v.stage = 'settled' AND v.platform = ${platform}`, period);
}

/** What would count once a person let it go, or a rate came; for its query plan, too: SQLite would go through all of the platform. */
export function heldQuery(platform: string, period: Period): SQL {
	return inPeriod(sql`v.stage <> 'settled' AND v.stage = 'quarantined' AND v.platform || '' = ${platform}`, period);
}

function inPeriod(isSought: SQL, { fromAt, toAt }: Period): SQL {
	return sql`SELECT ${allColumns(conversions, "v")} FROM conversions v
		WHERE ${isSought} AND v.status <> 'cancelled' AND v.test = 0
			AND v.event_at >= ${fromAt} AND v.event_at < ${toAt}
		ORDER BY v.event_at, v.txnid LIMIT ${MAX_STATEMENT_ROWS + 1}`;
}

/** A click hash is the same in any letter case. */
function spell(cid: string): string {
	return asClickHash(cid) ?? cid;
}
