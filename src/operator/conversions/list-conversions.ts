/**
 * Conversions, the newest first: a page is read from one index, behind the cursor, and looks at a bounded number of rows, so that its cost
 * does not grow with the table.
 */
import { type SQL, sql } from "drizzle-orm";
import { explainUncounted } from "../../conversions/show-history.ts";
import { type ConversionRow, showConversion } from "../../conversions/show-rows.ts";
import type { Database } from "../../db/client.ts";
import { cutPage, writeCursor } from "../../http/pages.ts";
import { CONVERSION_HOLDS, type CONVERSION_STAGES } from "../../lib/enums.ts";
import type { ConversionPage } from "./conversions-answers.ts";
import type { ListQuery } from "./list-request.ts";

/** Rows that a page with filters looks at: where these hold too few, the cursor goes on behind them. */
const MAX_LOOKED_AT = 5_000;
/** The same of a filter by why there is no click, for which the clicks of each are looked for. */
const MAX_EXPLAINED = 500;

type Stage = (typeof CONVERSION_STAGES)[number];
type Row = ConversionRow & { domain: string | null };
type Key = { at: number; platform: string; txnid: string };

export async function listConversions(db: Database, query: ListQuery): Promise<ConversionPage> {
	const { limit, reason } = query;
	if (reason !== undefined && !isHold(reason)) return listUnmatched(db, query, reason);
	const most = isFiltered(query) ? MAX_LOOKED_AT : limit + 1;
	const [rows, last] = await readRows(db, query, most, limit + 1);
	const { shown, next } = cutPage(rows, limit, keyOf);
	return { data: await show(db, shown), limit, next_cursor: next ?? (last === null ? null : writeCursor(last)) };
}

/** Why a conversion has no click is not stored: it is found out of those that are looked at. */
async function listUnmatched(db: Database, query: ListQuery, reason: string): Promise<ConversionPage> {
	const { limit } = query;
	const [rows, last] = await readRows(db, query, MAX_EXPLAINED, MAX_EXPLAINED);
	const whyOf = await explainUncounted(db, rows);
	const { shown, next } = cutPage(
		rows.filter((row) => whyOf(row) === reason),
		limit,
		keyOf,
	);
	return { data: await show(db, shown), limit, next_cursor: next ?? (last === null ? null : writeCursor(last)) };
}

/** The rows of a page, and the position of the last that was looked at; null where there are none behind it. */
async function readRows(
	db: Database,
	query: ListQuery,
	most: number,
	limit: number,
): Promise<[Row[], readonly [number, string, string] | null]> {
	const looked = lookAtConversions(query, most);
	const [rows, [last]] = await Promise.all([
		db.all<Row>(sql`SELECT v.*, b.domain AS domain FROM (${looked}) l CROSS JOIN conversions v LEFT JOIN brands b ON b.id = v.brand_id
			WHERE v.platform = l.platform AND v.txnid = l.txnid AND ${isWanted(query)}
			ORDER BY l.at DESC, l.platform DESC, l.txnid DESC LIMIT ${limit}`),
		db.all<Key>(sql`SELECT at, platform, txnid FROM (${looked}) l ORDER BY at DESC, platform DESC, txnid DESC LIMIT 1 OFFSET ${most - 1}`),
	]);
	return [rows, last === undefined ? null : [last.at, last.platform, last.txnid]];
}

