/** The transactions that take over a staged import. Column lists come from the schema, so they cannot drift from it. */
import { eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Database, runLongTransaction, runTransaction } from "../../db/client.ts";
import { columnNames, propertiesOf, readMembers, replaceColumns, tableName } from "../../db/json-rows.ts";
import { bookState, MANIFEST_CHANGED } from "../../db/schema/book.ts";
import { bookKeys, brandAliases, brands, campaigns } from "../../db/schema/brands.ts";
import { importRows } from "../../db/schema/imports.ts";
import { exchangeRates, platforms } from "../../db/schema/platforms.ts";
import { products, sellerProducts } from "../../db/schema/products.ts";
import { accessKeys, publishers } from "../../db/schema/publishers.ts";
import { networkSettings } from "../../db/schema/settings.ts";
import { RELEASED_CAMPAIGN, RELEASED_NETWORK, RELEASED_PUBLISHER } from "../../learning/released.ts";
import { type Stamp, stampVersion } from "./network-version.ts";
import { beginChanges, noteBrandChanges } from "./note-changes.ts";
import { replaceStops } from "./stage-stops.ts";

/** Takes over products and seller products: one transaction. */
export async function commitProducts(db: Database, importId: string): Promise<void> {
	await runTransaction(db, [
		upsert(products, "products", importId, ["id"]),
		upsert(sellerProducts, "seller_products", importId, ["asin", "sellerId"]),
		db.delete(importRows).where(eq(importRows.importId, importId)),
	]);
}

/**
 * Takes over everything else: one transaction. A brand that is staged has its campaigns, aliases and book keys replaced as a
 * whole, and every slot it was or is in is marked for publishing.
 * @param audited the statements of the audit
 * @throws what {@link isConstraintError} knows where the network is at another version than the stamp expects
 */
export async function commitNetwork(db: Database, stamp: Stamp, audited: readonly SQL[]): Promise<void> {
	const { id: importId, at: now } = stamp;
	const mark = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
	const brandId = sql`(SELECT id FROM brands WHERE domain = row ->> 'domain')`;
	const present = sql`SELECT b.id FROM import_rows r JOIN brands b ON b.domain = r.row ->> 'domain' WHERE r.import_id = ${importId} AND r.section = 'brands'`;
	const markSlots = sql`INSERT INTO book_dirty_slots (slot, mark)
		SELECT DISTINCT slot, CAST(${mark} AS BIGINT) FROM book_keys WHERE brand_id IN (${present})
		ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`;
	await runLongTransaction(db, [
		stampVersion(stamp),
		...audited,
		sql`INSERT INTO network_changes (version, seq, entries)
			SELECT CAST(${stamp.version} AS BIGINT), seq, row ->> 'entries' FROM import_rows WHERE import_id = ${importId} AND section = 'changes'`,
		markPlatformSlots(importId, mark),
		markLearningSlots(importId, mark),
		...noteReleases(importId, now),
		upsert(platforms, "platforms", importId, ["id"]),
		upsert(networkSettings, "network_settings", importId, ["id"]),
		...replaceNames(importId, now),
		...beginChanges(importId, present, now),
		upsert(publishers, "publishers", importId, ["id"]),
		upsert(exchangeRates, "exchange_rates", importId, ["id"]),
		retireKeys(importId, now),
		upsert(accessKeys, "access_keys", importId, ["hash"], { keep: true }),
		markSlots,
		upsert(brands, "brands", importId, ["domain"], { without: "id" }),
		noteBrandChanges(importId),
		noteChangedClocks(importId, present, now),
		markBlockedSlots(importId, mark),
		...replaceStops(importId, present, now),
		// What the click consumer is deciding now is decided again: what has stopped speaks against it.
		sql`UPDATE click_sequence SET version = version + 1 WHERE id = 1`,
		beginTotals(importId),
		sql`DELETE FROM campaigns WHERE brand_id IN (${present})`,
		sql`DELETE FROM brand_aliases WHERE brand_id IN (${present})`,
		sql`DELETE FROM book_keys WHERE brand_id IN (${present})`,
		upsert(campaigns, "campaigns", importId, ["campaignId"], { values: { brandId } }),
		upsert(brandAliases, "aliases", importId, ["alias"], { values: { brandId } }),
		upsert(bookKeys, "book_keys", importId, ["slot", "key", "brandId"], { values: { brandId } }),
		markSlots,
		// Publishers' rows are part of what names a list's version; brands are covered by this number only. It follows the clock, so that
		// a database that was set back to an earlier day does not count through the same numbers again.
		sql`UPDATE catalogue_state SET version = CASE WHEN version < ${now} THEN ${now} ELSE version + 1 END WHERE EXISTS (${present})`,
		db.update(bookState).set({ manifestDirty: MANIFEST_CHANGED }),
		db.delete(importRows).where(eq(importRows.importId, importId)),
	]);
}

