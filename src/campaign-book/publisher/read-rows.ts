/** Reads from the database what shards and chunks are made of. */
import { between, eq, inArray } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { bookKeys, brands, campaigns } from "../../db/schema/brands.ts";
import { platforms } from "../../db/schema/platforms.ts";
import type { TrafficSettings } from "../../lib/traffic-rules.ts";
import type { BookEntry, BrandInput, CampaignInput } from "../build.ts";
import { slotsOfShard } from "../slots.ts";
import { bakePrices, type Learning } from "./bake-prices.ts";

export type BookRows = {
	entries: BookEntry[];
	/** Every brand that they name. */
	brands: Map<number, BrandInput>;
};

/** Neighbouring shards read together. */
export const SHARDS_PER_READ = 6;

/** Cuts ascending indexes into runs of neighbours, at most SHARDS_PER_READ long. */
export function runsOf(indexes: readonly number[]): number[][] {
	const runs: number[][] = [];
	for (const index of indexes) {
		const run = runs.at(-1);
		if (run !== undefined && run.length < SHARDS_PER_READ && run.at(-1) === index - 1) run.push(index);
		else runs.push([index]);
	}
	return runs;
}

/**
 * What neighbouring shards hold, from one read of the database: three statements, and where prices are learned two more.
 */
export async function readRows(db: Database, learning: Learning, bits: number, run: readonly number[]): Promise<BookRows> {
	const first = slotsOfShard(run[0] ?? 0, bits).first;
	const last = slotsOfShard(run.at(-1) ?? 0, bits).last;
	const here = between(bookKeys.slot, first, last);
	const brandIds = db.selectDistinct({ brandId: bookKeys.brandId }).from(bookKeys).where(here);
	const [entries, brandRows, campaignRows] = await db.batch([
		db.select({ key: bookKeys.key, brandId: bookKeys.brandId }).from(bookKeys).where(here),
		db
			.select({
				id: brands.id,
				domain: brands.domain,
				active: brands.active,
				aliases: brands.aliases,
				blockedCountries: brands.blockedCountries,
				iabCategories: brands.iabCategories,
			})
			.from(brands)
			.where(inArray(brands.id, brandIds)),
		db
			.select({ campaign: campaigns, platformId: platforms.platformId })
			.from(campaigns)
			.leftJoin(platforms, eq(platforms.id, campaigns.platform))
			.where(inArray(campaigns.brandId, brandIds)),
	]);
	return { entries, brands: collect(brandRows, await bakePrices(db, learning, campaignRows.map(inputOf))) };
}

type BrandRow = Pick<typeof brands.$inferSelect, "id" | "domain" | "active" | "aliases" | "blockedCountries" | "iabCategories">;
type CampaignRow = { campaign: typeof campaigns.$inferSelect; platformId: number | null };

type StoredCampaign = CampaignInput & Pick<CampaignRow["campaign"], "brandId" | "platform" | "epcLearning">;

function inputOf({ campaign, platformId }: CampaignRow): StoredCampaign {
	return {
		...campaign,
		platformId,
		keywordEpcMicros: JSON.parse(campaign.keywordEpcMicros) as Record<string, number>,
		traffic: campaign.traffic === null ? null : (JSON.parse(campaign.traffic) as TrafficSettings),
	};
}

function collect(brandRows: readonly BrandRow[], campaignInputs: readonly StoredCampaign[]): Map<number, BrandInput> {
	const byBrand = new Map<number, CampaignInput[]>();
	for (const campaign of campaignInputs) {
		const siblings = byBrand.get(campaign.brandId);
		if (siblings === undefined) byBrand.set(campaign.brandId, [campaign]);
		else siblings.push(campaign);
	}
	return new Map(
		brandRows.map((row) => [
			row.id,
			{
				...row,
				aliases: JSON.parse(row.aliases) as string[],
				blockedCountries: JSON.parse(row.blockedCountries) as string[],
				iabCategories: JSON.parse(row.iabCategories) as string[],
				campaigns: byBrand.get(row.id) ?? [],
			},
		]),
	);
}