/** For its query plan, too: the next conversions behind the cursor, of one index alone: of what is open where only that can be meant, of a publisher, or of all. */
export function lookAtConversions(query: ListQuery, most: number): SQL {
	const { publisher, after } = query;
	// Of an event's time nothing follows: a platform may date a conversion anew, however long ago it was first reported.
	const { fromAt, toAt } = query.by === "event" ? { fromAt: null, toAt: null } : query;
	const isNext = sql`${fromAt === null ? sql`true` : sql`first_received_at >= ${fromAt}`}
		AND ${toAt === null ? sql`true` : sql`first_received_at < ${toAt}`}
		AND ${after === null ? sql`true` : sql`(first_received_at, platform, txnid) < (${after[0]}, ${after[1]}, ${after[2]})`}`;
	const ordered = sql`${isNext} ORDER BY first_received_at DESC, platform DESC, txnid DESC LIMIT ${most}`;
	const stages = stagesOf(query);
	if (stages !== null) {
		const each = stages.map(
			(stage) => sql`SELECT at, platform, txnid FROM (SELECT first_received_at AS at, platform, txnid FROM conversions
				WHERE stage <> 'settled' AND stage = ${stage} AND ${ordered}) s`,
		);
		return sql`${sql.join(each, sql` UNION ALL `)} ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT ${most}`;
	}
	const owner = publisher === undefined ? sql`true` : sql`publisher_id = ${publisher}`;
	return sql`SELECT first_received_at AS at, platform, txnid FROM conversions WHERE ${owner} AND ${ordered}`;
}

/** The stages that a query can only mean; null where settled ones are among them. */
function stagesOf({ stage, reason }: ListQuery): readonly Stage[] | null {
	const meant: readonly Stage[] | null = reason === undefined ? null : isHold(reason) ? ["quarantined"] : ["waiting", "unmatched"];
	if (stage === undefined) return meant;
	if (meant === null) return stage === "settled" ? null : [stage];
	// None that is both: the stage that was asked for holds no such.
	return stage === "settled" ? meant : [stage];
}

function isWanted({ stage, status, platform, publisher, brand, reason, minMicros, by, fromAt, toAt }: ListQuery): SQL {
	const conditions = [
		by !== "event" || fromAt === null ? null : sql`v.event_at >= ${fromAt}`,
		by !== "event" || toAt === null ? null : sql`v.event_at < ${toAt}`,
		stage === undefined ? null : sql`v.stage = ${stage}`,
		status === undefined ? null : sql`v.status = ${status}`,
		platform === undefined ? null : sql`v.platform = ${platform}`,
		publisher === undefined ? null : sql`v.publisher_id = ${publisher}`,
		brand === undefined ? null : sql`b.domain = ${brand}`,
		reason === undefined ? null : isHold(reason) ? sql`v.stage = 'quarantined' AND v.held_for = ${reason}` : sql`v.click_id IS NULL`,
		minMicros === null ? null : sql`coalesce(v.gross_micros, v.payout_micros) >= ${minMicros}`,
	].filter((condition) => condition !== null);
	return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
}

/** Whether some of the rows that are looked at may not be wanted. */
function isFiltered({ stage, status, platform, publisher, brand, reason, minMicros, by }: ListQuery): boolean {
	const others = [status, platform, brand, reason, minMicros ?? undefined, by].some((filter) => filter !== undefined);
	return others || stage === "settled" || (stage !== undefined && publisher !== undefined);
}

function isHold(reason: string): boolean {
	return CONVERSION_HOLDS.some((hold) => hold === reason);
}

function keyOf({ first_received_at, platform, txnid }: Row) {
	return [first_received_at, platform, txnid] as const;
}

async function show(db: Database, rows: readonly Row[]): Promise<ConversionPage["data"]> {
	const whyOf = await explainUncounted(db, rows);
	return rows.map((row) => {
		const { platform, txnid, stage, status, verdict, network_status, status_unknown, test, credited, ...rest } = showConversion(row);
		const { event_at, payout, currency, gross_usd, publisher_revenue, publisher, campaign_id, cid, click_id } = rest;
		return {
			...{
				platform,
				txnid,
				stage,
				status,
				why: whyOf(row),
				verdict,
				network_status,
				status_unknown,
				test,
				credited,
				event_at,
				payout,
				currency,
			},
			...{ gross_usd, publisher_revenue, publisher, brand: row.domain, campaign_id, cid, click_id },
			first_received_at: rest.first_received_at,
			updated_at: rest.updated_at,
		};
	});
}
