/** Stored platforms, publishers, brands and campaigns as entries of the network file: one, or a page of them. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { containsText } from "../../db/contains-text.ts";
import { allColumns } from "../../db/json-rows.ts";
import { brands, campaigns } from "../../db/schema/brands.ts";
import { platforms } from "../../db/schema/platforms.ts";
import { publishers } from "../../db/schema/publishers.ts";
import { cutPage, writeCursor } from "../../http/pages.ts";
import { toBase64Url } from "../../lib/base64-url.ts";
import { sha256 } from "../../lib/bytes.ts";
import { canonicalHost } from "../../lib/host.ts";
import type { EntryPage, EntrySection } from "./entry-answers.ts";
import type { ListQuery } from "./entry-requests.ts";
import {
	exportBrand,
	exportCampaign,
	exportPlatform,
	exportPublisher,
	type FileEntry,
	type Stored,
	withoutSecrets,
} from "./export-entry.ts";
import type { StoredCampaign } from "./stored-entries.ts";

/** Rows that a page with filters looks at: where they find few, a page may be short, or empty, and names the next one. */
const MAX_LOOKED_AT = 10_000;

/** An entry with all that is stored of it, and what tells its state from any other. */
export type FoundEntry = { entry: FileEntry; etag: string };

/** Null where there is none. @param id a brand's domain, as an import would read it; a campaign's number, as text */
export async function findEntry(db: Database, section: EntrySection, id: string): Promise<FoundEntry | null> {
	if (section === "campaigns" && !/^\d{1,15}$/.test(id)) return null;
	const key = section === "campaigns" ? Number(id) : section === "brands" ? canonicalHost(id) : id;
	if (key === null) return null;
	const [row] = await db.all<never>(sql`SELECT * FROM (${KINDS[section].rows(sql`${KINDS[section].key} = ${key}`)}) x`);
	if (row === undefined) return null;
	const [entry] = await KINDS[section].export(db, [row]);
	if (entry === undefined) return null;
	return { entry: withoutSecrets(entry), etag: `"${toBase64Url(await sha256(JSON.stringify(entry))).slice(0, 27)}"` };
}

/** A page in the order of ids, numbers in that of numbers. */
export async function listEntries(db: Database, section: EntrySection, query: ListQuery): Promise<EntryPage> {
	const { rows, key, keyOf, export: exportRows } = KINDS[section];
	const { limit, cursor } = query;
	const conditions = conditionsOf(query);
	const most = conditions.length === 0 ? limit + 1 : MAX_LOOKED_AT;
	const behind = cursor === null ? sql`true` : sql`${key} > ${cursor[0]}`;
	const ofBrand = query.brand === undefined ? sql`true` : sql`c.brand_id = (SELECT o.id FROM brands o WHERE o.domain = ${query.brand})`;
	const window = sql`${rows(sql`${behind} AND ${section === "campaigns" ? ofBrand : sql`true`}`)} ORDER BY ${key} LIMIT ${most}`;
	const found = await db.all<never>(
		sql`SELECT * FROM (${window}) x WHERE ${sql.join([sql`true`, ...conditions], sql` AND `)} ORDER BY ${KEYS[section]} LIMIT ${limit + 1}`,
	);
	const { shown, next } = cutPage(found, limit, (row) => [keyOf(row)]);
	const data = (await exportRows(db, shown)).map(withoutSecrets);
	if (next !== null || conditions.length === 0) return { data, limit, next_cursor: next };
	const [end] = await db.all<{ n: number; last: string | number | null }>(
		sql`SELECT COUNT(*) AS n, MAX(${KEYS[section]}) AS last FROM (${window}) x`,
	);
	const hasMore = end !== undefined && end.n === MAX_LOOKED_AT && end.last !== null;
	return { data, limit, next_cursor: hasMore ? writeCursor([end.last ?? ""]) : null };
}

function conditionsOf({ active, status, platform, country, category, blocks, text }: ListQuery): SQL[] {
	return [
		active === undefined ? null : sql`x.active = ${Number(active)}`,
		status === undefined ? null : sql`x.status = ${status}`,
		platform === undefined ? null : sql`x.platform = ${platform}`,
		country === undefined ? null : sql`x.country = ${country}`,
		category === undefined ? null : sql`x.category = ${category}`,
		blocks === undefined ? null : sql`EXISTS (SELECT 1 FROM json_each(x."blockedBrands") b WHERE b.value ->> 'domain' = ${blocks})`,
		text === undefined ? null : containsText(sql`x.name`, text),
	].filter((condition) => condition !== null);
}

type Kind = {
	/** The rows for which a condition holds, in the database's own names and in the schema's. */
	rows: (condition: SQL) => SQL;
	/** The column that they are ordered by. */
	key: SQL;
	keyOf: (row: never) => string | number;
	export: (db: Database, rows: readonly never[]) => Promise<FileEntry[]>;
};

/** The same column in a selection of the rows. */
const KEYS: Readonly<Record<EntrySection, SQL>> = {
	platforms: sql`x.id`,
	publishers: sql`x.id`,
	brands: sql`x.domain`,
	campaigns: sql`x.campaign_id`,
};

const KINDS: Readonly<Record<EntrySection, Kind>> = {
	platforms: {
		rows: (condition) => sql`SELECT ${allColumns(platforms, "p")} FROM platforms p WHERE ${condition}`,
		key: sql`p.id`,
		keyOf: ({ id }: Stored<typeof platforms>) => id,
		export: async (_, rows: readonly Stored<typeof platforms>[]) => rows.map(exportPlatform),
	},
	publishers: {
		rows: (condition) => sql`SELECT ${allColumns(publishers, "p")} FROM publishers p WHERE ${condition}`,
		key: sql`p.id`,
		keyOf: ({ id }: Stored<typeof publishers>) => id,
		export: async (_, rows: readonly Stored<typeof publishers>[]) => rows.map(exportPublisher),
	},
	brands: {
		rows: (condition) => sql`SELECT ${allColumns(brands, "b")} FROM brands b WHERE ${condition}`,
		key: sql`b.domain`,
		keyOf: ({ domain }: Stored<typeof brands>) => domain,
		export: exportBrands,
	},
	campaigns: {
		rows: (condition) =>
			sql`SELECT c.campaign_id, b.domain, ${allColumns(campaigns, "c")} FROM campaigns c JOIN brands b ON b.id = c.brand_id WHERE ${condition}`,
		key: sql`c.campaign_id`,
		keyOf: ({ campaignId }: StoredCampaign) => campaignId,
		export: async (_, rows: readonly StoredCampaign[]) => rows.map((row) => ({ brand: row.domain, ...exportCampaign(row) })),
	},
};

/** Brands with their campaigns. */
export async function exportBrands(db: Database, rows: readonly Stored<typeof brands>[]): Promise<FileEntry[]> {
	const ids = JSON.stringify(rows.map(({ id }) => id));
	const found = await db.all<Stored<typeof campaigns>>(sql`SELECT ${allColumns(campaigns, "c")} FROM campaigns c
		WHERE c.brand_id IN (SELECT CAST(atom AS BIGINT) FROM json_each(${ids})) ORDER BY c.campaign_id`);
	const byBrand = Map.groupBy(found, ({ brandId }) => brandId);
	return rows.map((row) => ({ ...exportBrand(row), campaigns: (byBrand.get(row.id) ?? []).map(exportCampaign) }));
}
