/** Writes a feed's products to the products database, and removes those that it no longer has. */
import { type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Database, runTransaction } from "../../db/client.ts";
import { cellsAsColumns, columnNames, namedCells, propertiesOf, replaceColumns, rowOf, tableName, writeCells } from "../../db/json-rows.ts";
import { products, sellerProducts } from "../../db/schema/products.ts";
import { splitByBytes } from "../../lib/split-by-bytes.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { FeedKind } from "./feed-columns.ts";
import type { ReplaceScope } from "./feed-options.ts";

const TABLES = {
	products: { table: products, key: ["id"] },
	seller_products: { table: sellerProducts, key: ["asin", "sellerId"] },
} as const;

/** Rows removed by one statement, so that none takes long. */
const MAX_REMOVED = 2_000;

type FeedRow = typeof products.$inferInsert | typeof sellerProducts.$inferInsert;

/** The upsert of rows by natural key. Tells how many took the place of rows of other domains, by those. */
export type FeedWriter = (rows: readonly FeedRow[]) => Promise<OtherDomain[]>;
type OtherDomain = { domain: string; products: number };

/**
 * Writes rows with the feed's id and the time. Where the feed's id does not matter later, a row that is the same already is not written again.
 * @param feedId null where nothing will be removed
 * @param isDryRun nothing is written
 */
export function feedWriter(
	{ products: db, now }: { products: Database; now: () => number },
	kind: FeedKind,
	feedId: string | null,
	isDryRun: boolean,
): FeedWriter {
	const { table, key }: { table: SQLiteTable; key: readonly string[] } = TABLES[kind];
	const properties = propertiesOf(table).filter((property) => property !== "feedId" && property !== "fedAt");
	const replaced = properties.filter((property) => !key.includes(property));
	const stored = tableName(table);
	const isOther = sql`WHERE ${rowOf(table, replaced, stored)} IS DISTINCT FROM ${rowOf(table, replaced, sql`excluded`)}`;
	const insert = sql`INSERT INTO ${stored} (${columnNames(table, properties)}, feed_id, fed_at) SELECT ${cellsAsColumns(table, properties, sql`value`)}`;
	const resolve = sql`ON CONFLICT (${columnNames(table, key)}) DO UPDATE
		SET ${replaceColumns(table, replaced)}, feed_id = excluded.feed_id, fed_at = excluded.fed_at ${feedId === null ? isOther : sql``}`;
	const told = [...key, "domain"];
	const { domain, ...keyCells } = namedCells(told, sql`v.value`);
	const isSame = sql`${rowOf(table, key, sql`s`)} = (${sql.join(Object.values(keyCells), sql`, `)})`;
	const writePart = async (rows: readonly Record<string, unknown>[]) => {
		const others = sql`SELECT s.domain, count(*) AS products FROM json_each(${writeCells(told, rows)}) v
			JOIN ${stored} s ON ${isSame} WHERE s.domain <> ${domain} GROUP BY s.domain`;
		const write = sql`${insert}, ${feedId}, CAST(${now()} AS BIGINT) FROM json_each(${writeCells(properties, rows)}) WHERE true ${resolve}`;
		const [counted] = await runTransaction(db, isDryRun ? [others] : [others, write]);
		return (counted?.results ?? []) as OtherDomain[];
	};
	return async (rows) => {
		const found: OtherDomain[] = [];
		// A thousand descriptions are more than D1 takes in one value.
		for (const part of splitByBytes<Record<string, unknown>>(rows)) found.push(...(await writePart(part)));
		return found;
	};
}

/** How long it is known when a feed began. */
const FEEDS_KEPT_MS = 30 * DAY_MS;

/** When a feed began: now, where this is its first part. */
export async function beginFeed(db: Database, feed: string, now: number): Promise<number> {
	const [, , begun] = await runTransaction(db, [
		sql`DELETE FROM feeds WHERE began_at < ${now - FEEDS_KEPT_MS}`,
		sql`INSERT INTO feeds (id, began_at) VALUES (${feed}, ${now}) ON CONFLICT (id) DO NOTHING`,
		sql`SELECT began_at AS "beganAt" FROM feeds WHERE id = ${feed}`,
	]);
	return ((begun?.results ?? []) as { beganAt: number }[])[0]?.beganAt ?? now;
}

