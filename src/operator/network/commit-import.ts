/** The transactions that take over a staged import. Column lists come from the schema, so they cannot drift from it. */
import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Database, runTransaction } from "../../db/client.ts";
import { bookDirtySlots, bookState } from "../../db/schema/book.ts";
import { bookKeys, brandAliases, brands, campaigns } from "../../db/schema/brands.ts";
import { importRows } from "../../db/schema/imports.ts";
import { exchangeRates, platforms } from "../../db/schema/platforms.ts";
import { products, sellerProducts } from "../../db/schema/products.ts";
import { accessKeys, catalogueState, publisherNames, publishers } from "../../db/schema/publishers.ts";

/** Takes over products and seller products: one transaction. */
export async function commitProducts(db: Database, importId: string): Promise<void> {
	await runTransaction(db, [
		upsert(products, "products", importId, ["id"]),
		upsert(sellerProducts, "seller_products", importId, ["asin", "seller_id"]),
		sql`DELETE FROM ${importRows} WHERE import_id = ${importId}`,
	]);
}

/**
 * Takes over everything else: one transaction. A brand that is present has its campaigns, aliases and book keys replaced as a
 * whole, and every slot it was or is in is marked for publishing.
 */
export async function commitNetwork(db: Database, importId: string, now: number): Promise<void> {
	const mark = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
	const brandId = sql`(SELECT id FROM brands WHERE domain = json_extract(row, '$.domain'))`;
	const present = sql`SELECT b.id FROM import_rows r JOIN brands b ON b.domain = json_extract(r.row, '$.domain') WHERE r.import_id = ${importId} AND r.section = 'brands'`;
	const markSlots = sql`INSERT INTO ${bookDirtySlots} (slot, mark) SELECT DISTINCT slot, ${mark} FROM book_keys WHERE brand_id IN (${present}) ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`;
	await runTransaction(db, [
		markPlatformSlots(importId, mark),
		upsert(platforms, "platforms", importId, ["id"]),
		...replaceNames(importId, now),
		upsert(publishers, "publishers", importId, ["id"]),
		upsert(exchangeRates, "exchange_rates", importId, ["id"]),
		retireKeys(importId, now),
		upsert(accessKeys, "access_keys", importId, ["hash"], { only: [] }),
		markSlots,
		upsert(brands, "brands", importId, ["domain"], { without: ["id"] }),
		sql`DELETE FROM ${campaigns} WHERE brand_id IN (${present})`,
		sql`DELETE FROM ${brandAliases} WHERE brand_id IN (${present})`,
		sql`DELETE FROM ${bookKeys} WHERE brand_id IN (${present})`,
		upsert(campaigns, "campaigns", importId, ["campaign_id"], { values: { brand_id: brandId } }),
		upsert(brandAliases, "aliases", importId, ["alias"], { values: { brand_id: brandId } }),
		upsert(bookKeys, "book_keys", importId, ["slot", "key", "brand_id"], { values: { brand_id: brandId } }),
		markSlots,
		// Publishers' rows are part of what names a list's version; brands are covered by this number only. It follows the clock, so that
		// a database that was set back to an earlier day does not count through the same numbers again.
		sql`UPDATE ${catalogueState} SET version = MAX(version + 1, ${now}) WHERE EXISTS (${present})`,
		db.update(bookState).set({ manifestDirty: true }),
		sql`DELETE FROM ${importRows} WHERE import_id = ${importId}`,
	]);
}

/** A platform's number stands in the campaigns of the book: where it changes, so do their entries. */
function markPlatformSlots(importId: string, mark: number): SQL {
	return sql`INSERT INTO ${bookDirtySlots} (slot, mark)
		SELECT DISTINCT k.slot, ${mark} FROM import_rows r
		JOIN platforms p ON p.id = json_extract(r.row, '$.id')
		JOIN campaigns c ON c.platform = p.id
		JOIN book_keys k ON k.brand_id = c.brand_id
		WHERE r.import_id = ${importId} AND r.section = 'platforms' AND p.platform_id IS NOT json_extract(r.row, '$.platformId')
		ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`;
}

/**
 * Keys that an import brings replace the owner's keys of that kind, which end now; those that a rotation has given an end keep it.
 * Only keys that nobody knew yet are staged: a file that is imported again replaces nothing.
 */
function retireKeys(importId: string, now: number): SQL {
	const staged = sql`SELECT json_extract(row, '$.kind'), json_extract(row, '$.ownerId') FROM import_rows WHERE import_id = ${importId} AND section = 'access_keys'`;
	return sql`UPDATE ${accessKeys} SET expires_at = ${now} WHERE expires_at IS NULL AND (kind, owner_id) IN (${staged})`;
}

/** Keeps every publisher id and identity for good; one that the import replaces ends now. */
function replaceNames(importId: string, now: number): SQL[] {
	const kinds = [
		["publisher_id", "$.publisherId"],
		["publisher_identity", "$.publisherIdentity"],
	] as const;
	return kinds.flatMap(([kind, field]) => {
		const staged = sql`SELECT json_extract(row, ${field}), json_extract(row, '$.id') FROM import_rows WHERE import_id = ${importId} AND section = 'publishers'`;
		const owners = sql`SELECT json_extract(row, '$.id') FROM import_rows WHERE import_id = ${importId} AND section = 'publishers'`;
		return [
			sql`UPDATE ${publisherNames} SET expires_at = ${now}
				WHERE kind = ${kind} AND expires_at IS NULL AND publisher_id IN (${owners}) AND (value, publisher_id) NOT IN (${staged})`,
			sql`INSERT INTO ${publisherNames} (kind, value, publisher_id)
				SELECT ${kind}, json_extract(row, ${field}), json_extract(row, '$.id') FROM import_rows
				WHERE import_id = ${importId} AND section = 'publishers' ON CONFLICT DO NOTHING`,
		];
	});
}

type UpsertOptions = {
	/** Columns that the database fills. */
	without?: readonly string[];
	/** Where a row exists: update only these columns. */
	only?: readonly string[];
	/** Expressions for columns that do not stand in the staged row. */
	values?: Record<string, SQL>;
};

function upsert(table: SQLiteTable, section: string, importId: string, key: readonly string[], options: UpsertOptions = {}): SQL {
	const columns = Object.entries(getTableColumns(table))
		.map(([property, column]) => ({ property, name: column.name }))
		.filter(({ name }) => !options.without?.includes(name));
	const names = sql.raw(columns.map(({ name }) => name).join(", "));
	const values = sql.join(
		columns.map(({ property, name }) => options.values?.[name] ?? sql.raw(`json_extract(row, '$.${property}')`)),
		sql.raw(", "),
	);
	const updated = options.only ?? columns.map(({ name }) => name).filter((name) => !key.includes(name));
	const resolution = updated.length === 0 ? "NOTHING" : `UPDATE SET ${updated.map((name) => `${name} = excluded.${name}`).join(", ")}`;
	return sql`INSERT INTO ${sql.raw(getTableName(table))} (${names})
		SELECT ${values} FROM import_rows WHERE import_id = ${importId} AND section = ${section} ORDER BY seq
		ON CONFLICT (${sql.raw(key.join(", "))}) DO ${sql.raw(resolution)}`;
}