/** Which campaigns get another time zone, or are no more: sums by their own days cannot be told from their clicks of before. */
function noteChangedClocks(importId: string, present: SQL, now: number): SQL {
	return sql`INSERT INTO campaign_clocks (campaign_id, changed_at)
		SELECT campaign_id, CAST(${now} AS BIGINT) FROM (
			SELECT c.campaign_id, c.timezone FROM campaigns c WHERE c.brand_id IN (${present})
			EXCEPT SELECT CAST(r.row ->> 'campaignId' AS BIGINT), r.row ->> 'timezone' FROM import_rows r
			WHERE r.import_id = ${importId} AND r.section = 'campaigns') changed
		WHERE true ON CONFLICT (campaign_id) DO UPDATE SET changed_at = excluded.changed_at`;
}

/** Of campaigns that get a total budget, what they have spent on all their days. Clicks are added to it from now on. */
function beginTotals(importId: string): SQL {
	return sql`INSERT INTO campaign_totals (campaign_id, click_count, spend_micros, gross_micros)
		SELECT b.campaign_id, coalesce(sum(d.click_count), 0), coalesce(sum(d.spend_micros), 0), coalesce(sum(d.gross_micros), 0)
		FROM (SELECT CAST(r.row ->> 'campaignId' AS BIGINT) AS campaign_id FROM import_rows r
			WHERE r.import_id = ${importId} AND r.section = 'campaigns' AND r.row ->> 'totalBudgetMicros' IS NOT NULL) b
		LEFT JOIN campaigns c ON c.campaign_id = b.campaign_id
		LEFT JOIN campaign_days d ON d.campaign_id = b.campaign_id
		WHERE c.total_budget_micros IS NULL OR NOT EXISTS (SELECT 1 FROM campaign_totals t WHERE t.campaign_id = b.campaign_id)
		GROUP BY b.campaign_id
		ON CONFLICT (campaign_id) DO UPDATE SET click_count = excluded.click_count, spend_micros = excluded.spend_micros,
			gross_micros = excluded.gross_micros`;
}

/** Learned prices are baked into the book: where the network changes what is done with them, or for whom, so do all entries. */
function markLearningSlots(importId: string, mark: number): SQL {
	return sql`INSERT INTO book_dirty_slots (slot, mark)
		SELECT DISTINCT k.slot, CAST(${mark} AS BIGINT) FROM (
			SELECT 1 FROM import_rows r LEFT JOIN network_settings n ON n.id = 1
			WHERE r.import_id = ${importId} AND r.section = 'network_settings' AND r.row ->> 'epcLearning' IS DISTINCT FROM n.epc_learning
			UNION SELECT 1 FROM import_rows r LEFT JOIN publishers p ON p.id = r.row ->> 'id'
			WHERE r.import_id = ${importId} AND r.section = 'publishers' AND r.row ->> 'epcLearning' IS DISTINCT FROM p.epc_learning) changed
		CROSS JOIN book_keys k WHERE true
		ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`;
}

/**
 * What is no longer bid by the operator's numbers: campaigns, publishers, and, where others were bid learned prices before or no hour has
 * let go of those that were in force, the network's campaigns. Runs before any of them is replaced.
 */
