/** Whether campaigns bid, and publishers are bid for, at all, as what is stored has them: without caps that are met, hours and blocks. */
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
	AND c.country NOT IN (SELECT atom FROM json_each(b.blocked_countries))
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
