/** Whether campaigns bid, and publishers are bid for, at all, as what is stored has them: without caps that are met and hours. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import type { brands, campaigns } from "../../db/schema/brands.ts";
import type { publishers } from "../../db/schema/publishers.ts";
import type { Stored } from "./export-entry.ts";

type BrandSide = Pick<Stored<typeof brands>, "active" | "blockedCountries">;
type CampaignSide = Pick<
	Stored<typeof campaigns>,
	| "active"
	| "country"
	| "homepageUrl"
	| "deeplinkUrl"
	| "epcMicros"
	| "defaultKeywordEpcMicros"
	| "keywordEpcMicros"
	| "dailyClickCap"
	| "dailyBudgetMicros"
	| "totalBudgetMicros"
	| "allowedHours"
>;

/** Says of a brand's campaigns whether they bid. */
export function bidsOf(brand: BrandSide): (campaign: CampaignSide) => boolean {
	const blocked = new Set(JSON.parse(brand.blockedCountries) as string[]);
	return (campaign) =>
		Boolean(brand.active) &&
		Boolean(campaign.active) &&
		!blocked.has(campaign.country) &&
		(campaign.homepageUrl !== null || campaign.deeplinkUrl !== null) &&
		((campaign.epcMicros ?? 0) > 0 || (campaign.defaultKeywordEpcMicros ?? 0) > 0 || campaign.keywordEpcMicros !== "{}") &&
		campaign.dailyClickCap !== 0 &&
		campaign.dailyBudgetMicros !== 0 &&
		campaign.totalBudgetMicros !== 0 &&
		campaign.allowedHours !== 0;
}

/** The same of the stored campaign `c` of the brand `b`. */
const BIDS: SQL = sql`b.active = 1 AND c.active = 1
	AND (b.blocked_countries = '[]' OR c.country NOT IN (SELECT atom FROM json_each(b.blocked_countries)))
	AND (c.homepage_url IS NOT NULL OR c.deeplink_url IS NOT NULL)
	AND (c.epc_micros > 0 OR c.default_keyword_epc_micros > 0 OR c.keyword_epc_micros <> '{}')
	AND c.daily_click_cap IS DISTINCT FROM 0 AND c.daily_budget_micros IS DISTINCT FROM 0 AND c.total_budget_micros IS DISTINCT FROM 0
	AND c.allowed_hours <> 0`;

/** How many campaigns bid now. */
export async function countBidding(db: Database): Promise<number> {
	const [row] = await db.all<{ n: number }>(sql`SELECT COUNT(*) AS n FROM campaigns c JOIN brands b ON b.id = c.brand_id WHERE ${BIDS}`);
	return row?.n ?? 0;
}

type PublisherSide = Pick<
	Stored<typeof publishers>,
	"status" | "revenueSharePpm" | "servingEngineEnabled" | "openrtbEnabled" | "publisherId" | "publisherIdentity"
>;

/** The endpoints that bid for a publisher, each with the name that it is asked by: another name is another. */
export function endpointsOf(publisher: PublisherSide): string[] {
	if (publisher.status !== "active" || publisher.revenueSharePpm === 0) return [];
	const { servingEngineEnabled, openrtbEnabled, publisherId, publisherIdentity } = publisher;
	return [...(servingEngineEnabled ? [`serving-engine ${publisherId}`] : []), ...(openrtbEnabled ? [`openrtb ${publisherIdentity}`] : [])];
}

/** The same of the stored publisher `p`. */
const IS_BID_FOR: SQL = sql`p.status = 'active' AND p.revenue_share_ppm > 0 AND (p.serving_engine_enabled = 1 OR p.openrtb_enabled = 1)`;

/** Blocks of stored publishers that are bid for; `country` is empty for all. */
const STORED_BLOCKS: SQL = sql`SELECT p.id AS publisher_id, b.value ->> 'domain' AS domain, coalesce(b.value ->> 'country', '') AS country
	FROM publishers p CROSS JOIN json_each(p.blocked_brands) b WHERE ${IS_BID_FOR}`;

/** Ids and blocks of staged publishers; materialized, since PostgreSQL would read a row of a megabyte again for each of its blocks. */
export function stagedBlocks(importId: string): SQL {
	return sql`SELECT r.row ->> 'id' AS id, r.row ->> 'blockedBrands' AS blocks FROM import_rows r
		WHERE r.import_id = ${importId} AND r.section = 'publishers'`;
}

/** Publishers and campaigns that bid, which blocks part. CROSS JOIN: SQLite looks at the brands of the blocks alone. */
function pairsBlockedBy(blocks: SQL): SQL {
	return sql`SELECT DISTINCT k.publisher_id, c.campaign_id FROM (${blocks}) k
		CROSS JOIN brands b CROSS JOIN campaigns c
		WHERE b.domain = k.domain AND c.brand_id = b.id AND (k.country = '' OR k.country = c.country) AND ${BIDS}`;
}

/** How many pairs of a publisher that is bid for and a campaign that bids the blocks of staged publishers part, which none does now. */
export async function countNewlyBlocked(db: Database, importId: string): Promise<number> {
	const staged = sql`SELECT g.id AS publisher_id, b.value ->> 'domain' AS domain, coalesce(b.value ->> 'country', '') AS country
		FROM given g CROSS JOIN json_each(g.blocks) b WHERE g.id IN (SELECT p.id FROM publishers p WHERE ${IS_BID_FOR})`;
	const [row] = await db.all<{ n: number }>(sql`
		WITH given AS MATERIALIZED (${stagedBlocks(importId)}),
			stored AS MATERIALIZED (${STORED_BLOCKS} AND p.id IN (SELECT id FROM given)),
			added AS MATERIALIZED (SELECT * FROM (${staged}) EXCEPT SELECT * FROM stored),
			kept AS (SELECT publisher_id, domain, country FROM (
				SELECT publisher_id, domain, country, is_stored, min(is_stored) OVER (PARTITION BY publisher_id, domain) AS least
				FROM (SELECT stored.*, 1 AS is_stored FROM stored UNION ALL SELECT added.*, 0 FROM added) both_kinds) with_least
				WHERE is_stored = 1 AND least = 0)
		SELECT COUNT(*) AS n FROM (
			SELECT * FROM (${pairsBlockedBy(sql`SELECT * FROM added`)}) EXCEPT SELECT * FROM (${pairsBlockedBy(sql`SELECT * FROM kept`)}))`);
	return row?.n ?? 0;
}

/** How many pairs of a publisher that is bid for and a campaign that bids no block parts now. */
export async function countPairs(db: Database): Promise<number> {
	const [row] = await db.all<{ n: number }>(sql`
		SELECT (SELECT COUNT(*) FROM publishers p WHERE ${IS_BID_FOR})
			* (SELECT COUNT(*) FROM campaigns c JOIN brands b ON b.id = c.brand_id WHERE ${BIDS})
			- (SELECT COUNT(*) FROM (${pairsBlockedBy(STORED_BLOCKS)})) AS n`);
	return row?.n ?? 0;
}
