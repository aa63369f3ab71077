/**
 * Clicks of the network, the newest first: a page is read in the order of one index, behind the cursor, and looks at a bounded number of
 * rows, so that its cost does not grow with the table.
 */
import { type SQL, sql } from "drizzle-orm";
import { type ClickRow, showClick } from "../../conversions/show-rows.ts";
import { newestOfAnyId } from "../../db/clicks-of-hash.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { OPERATOR_CURSOR } from "../../lib/page-cursor.ts";
import { HOUR_MS } from "../../lib/time.ts";
import type { ClickPage, ListedClick } from "./clicks-answer.ts";
import type { ClicksQuery } from "./clicks-request.ts";

/** Clicks that a page with filters looks at: where these hold too few, the cursor goes on behind them. */
export const MAX_LOOKED_AT = 5_000;

type Position = { at: number; id: string };

export async function listClicks(db: Database, query: ClicksQuery): Promise<ClickPage> {
	const { limit } = query;
	const most = isFiltered(query) ? MAX_LOOKED_AT : limit + 1;
	const looked = lookAtClicks(query, most);
	const inOrder = query.id !== undefined || query.publisher === undefined ? sql`l.id DESC` : sql`l.at DESC, l.id DESC`;
	const [page, last] = await runTransaction(db, [
		sql`SELECT c.*, b.domain AS domain FROM (${looked}) l CROSS JOIN clicks c LEFT JOIN brands b ON b.id = c.brand_id
			WHERE c.id = l.id AND ${isWanted(query)} ORDER BY ${inOrder} LIMIT ${limit + 1}`,
		sql`SELECT l.at, l.id FROM (${looked}) l ORDER BY ${inOrder} LIMIT 1 OFFSET ${most - 1}`,
	]);
	const rows = (page?.results ?? []) as ClickRow[];
	const [lastLookedAt] = (last?.results ?? []) as Position[];
	const shown = rows.slice(0, limit);
	const end = shown.at(-1);
	const next = rows.length > limit && end !== undefined ? { at: end.clicked_at, id: end.id } : isFiltered(query) ? lastLookedAt : undefined;
	return {
		data: shown.map(showListed),
		limit,
		next_cursor: next === undefined ? null : OPERATOR_CURSOR.write(next),
	};
}

function showListed(row: ClickRow): ListedClick {
	const { country, keyword, ip_prefix, asked_from } = row;
	return { ...showClick(row), country, keyword, address_prefix: ip_prefix, asked_from };
}

/**
 * For its query plan, too: the next clicks behind the cursor. A publisher's are in two indexes, each of which has those that are not in the
 * other; all clicks, and those of one id whoever's, are in the order of their ids.
 */
export function lookAtClicks(query: ClicksQuery, most: number): SQL {
	const { id, publisher, reason, fromAt, toAt, after } = query;
	const isNext = isBehind(fromAt, toAt, after);
	const ordered = sql`${isNext} ORDER BY c.clicked_at DESC, c.id DESC LIMIT ${most}`;
	// In the order of ids alone: what else there is to hold would be looked for in all behind.
	const isOfIds = isOfIdsBehind(fromAt, toAt, after);
	if (id !== undefined) {
		return sql`SELECT c.clicked_at AS at, c.id FROM (${newestOfAnyId(id, most, isOfIds)}) k CROSS JOIN clicks c WHERE c.id = k.id`;
	}
	if (publisher === undefined) return sql`SELECT c.clicked_at AS at, c.id FROM clicks c WHERE ${isOfIds} ORDER BY c.id DESC LIMIT ${most}`;
	const of = (some: SQL) =>
		sql`SELECT s.at, s.id FROM (SELECT c.clicked_at AS at, c.id FROM clicks c WHERE c.publisher_id = ${publisher} AND ${some} AND ${ordered}) s`;
	const others = of(sql`(c.reason IS NOT NULL OR c.pricing_model = 'CPA')`);
	if (reason !== undefined && reason !== "paid") return others;
	return sql`${of(sql`c.reason IS NULL AND c.pricing_model = 'CPC'`)} UNION ALL ${others} ORDER BY 1 DESC, 2 DESC LIMIT ${most}`;
}

/** By ids alone, which are of the time of the click to the millisecond. */
function isOfIdsBehind(fromAt: number | null, toAt: number | null, after: Position | null): SQL {
	const conditions = [
		fromAt === null ? null : sql`id >= ${leastIdAt(fromAt)}`,
		toAt === null ? null : sql`id < ${leastIdAt(toAt)}`,
		after === null ? null : sql`id < ${after.id}`,
	].filter((condition) => condition !== null);
	return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
}

/** Ids are of the time of the click, by which tables are in parts: within an hour, whatever clocks said. */
function isBehind(fromAt: number | null, toAt: number | null, after: Position | null): SQL {
	const conditions = [
		fromAt === null ? null : sql`c.clicked_at >= ${fromAt} AND c.id >= ${leastIdAt(fromAt - HOUR_MS)}`,
		toAt === null ? null : sql`c.clicked_at < ${toAt} AND c.id < ${leastIdAt(toAt + HOUR_MS)}`,
		after === null ? null : sql`(c.clicked_at, c.id) < (${after.at}, ${after.id}) AND c.id < ${leastIdAt(after.at + HOUR_MS)}`,
	].filter((condition) => condition !== null);
	return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
}

function isWanted({ id, publisher, source, brand, campaign, platform, country, kind, reason }: ClicksQuery): SQL {
	const conditions = [
		// Those of an id are looked up whoever's they are.
		id === undefined || publisher === undefined ? null : sql`c.publisher_id = ${publisher}`,
		source === undefined ? null : sql`coalesce(c.source_id, '') = ${source}`,
		brand === undefined ? null : sql`b.domain = ${brand}`,
		campaign === undefined ? null : sql`c.campaign_id = ${campaign}`,
		platform === undefined ? null : sql`c.platform = ${platform}`,
		country === undefined ? null : isIn(country),
		kind === undefined ? null : sql`c.kind = ${kind}`,
		reason === undefined ? null : isOf(reason),
	].filter((condition) => condition !== null);
	return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
}

/** Earlier versions stored clicks in the United Kingdom as their links had it. */
function isIn(country: string): SQL {
	return sql`c.country IN (${country}, ${country === "GB" ? "UK" : country})`;
}

function isOf(reason: NonNullable<ClicksQuery["reason"]>): SQL {
	if (reason === "paid") return sql`c.reason IS NULL`;
	return reason === "unpaid" ? sql`c.reason IS NOT NULL` : sql`c.reason = ${reason}`;
}

/** Whether some of the clicks that are looked at may not be wanted. */
function isFiltered({ id, publisher, source, brand, campaign, platform, country, kind, reason }: ClicksQuery): boolean {
	const ofId = id === undefined ? undefined : publisher;
	return [ofId, source, brand, campaign, platform, country, kind, reason].some((filter) => filter !== undefined);
}
