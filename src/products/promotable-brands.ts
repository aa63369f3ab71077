/** Which brands a publisher may promote now, and by which campaign a product of theirs is linked. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { Publisher } from "../db/key-owners.ts";

export type PromotableBrand = {
	brandId: number;
	domain: string;
	name: string;
	marketplace: boolean;
	campaignId: number;
	country: string;
};

type Row = Omit<PromotableBrand, "marketplace"> & { marketplace: number; blockedCountries: string };

/**
 * The brands among `domains` that are active, not blocked for the publisher and have an active campaign with a link in a country
 * that is not blocked. Their campaign: one whose deeplinks work before one for the homepage alone, the US before other
 * countries, then the lowest id. A campaign that stands still because of a cap still counts: its link works.
 */
export async function findPromotableBrands(
	db: Database,
	publisher: Publisher,
	domains: readonly string[],
): Promise<Map<string, PromotableBrand>> {
	if (domains.length === 0) return new Map();
	const rows = await db.all<Row>(sql`
		SELECT b.id AS brandId, b.domain AS domain, b.name AS name, b.marketplace AS marketplace, b.blocked_countries AS blockedCountries,
			c.campaign_id AS campaignId, c.country AS country
		FROM brands b JOIN campaigns c ON c.brand_id = b.id
		WHERE b.domain IN (SELECT value FROM json_each(${JSON.stringify(domains)})) AND b.active AND c.active
			AND (c.homepage_url IS NOT NULL OR c.deeplink_url IS NOT NULL)
		ORDER BY (c.deeplink_url IS NOT NULL AND c.deeplink_verified) DESC, c.country = 'US' DESC, c.campaign_id`);
	const isBlocked = readBlocks(publisher);
	const found = new Map<string, PromotableBrand>();
	for (const { blockedCountries, marketplace, ...brand } of rows) {
		if (found.has(brand.domain) || isBlocked(brand.domain, brand.country)) continue;
		if ((JSON.parse(blockedCountries) as string[]).includes(brand.country)) continue;
		found.set(brand.domain, { ...brand, marketplace: marketplace === 1 });
	}
	return found;
}

function readBlocks(publisher: Publisher): (domain: string, country: string) => boolean {
	const blocks = JSON.parse(publisher.blockedBrands) as { domain: string; country?: string }[];
	return (domain, country) => blocks.some((block) => block.domain === domain && (block.country === undefined || block.country === country));
}
