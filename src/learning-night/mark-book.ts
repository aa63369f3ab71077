import { type SQL, sql } from "drizzle-orm";

/** Marks every place of the book in which campaigns stand: their prices are baked in there. */
export function markCampaigns(campaignIds: readonly number[]): SQL[] {
	if (campaignIds.length === 0) return [];
	return [markCampaignsOf(sql`SELECT CAST(value AS BIGINT) FROM json_each(${JSON.stringify(campaignIds)})`)];
}

/** @param ids a query of their ids */
export function markCampaignsOf(ids: SQL): SQL {
	const mark = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
	return sql`INSERT INTO book_dirty_slots (slot, mark)
		SELECT DISTINCT k.slot, CAST(${mark} AS BIGINT) FROM book_keys k
		WHERE k.brand_id IN (SELECT brand_id FROM campaigns WHERE campaign_id IN (${ids}))
		ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`;
}
