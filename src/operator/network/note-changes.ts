/** What an import changes of what brand lists show, for those who follow the changes (decision 0038). */
import { type SQL, sql } from "drizzle-orm";
import type { brandChanges, campaigns } from "../../db/schema/brands.ts";
import { contentHashOf } from "../../lib/md5-ids.ts";
import { stagedBlocks } from "./bids-of.ts";
import type { Stored } from "./export-entry.ts";
import type { BrandEntry } from "./network-file.ts";

export type Parts = Pick<typeof brandChanges.$inferInsert, "listed" | "rateHash" | "restrictionsHash" | "detailsHash">;

type ListedCampaign = Pick<
	Stored<typeof campaigns>,
	| "campaignId"
	| "merchantId"
	| "active"
	| "country"
	| "homepageUrl"
	| "deeplinkUrl"
	| "deeplinkVerified"
	| "commissionRate"
	| "flatFeeMicros"
	| "rateType"
	| "rateBasis"
	| "maxRate"
>;

/** Whether lists show a brand to publishers without blocks, and a hash of each part of what they show. */
export function listedParts(brand: BrandEntry, campaigns: readonly ListedCampaign[]): Parts {
	const { active, blocked_countries } = brand;
	const shown = campaigns
		.filter((campaign) => Boolean(campaign.active) && !blocked_countries.includes(campaign.country))
		.sort((one, other) => one.campaignId - other.campaignId);
	const rates = shown.flatMap((of) => [of.campaignId, of.commissionRate, of.flatFeeMicros, of.rateType, of.rateBasis, of.maxRate]);
	const links = shown.flatMap((of) => [
		of.campaignId,
		of.merchantId,
		of.country,
		of.homepageUrl === null ? 0 : 1,
		of.deeplinkUrl === null || !of.deeplinkVerified ? 0 : 1,
	]);
	return {
		listed: active && shown.length > 0,
		rateHash: contentHashOf(rates),
		restrictionsHash: contentHashOf([...brand.restricted_traffic, 0, ...brand.traffic_types]),
		detailsHash: contentHashOf([brand.name, brand.category, brand.new_deal ? 1 : 0, brand.last_updated_date, ...links]),
	};
}

const VERSION = sql`(SELECT changes_version FROM catalogue_state WHERE id = 1)`;

/**
 * Takes the next version, and notes which brands each publisher's staged blocks hide or show from now on, and which staged brands were stored
 * before. Runs before publishers and brands are replaced, since it compares them with the staged ones.
 * @param present the ids of the staged brands that are stored
 */
export function beginChanges(importId: string, present: SQL, now: number): SQL[] {
	const country = sql`coalesce(b.value ->> 'country', '') AS country`;
	const staged = sql`SELECT g.id AS publisher_id, b.value ->> 'domain' AS domain, ${country} FROM given g CROSS JOIN json_each(g.blocks) b`;
	const stored = sql`SELECT p.id AS publisher_id, b.value ->> 'domain' AS domain, ${country}
		FROM publishers p CROSS JOIN json_each(p.blocked_brands) b WHERE p.id IN (SELECT id FROM given)`;
	return [
		sql`UPDATE catalogue_state SET changes_version = CASE WHEN changes_version < ${now} THEN ${now} ELSE changes_version + 1 END WHERE id = 1`,
		sql`INSERT INTO block_changes (publisher_id, domain, version)
			WITH given AS MATERIALIZED (${stagedBlocks(importId)})
			SELECT DISTINCT publisher_id, domain, ${VERSION} FROM (
				SELECT * FROM (SELECT * FROM (${staged}) EXCEPT SELECT * FROM (${stored}))
				UNION SELECT * FROM (SELECT * FROM (${stored}) EXCEPT SELECT * FROM (${staged})))
			WHERE true
			ON CONFLICT (publisher_id, domain) DO UPDATE SET version = excluded.version`,
		// How they were listed was not noted by earlier versions: so whatever they are now is a change.
		sql`INSERT INTO brand_changes (brand_id, version, first_version, listing_version, rate_version, restrictions_version, details_version,
				listed, rate_hash, restrictions_hash, details_hash)
			SELECT id, 0, 0, 0, 0, 0, 0, 1, '', '', '' FROM (${present}) WHERE true ON CONFLICT DO NOTHING`,
	];
}

/**
 * Notes which staged brands changed in what lists show; one that was not listed and is not, did not. What one showed when it was last listed
 * stays noted until it is listed again, so that being paused alone changes no rate. Runs once brands are replaced.
 */
export function noteBrandChanges(importId: string): SQL {
	const changed = (part: SQL) => sql`CASE WHEN ${part} THEN ${VERSION} ELSE`;
	const shown = (is: SQL, was: SQL) => sql`CASE WHEN excluded.listed = 1 THEN ${is} ELSE ${was} END`;
	return sql`INSERT INTO brand_changes AS t (brand_id, version, first_version, listing_version, rate_version, restrictions_version, details_version,
			listed, rate_hash, restrictions_hash, details_hash)
		SELECT id, version, version, version, version, version, version, listed, rate, restrictions, details FROM (
			SELECT b.id, CAST(r.row ->> 'listed' AS BIGINT) AS listed, CASE WHEN CAST(r.row ->> 'listed' AS BIGINT) = 1 THEN ${VERSION} ELSE 0 END AS version,
				r.row ->> 'rateHash' AS rate, r.row ->> 'restrictionsHash' AS restrictions, r.row ->> 'detailsHash' AS details
			FROM import_rows r JOIN brands b ON b.domain = r.row ->> 'domain' WHERE r.import_id = ${importId} AND r.section = 'brands')
		WHERE true
		ON CONFLICT (brand_id) DO UPDATE SET
			version = ${VERSION},
			first_version = ${changed(sql`t.version = 0 AND t.listed = 0`)} t.first_version END,
			listing_version = ${changed(sql`t.listed <> excluded.listed`)} t.listing_version END,
			rate_version = ${changed(sql`excluded.listed = 1 AND t.rate_hash <> excluded.rate_hash`)} t.rate_version END,
			restrictions_version = ${changed(sql`excluded.listed = 1 AND t.restrictions_hash <> excluded.restrictions_hash`)} t.restrictions_version END,
			details_version = ${changed(sql`excluded.listed = 1 AND t.details_hash <> excluded.details_hash`)} t.details_version END,
			listed = excluded.listed,
			rate_hash = ${shown(sql`excluded.rate_hash`, sql`t.rate_hash`)},
			restrictions_hash = ${shown(sql`excluded.restrictions_hash`, sql`t.restrictions_hash`)},
			details_hash = ${shown(sql`excluded.details_hash`, sql`t.details_hash`)}
		WHERE t.listed <> excluded.listed OR (excluded.listed = 1 AND (t.rate_hash <> excluded.rate_hash
			OR t.restrictions_hash <> excluded.restrictions_hash OR t.details_hash <> excluded.details_hash))`;
}
