/** What is stored of the entries that a part of a file names. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { allColumns } from "../../db/json-rows.ts";
import { brands, campaigns } from "../../db/schema/brands.ts";
import { exchangeRates, platforms } from "../../db/schema/platforms.ts";
import { products, sellerProducts } from "../../db/schema/products.ts";
import { publishers } from "../../db/schema/publishers.ts";
import type { Stored } from "./export-entry.ts";

export type StoredCampaign = Stored<typeof campaigns> & { domain: string };
export type StoredBrand = Stored<typeof brands> & { campaigns: StoredCampaign[] };

type Owners = { platforms: Map<string, Stored<typeof platforms>>; publishers: Map<string, Stored<typeof publishers>> };

/** Platforms and publishers are few: all are read together, once an import. */
export class StoredOwners {
	readonly #db: Database;
	#owners: Promise<Owners> | undefined;

	constructor(db: Database) {
		this.#db = db;
	}

	async platforms(): Promise<Owners["platforms"]> {
		return (await this.#read()).platforms;
	}

	async publishers(): Promise<Owners["publishers"]> {
		return (await this.#read()).publishers;
	}

	#read(): Promise<Owners> {
		this.#owners ??= this.#db.batch([this.#db.select().from(platforms), this.#db.select().from(publishers)]).then(([first, second]) => ({
			platforms: new Map(first.map((row) => [row.id, row])),
			publishers: new Map(second.map((row) => [row.id, row])),
		}));
		return this.#owners;
	}
}

/** Brands with their campaigns, and campaigns that other brands have, by id. */
export async function findStoredBrands(
	db: Database,
	domains: readonly string[],
	campaignIds: readonly number[],
): Promise<{ brands: Map<string, StoredBrand>; campaigns: Map<number, StoredCampaign> }> {
	const named = JSON.stringify(domains);
	const brandRows = await db.all<Stored<typeof brands>>(
		sql`SELECT ${allColumns(brands, "b")} FROM brands b WHERE b.domain IN (SELECT atom FROM json_each(${named}))`,
	);
	const columns = allColumns(campaigns, "c");
	const campaignRows = await db.all<StoredCampaign>(sql`
		SELECT ${columns}, b.domain FROM brands b JOIN campaigns c ON c.brand_id = b.id
		WHERE b.domain IN (SELECT atom FROM json_each(${named}))
		UNION ALL SELECT ${columns}, b.domain FROM campaigns c JOIN brands b ON b.id = c.brand_id
		WHERE c.campaign_id IN (SELECT CAST(atom AS BIGINT) FROM json_each(${JSON.stringify(campaignIds)}))
			AND b.domain NOT IN (SELECT atom FROM json_each(${named}))`);
	const byDomain = new Map(brandRows.map((row): [string, StoredBrand] => [row.domain, { ...row, campaigns: [] }]));
	for (const row of campaignRows) byDomain.get(row.domain)?.campaigns.push(row);
	for (const brand of byDomain.values()) brand.campaigns.sort((one, other) => one.campaignId - other.campaignId);
	return { brands: byDomain, campaigns: new Map(campaignRows.map((row) => [row.campaignId, row])) };
}

/** By id, `{currency} {date}`. */
export async function findStoredRates(db: Database, ids: readonly string[]): Promise<Map<string, Stored<typeof exchangeRates>>> {
	const rows = await db.all<Stored<typeof exchangeRates>>(
		sql`SELECT ${allColumns(exchangeRates, "r")} FROM exchange_rates r WHERE r.id IN (SELECT atom FROM json_each(${JSON.stringify(ids)}))`,
	);
	return new Map(rows.map((row) => [row.id, row]));
}

/** Of each id `{currency} {date}` the last rate of its currency before it, by that id. */
export async function findRatesBefore(db: Database, ids: readonly string[]): Promise<Map<string, Stored<typeof exchangeRates>>> {
	const rows = await db.all<Stored<typeof exchangeRates> & { wanted: string }>(
		sql`SELECT j.atom AS wanted, ${allColumns(exchangeRates, "r")} FROM json_each(${JSON.stringify(ids)}) j CROSS JOIN exchange_rates r
			WHERE r.id = (SELECT max(b.id) FROM exchange_rates b WHERE b.id < j.atom AND b.id >= substr(j.atom, 1, 4))`,
	);
	return new Map(rows.map(({ wanted, ...row }) => [wanted, row]));
}

export async function findStoredProducts(db: Database, ids: readonly string[]): Promise<Map<string, Stored<typeof products>>> {
	const rows = await db.all<Stored<typeof products>>(
		sql`SELECT ${allColumns(products, "p")} FROM products p WHERE p.id IN (SELECT atom FROM json_each(${JSON.stringify(ids)}))`,
	);
	return new Map(rows.map((row) => [row.id, row]));
}

/** By `{asin} {seller_id}`. */
export async function findStoredSellerProducts(
	db: Database,
	ids: readonly (readonly [asin: string, sellerId: string])[],
): Promise<Map<string, Stored<typeof sellerProducts>>> {
	const rows = await db.all<Stored<typeof sellerProducts>>(
		sql`SELECT ${allColumns(sellerProducts, "p")} FROM seller_products p
			WHERE (p.asin, p.seller_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(ids)}))`,
	);
	return new Map(rows.map((row) => [`${row.asin} ${row.sellerId}`, row]));
}

/** Whether there are no brands yet: then nothing of a file's brands need be looked for. */
export async function hasBrands(db: Database): Promise<boolean> {
	const [found] = await db.all<{ found: number }>(sql`SELECT 1 AS found FROM brands LIMIT 1`);
	return found !== undefined;
}

/** What is set of the network itself, JSON; null for the defaults. */
export async function readNetworkSettings(db: Database): Promise<{ traffic: string | null; epcLearning: string | null }> {
	const [row] = await db.all<{ traffic: string | null; epcLearning: string | null }>(
		sql`SELECT traffic, epc_learning AS "epcLearning" FROM network_settings WHERE id = 1`,
	);
	return row ?? { traffic: null, epcLearning: null };
}

/** Whether a stored row has what is to be written. */
export function isSameRow(stored: object, row: object): boolean {
	const present = stored as Readonly<Record<string, unknown>>;
	return Object.entries(row).every(([property, value]) => plain(present[property]) === plain(value));
}

function plain(value: unknown): unknown {
	return typeof value === "boolean" ? Number(value) : (value ?? null);
}