function noteReleases(importId: string, now: number): SQL[] {
	const staged = sql`row ->> 'epcLearning'`;
	const ofNetwork = sql`(SELECT epc_learning ->> 'mode' FROM network_settings WHERE id = 1)`;
	const isAutomatic = (own: SQL) => sql`(coalesce((${own}) ->> 'mode', ${ofNetwork}, 'off') = 'automatic' AND (${own}) ->> 'pin' IS NULL)`;
	const restrains = (own: SQL) => sql`coalesce((${own}) ->> 'mode', 'automatic') <> 'automatic'`;
	const upsertOf = (name: SQL, from: SQL) => sql`INSERT INTO learning_work (name, value) SELECT ${name}, ${String(now)} ${from}
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
	const before = sql`c.epc_learning`;
	return [
		upsertOf(
			sql`${RELEASED_CAMPAIGN} || CAST(c.campaign_id AS TEXT)`,
			sql`FROM import_rows r JOIN campaigns c ON c.campaign_id = CAST(r.row ->> 'campaignId' AS BIGINT)
				WHERE r.import_id = ${importId} AND r.section = 'campaigns' AND ${staged} IS DISTINCT FROM ${before}
					AND NOT ${isAutomatic(before)} AND ${isAutomatic(staged)}`,
		),
		upsertOf(
			sql`${RELEASED_PUBLISHER} || p.id`,
			sql`FROM import_rows r JOIN publishers p ON p.id = r.row ->> 'id'
				WHERE r.import_id = ${importId} AND r.section = 'publishers' AND ${restrains(sql`p.epc_learning`)} AND NOT ${restrains(staged)}`,
		),
		upsertOf(
			sql`${RELEASED_NETWORK}`,
			sql`FROM import_rows r WHERE r.import_id = ${importId} AND r.section = 'network_settings'
				AND (${staged}) ->> 'mode' = 'automatic' AND coalesce(${ofNetwork}, 'off') <> 'automatic'
				AND (EXISTS (SELECT 1 FROM campaigns c WHERE c.epc_learning IS NOT NULL AND c.epc_learning ->> 'mode' = 'automatic')
					OR EXISTS (SELECT 1 FROM learning_factors f WHERE CAST(f.published ->> 'factor' AS DOUBLE PRECISION) <> 1))`,
		),
	];
}

/** A platform's number stands in the campaigns of the book: where it changes, so do their entries. CROSS JOIN: only then are they read. */
function markPlatformSlots(importId: string, mark: number): SQL {
	return sql`INSERT INTO book_dirty_slots (slot, mark)
		SELECT DISTINCT k.slot, CAST(${mark} AS BIGINT) FROM import_rows r
		CROSS JOIN platforms p CROSS JOIN campaigns c CROSS JOIN book_keys k
		WHERE r.import_id = ${importId} AND r.section = 'platforms' AND p.id = r.row ->> 'id'
			AND p.platform_id IS DISTINCT FROM CAST(r.row ->> 'platformId' AS BIGINT) AND c.platform = p.id AND k.brand_id = c.brand_id
		ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`;
}

/** Who may not promote a brand stands with it in a packed book: where that changes, so do its entries. Runs before stops are replaced. */
function markBlockedSlots(importId: string, mark: number): SQL {
	const staged = sql`SELECT row ->> 'subject' AS subject, row ->> 'domain' AS domain, row ->> 'country' AS country
		FROM import_rows WHERE import_id = ${importId} AND section = 'stops' AND row ->> 'reason' = 'blocked' AND row ->> 'domain' <> ''`;
	const stored = sql`SELECT s.subject, s.domain, s.country FROM stops s WHERE s.reason = 'blocked' AND s.domain <> '' AND s.subject IN (
		SELECT 'publisher ' || (row ->> 'id') FROM import_rows WHERE import_id = ${importId} AND section = 'publishers')`;
	return sql`INSERT INTO book_dirty_slots (slot, mark)
		SELECT DISTINCT k.slot, CAST(${mark} AS BIGINT) FROM (
			SELECT domain FROM (${staged} EXCEPT ${stored}) begun UNION SELECT domain FROM (${stored} EXCEPT ${staged}) ended) changed
		JOIN brands b ON b.domain = changed.domain JOIN book_keys k ON k.brand_id = b.id WHERE true
		ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`;
}

/**
 * Keys that an import brings replace the owner's keys of that kind, which end now; those that a rotation has given an end keep it.
 * Only keys that nobody knew yet are staged: a file that is imported again replaces nothing.
 */
function retireKeys(importId: string, now: number): SQL {
	const staged = sql`SELECT row ->> 'kind', row ->> 'ownerId' FROM import_rows WHERE import_id = ${importId} AND section = 'access_keys'`;
	return sql`UPDATE access_keys SET expires_at = ${now} WHERE expires_at IS NULL AND (kind, owner_id) IN (${staged})`;
}

/**
 * Keeps every publisher id and identity for good; one that the import replaces ends now. `kind || ''`: SQLite looks at the names of these
 * publishers, not at all of the kind.
 */
function replaceNames(importId: string, now: number): SQL[] {
	const kinds = [
		["publisher_id", sql`row ->> 'publisherId'`],
		["publisher_identity", sql`row ->> 'publisherIdentity'`],
	] as const;
	return kinds.flatMap(([kind, value]) => {
		const staged = sql`SELECT ${value}, row ->> 'id' FROM import_rows WHERE import_id = ${importId} AND section = 'publishers'`;
		const owners = sql`SELECT row ->> 'id' FROM import_rows WHERE import_id = ${importId} AND section = 'publishers'`;
		return [
			sql`UPDATE publisher_names SET expires_at = ${now}
				WHERE kind = ${kind} AND expires_at IS NULL AND (value, publisher_id) IN (SELECT value, publisher_id FROM (
					SELECT n.value, n.publisher_id FROM publisher_names n WHERE n.kind || '' = ${kind} AND n.publisher_id IN (${owners})
					EXCEPT ${staged}) gone)`,
			sql`INSERT INTO publisher_names (kind, value, publisher_id)
				SELECT ${kind}, ${value}, row ->> 'id' FROM import_rows
				WHERE import_id = ${importId} AND section = 'publishers' ON CONFLICT DO NOTHING`,
		];
	});
}

type UpsertOptions = {
	/** A column that the database fills. */
	without?: string;
	/** True where a row that exists stays as it is. */
	keep?: boolean;
	/** Expressions for columns that do not stand in the staged row. */
	values?: Record<string, SQL>;
};

/** @param key the columns of a unique key, as the schema calls them */
function upsert(table: SQLiteTable, section: string, importId: string, key: readonly string[], options: UpsertOptions = {}): SQL {
	const properties = propertiesOf(table).filter((property) => property !== options.without);
	const replaced = options.keep ? [] : properties.filter((property) => !key.includes(property));
	const resolution = replaced.length === 0 ? sql`NOTHING` : sql`UPDATE SET ${replaceColumns(table, replaced)}`;
	return sql`INSERT INTO ${tableName(table)} (${columnNames(table, properties)})
		SELECT ${readMembers(table, properties, sql`row`, options.values)} FROM import_rows
		WHERE import_id = ${importId} AND section = ${section} ORDER BY seq
		ON CONFLICT (${columnNames(table, key)}) DO ${resolution}`;
}
