/** Checks a staged import against what is stored already. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { platforms } from "../../db/schema/platforms.ts";
import type { Fault } from "../../http/errors.ts";
import type { PublisherEntry } from "./network-file.ts";
import type { Placed } from "./stage-credentials.ts";

const MAX_FAULTS = 100;

/**
 * Faults of staged brands that take a campaign id or a host which another brand has and keeps. One that gives it up stands in the file,
 * too: with its campaigns complete, or with other aliases.
 */
export async function checkAgainstStored(db: Database, importId: string): Promise<Fault[]> {
	const staged = (section: string) => sql`FROM import_rows f WHERE f.import_id = ${importId} AND f.section = ${section}`;
	const rows = (section: string) => sql`(SELECT f.row ${staged(section)})`;
	const isUntouched = sql`b.domain NOT IN (SELECT f.row ->> 'domain' ${staged("brands")})`;
	const keepsAlias = sql`(a.alias, b.domain) IN (SELECT f.row ->> 'alias', f.row ->> 'domain' ${staged("aliases")})`;
	const found = await db.all<{ path: string; value: string; owner: string }>(sql`
		SELECT * FROM (
			SELECT (r.row ->> 'path') || '.campaign_id' AS path, 'campaign ' || c.campaign_id AS value, b.domain AS owner
			FROM ${rows("campaigns")} r
			JOIN campaigns c ON c.campaign_id = CAST(r.row ->> 'campaignId' AS BIGINT) JOIN brands b ON b.id = c.brand_id
			WHERE b.domain <> r.row ->> 'domain' AND (${isUntouched} OR (c.campaign_id, b.domain) IN (
				SELECT CAST(f.row ->> 'campaignId' AS BIGINT), f.row ->> 'domain' ${staged("campaigns")}))
			LIMIT ${MAX_FAULTS})
		UNION ALL SELECT * FROM (
			SELECT r.row ->> 'path' AS path, a.alias AS value, b.domain AS owner
			FROM ${rows("aliases")} r
			JOIN brand_aliases a ON a.alias = r.row ->> 'alias' JOIN brands b ON b.id = a.brand_id
			WHERE b.domain <> r.row ->> 'domain' AND (${isUntouched} OR ${keepsAlias})
			LIMIT ${MAX_FAULTS})
		UNION ALL SELECT * FROM (
			SELECT r.row ->> 'path' AS path, b.domain AS value, b.domain AS owner
			FROM ${rows("aliases")} r
			JOIN brands b ON b.domain = r.row ->> 'alias'
			LIMIT ${MAX_FAULTS})
		UNION ALL SELECT * FROM (
			SELECT 'brands' AS path, a.alias AS value, b.domain AS owner
			FROM ${rows("brands")} r
			JOIN brand_aliases a ON a.alias = r.row ->> 'domain' JOIN brands b ON b.id = a.brand_id
			WHERE b.domain <> r.row ->> 'domain' AND (${isUntouched} OR ${keepsAlias})
			LIMIT ${MAX_FAULTS})`);
	return found.map(({ path, value, owner }) => ({ path, message: `${value} belongs to ${owner}, which keeps it` }));
}

/** Faults of campaigns that name a platform neither in the file nor stored. */
export async function checkPlatforms(db: Database, used: ReadonlyMap<string, string>, inFile: ReadonlySet<string>): Promise<Fault[]> {
	const unknown = [...used].filter(([id]) => !inFile.has(id));
	if (unknown.length === 0) return [];
	const stored = new Set((await db.select({ id: platforms.id }).from(platforms)).map(({ id }) => id));
	return unknown.filter(([id]) => !stored.has(id)).map(([id, path]) => ({ path, message: `${JSON.stringify(id)} is not a platform` }));
}

/** Blocks of brands that are no brand's domain: they block nothing, an alias among them. */
export async function warnOfBlocks(db: Database, importId: string, publishers: readonly Placed<PublisherEntry>[]): Promise<Fault[]> {
	const blocks = publishers.flatMap(({ entry, path }) =>
		entry.blocked_brands.map(({ domain }, at) => ({ domain, path: `${path}.blocked_brands[${at}].domain` })),
	);
	if (blocks.length === 0) return [];
	const domains = JSON.stringify([...new Set(blocks.map(({ domain }) => domain))]);
	const known = await db.all<{ domain: string }>(sql`
		SELECT atom AS domain FROM json_each(${domains})
		WHERE atom IN (SELECT domain FROM brands)
			OR atom IN (SELECT row ->> 'domain' FROM import_rows WHERE import_id = ${importId} AND section = 'brands')`);
	const brands = new Set(known.map(({ domain }) => domain));
	return blocks
		.filter(({ domain }) => !brands.has(domain))
		.map(({ domain, path }) => ({ path, message: `${domain} is no brand's domain: nothing is blocked by it` }));
}
