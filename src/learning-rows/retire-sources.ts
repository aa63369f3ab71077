/**
 * Sources that were idle for a week make room where their publisher's places are all taken: their rows join the others'. First the places
 * are given up, so that whatever is written from then on stands with the others; then the rows follow, some campaigns at a time.
 */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { IDLE_DAYS, MAX_SOURCES } from "../learning/sources.ts";
import { addClickRows, addEarningRows } from "./add-rows.ts";

/** Sources that are moved at once: all rows are gone through for them, since an index by source would cost every click. */
const MAX_SOURCES_A_STEP = 2_000;
/** Rows of clicks that a slice of campaigns has; one that has more is a slice of its own. */
const ROWS_A_SLICE = 20_000;

/** A move that is under way. */
export type Retirement = {
	/** Sources by publisher. */
	sources: Record<string, string[]>;
	/** The last campaign whose rows were moved. */
	after: number;
};

/**
 * Takes their places from the sources that are idle, if there are any.
 * @param note written in the same transaction, so that none is lost that has given up its place
 */
export async function giveUpPlaces(db: Database, today: number, note: (retirement: Retirement) => SQL): Promise<Retirement | null> {
	const idle = await db.all<{ publisherId: string; source: string }>(sql`
		SELECT s.publisher_id AS "publisherId", s.source FROM learning_sources s
		WHERE s.from_day IS NOT NULL AND s.last_day < ${today - IDLE_DAYS} AND s.publisher_id IN (
			SELECT f.publisher_id FROM learning_sources f WHERE f.from_day IS NOT NULL
			GROUP BY f.publisher_id HAVING count(*) >= ${MAX_SOURCES} AND min(f.last_day) < ${today - IDLE_DAYS})
		ORDER BY s.publisher_id, s.source LIMIT ${MAX_SOURCES_A_STEP}`);
	if (idle.length === 0) return null;
	const byPublisher = Map.groupBy(idle, ({ publisherId }) => publisherId);
	const sources = Object.fromEntries([...byPublisher].map(([publisherId, rows]) => [publisherId, rows.map(({ source }) => source)]));
	const retirement = { sources, after: 0 };
	await runTransaction(db, [
		sql`INSERT INTO learning_sources (publisher_id, source, from_day, last_day)
			SELECT publisher_id, '*other', NULL, max(last_day) FROM learning_sources WHERE ${isOf(sources)} GROUP BY publisher_id
			ON CONFLICT (publisher_id, source) DO UPDATE
				SET last_day = CASE WHEN learning_sources.last_day < excluded.last_day THEN excluded.last_day ELSE learning_sources.last_day END`,
		sql`DELETE FROM learning_sources WHERE ${isOf(sources)}`,
		note(retirement),
	]);
	return retirement;
}

/**
 * Moves the rows of the next campaigns. What has a place again by now keeps its rows from there on.
 * @param rows of clicks that a slice has @returns what is left; null where all are moved
 */
export async function moveNextRows(db: Database, { sources, after }: Retirement, rows = ROWS_A_SLICE): Promise<Retirement | null> {
	const [next] = await db.all<{ last: number }>(sql`SELECT campaign_id AS last FROM learning_clicks
		WHERE campaign_id > ${after} ORDER BY campaign_id LIMIT 1 OFFSET ${rows}`);
	const isMoved = (
		table: SQL,
	) => sql`campaign_id > ${after} AND campaign_id <= ${next?.last ?? Number.MAX_SAFE_INTEGER} AND ${isOf(sources)}
		AND NOT EXISTS (SELECT 1 FROM learning_sources s
			WHERE s.publisher_id = ${table}.publisher_id AND s.source = ${table}.source AND s.from_day <= ${table}.day)`;
	const [clicks, earnings] = [sql`learning_clicks`, sql`learning_earnings`];
	await runTransaction(db, [
		addClickRows(sql`SELECT campaign_id, publisher_id, '*other', keyword, link, day, sum(clicks), sum(gross_micros), sum(paid_micros)
			FROM ${clicks} WHERE ${isMoved(clicks)} GROUP BY campaign_id, publisher_id, keyword, link, day`),
		sql`DELETE FROM ${clicks} WHERE ${isMoved(clicks)}`,
		addEarningRows(sql`SELECT campaign_id, publisher_id, '*other', keyword, link, day, size_class, sum(conversions), sum(net_micros)
			FROM ${earnings} WHERE ${isMoved(earnings)} GROUP BY campaign_id, publisher_id, keyword, link, day, size_class`),
		sql`DELETE FROM ${earnings} WHERE ${isMoved(earnings)}`,
	]);
	return next === undefined ? null : { sources, after: next.last };
}

function isOf(sources: Retirement["sources"]): SQL {
	const pairs = Object.entries(sources).flatMap(([publisherId, names]) => names.map((source) => ({ publisherId, source })));
	return sql`(publisher_id, source) IN (SELECT value ->> 'publisherId', value ->> 'source' FROM json_each(${JSON.stringify(pairs)}))`;
}