/** A feed whose products are all in. Scope `domains`: it has all of the brands in it; `all`: of every brand. */
export type WholeFeed = { id: string; beganAt: number; scope: ReplaceScope };

/** How many products may go that are more than those of the feed without a question: of one brand, and of all. */
const UNASKED = 100;

/**
 * Removes the products that are not of this feed; what another feed has written since this one began stays, as it may have been this one's
 * before.
 * @param isConfirmed whether most products may go: a feed that broke off reads like one that shrank
 * @returns how many; or why nothing is removed
 */
export async function removeOthers(db: Database, kind: FeedKind, feed: WholeFeed, isConfirmed: boolean): Promise<number | string> {
	const table = tableName(TABLES[kind].table);
	const counts = await countByDomain(db, table, feed);
	const own = sumOf(counts, "own");
	if (own === 0) return "the feed has no product";
	const replaced = counts.filter((count) => feed.scope === "all" || count.own > 0);
	const others = sumOf(replaced, "others");
	const question = isConfirmed ? null : askOf(replaced, own, others);
	if (question !== null) return `${question}. If that is meant, confirm it by yes=1 (--yes)`;
	if (others === 0) return 0;
	const domains = replaced.map(({ domain }) => domain);
	const going = sql`${isOther(feed)} ${feed.scope === "all" ? sql`` : sql`AND domain IN (SELECT atom FROM json_each(${JSON.stringify(domains)}))`}`;
	let removed = 0;
	let last = 0;
	for (;;) {
		// By rowid: by the index of domains, each statement would read all that is behind it, and sort it.
		const ids = await listIds(
			db,
			sql`SELECT rowid AS id FROM ${table} NOT INDEXED WHERE rowid > ${last} AND ${going}
			ORDER BY rowid LIMIT ${MAX_REMOVED}`,
		);
		// Asked again: another feed may have written some of them since.
		const isListed = sql`rowid IN (SELECT atom FROM json_each(${JSON.stringify(ids)}))`;
		if (ids.length > 0)
			removed += (await listIds(db, sql`DELETE FROM ${table} WHERE ${isListed} AND ${isOther(feed)} RETURNING rowid AS id`)).length;
		last = ids.at(-1) ?? last;
		if (ids.length < MAX_REMOVED) return removed;
	}
}

/** The question that has to be answered first, if any: a brand of which a feed has one stray product is no brand that shrank. */
function askOf(counts: readonly DomainCount[], own: number, others: number): string | null {
	const isMuch = (going: number, kept: number) => going > Math.max(kept, UNASKED);
	if (isMuch(others, own)) return `${others} products would go, and the feed has ${own}`;
	const brand = counts.find((count) => count.own > 0 && isMuch(count.others, count.own));
	return brand === undefined ? null : `${brand.others} products of ${brand.domain} would go, and the feed has ${brand.own} of it`;
}

function isOther({ id, beganAt }: WholeFeed): SQL {
	return sql`(feed_id IS DISTINCT FROM ${id} AND coalesce(fed_at, 0) <= ${beganAt})`;
}

/** How many products of a brand are this feed's, and how many are not and were there before it. */
type DomainCount = { domain: string; own: number; others: number };

async function countByDomain(db: Database, table: SQL, feed: WholeFeed): Promise<DomainCount[]> {
	return db.all<DomainCount>(
		sql`SELECT domain, count(*) FILTER (WHERE feed_id = ${feed.id}) AS own, count(*) FILTER (WHERE ${isOther(feed)}) AS others
			FROM ${table} GROUP BY domain`,
	);
}

function sumOf(counts: readonly DomainCount[], name: "own" | "others"): number {
	return counts.reduce((sum, count) => sum + count[name], 0);
}

async function listIds(db: Database, statement: SQL): Promise<number[]> {
	return (await db.all<{ id: number }>(statement)).map(({ id }) => id);
}
