/** Writes a feed's products to the products database, and removes those that it no longer has. */
import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { products, sellerProducts } from "../../db/schema/products.ts";
import type { FeedKind } from "./feed-columns.ts";
import type { ReplaceScope } from "./feed-options.ts";

const TABLES = {
	products: { table: products, key: ["id"] },
	seller_products: { table: sellerProducts, key: ["asin", "seller_id"] },
} as const;

/** Rows removed by one statement, so that none takes long. */
const MAX_REMOVED = 2_000;

type FeedRow = typeof products.$inferInsert | typeof sellerProducts.$inferInsert;

/** The upsert of rows by natural key. */
export type FeedWriter = (rows: readonly FeedRow[]) => Promise<void>;

/**
 * Writes rows with the feed's id. Where the feed's id does not matter later, a row that is the same already is not written again.
 * @param feedId null where nothing will be removed
 */
export function feedWriter(db: Database, kind: FeedKind, feedId: string | null): FeedWriter {
	const { table, key } = TABLES[kind];
	const columns = Object.entries(getTableColumns(table)).filter(([property]) => property !== "feedId");
	const properties = columns.map(([property]) => property);
	const names = columns.map(([, column]) => column.name);
	const updated = names.filter((name) => !(key as readonly string[]).includes(name));
	const listOf = (prefix: string) => updated.map((name) => `${prefix}.${name}`).join(", ");
	const tableName = getTableName(table);
	const insert = sql.raw(`INSERT INTO ${tableName} (${names.join(", ")}, feed_id)
		SELECT ${names.map((_, at) => `value ->> ${at}`).join(", ")}, `);
	const resolve = sql.raw(`WHERE true ON CONFLICT (${key.join(", ")}) DO UPDATE
		SET ${updated.map((name) => `${name} = excluded.${name}`).join(", ")}, feed_id = excluded.feed_id
		${feedId === null ? `WHERE (${listOf(tableName)}) IS NOT (${listOf("excluded")})` : ""}`);
	return async (rows) => {
		const values = rows.map((row) => {
			const cells: Record<string, unknown> = row;
			return properties.map((property) => cells[property] ?? null);
		});
		await db.run(sql`${insert}${feedId} FROM json_each(${JSON.stringify(values)}) ${resolve}`);
	};
}

/**
 * Removes the products that are not of this feed.
 * @param scope `domains`: of the brands that the feed has products of; `all`: of every brand
 * @returns how many; null, and nothing is removed, where there is no product of this feed
 */
export async function removeOthers(db: Database, kind: FeedKind, feedId: string, scope: ReplaceScope): Promise<number | null> {
	const table = sql.raw(getTableName(TABLES[kind].table));
	const domains = await domainsOf(db, table, feedId);
	if (domains.length === 0) return null;
	const scoped = scope === "all" ? sql`` : sql`AND domain IN (SELECT value FROM json_each(${JSON.stringify(domains)}))`;
	let removed = 0;
	let last = 0;
	for (;;) {
		const rows = await db.all<{ id: number }>(
			sql`SELECT rowid AS id FROM ${table} WHERE rowid > ${last} AND feed_id IS NOT ${feedId} ${scoped} ORDER BY rowid LIMIT ${MAX_REMOVED}`,
		);
		const ids = rows.map(({ id }) => id);
		if (ids.length > 0) await db.run(sql`DELETE FROM ${table} WHERE rowid IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`);
		removed += ids.length;
		last = ids.at(-1) ?? last;
		if (ids.length < MAX_REMOVED) return removed;
	}
}

async function domainsOf(db: Database, table: SQL, feedId: string): Promise<string[]> {
	const rows = await db.all<{ domain: string }>(sql`SELECT DISTINCT domain FROM ${table} WHERE feed_id = ${feedId}`);
	return rows.map(({ domain }) => domain);
}
