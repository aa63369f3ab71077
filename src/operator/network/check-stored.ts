/** Checks a staged import against what is stored already. */
import { sql } from "drizzle-orm";
import { type Database, runLongTransaction } from "../../db/client.ts";
import { platforms } from "../../db/schema/platforms.ts";
import type { Fault } from "../../http/errors.ts";
import { splitByBytes } from "../../lib/split-by-bytes.ts";
import { MAX_LISTED } from "./listed.ts";
import type { PublisherEntry } from "./network-file.ts";
import type { Placed } from "./stage-credentials.ts";

/**
 * Faults of staged brands that take a campaign id or a host which another brand has and keeps. One that gives it up stands in the file,
 * too: with its campaigns complete, or with other aliases.
 */
export async function checkAgainstStored(db: Database, importId: string): Promise<Fault[]> {
	const staged = (section: string) => sql`FROM import_rows f WHERE f.import_id = ${importId} AND f.section = ${section}`;
	const rows = (section: string) => sql`(SELECT f.row ${staged(section)})`;
	// Sets are compared as such: EXCEPT and INTERSECT sort or hash what they are given on both engines, however much that is.
	const statement = sql`
		WITH taken AS MATERIALIZED (
			SELECT (r.row ->> 'path') || '.campaign_id' AS path, 'campaign ' || c.campaign_id AS value, b.domain AS owner
			FROM ${rows("campaigns")} r
			JOIN campaigns c ON c.campaign_id = CAST(r.row ->> 'campaignId' AS BIGINT) JOIN brands b ON b.id = c.brand_id
			WHERE b.domain <> r.row ->> 'domain'
			UNION ALL SELECT r.row ->> 'path' AS path, a.alias AS value, b.domain AS owner
			FROM ${rows("aliases")} r
			JOIN brand_aliases a ON a.alias = r.row ->> 'alias' JOIN brands b ON b.id = a.brand_id
			WHERE b.domain <> r.row ->> 'domain'
			UNION ALL SELECT 'brands' AS path, a.alias AS value, b.domain AS owner
			FROM ${rows("brands")} r
			JOIN brand_aliases a ON a.alias = r.row ->> 'domain' JOIN brands b ON b.id = a.brand_id
			WHERE b.domain <> r.row ->> 'domain')
		SELECT * FROM (
			SELECT path, value, owner FROM taken
			WHERE owner IN (SELECT owner FROM taken EXCEPT SELECT f.row ->> 'domain' ${staged("brands")})
				OR (value, owner) IN (SELECT value, owner FROM taken INTERSECT SELECT * FROM (
					SELECT 'campaign ' || (f.row ->> 'campaignId'), f.row ->> 'domain' ${staged("campaigns")}
					UNION ALL SELECT f.row ->> 'alias', f.row ->> 'domain' ${staged("aliases")}) kept)
			LIMIT ${MAX_LISTED}) stored
		UNION ALL SELECT * FROM (
			SELECT r.row ->> 'path' AS path, b.domain AS value, b.domain AS owner
			FROM ${rows("aliases")} r
			JOIN brands b ON b.domain = r.row ->> 'alias'
			LIMIT ${MAX_LISTED}) domains`;
	const [answer] = await runLongTransaction(db, [statement]);
	const found = (answer?.results ?? []) as { path: string; value: string; owner: string }[];
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
	const brands = await findDomains(db, importId, new Set(blocks.map(({ domain }) => domain)));
	return blocks
		.filter(({ domain }) => !brands.has(domain))
		.map(({ domain, path }) => ({ path, message: `${domain} is no brand's domain: nothing is blocked by it` }));
}

/**
 * Products of what is no brand's domain, an alias among them: no search finds them.
 * @param domains those of products, each with where it stands first
 */
export async function warnOfProducts(db: Database, importId: string, domains: ReadonlyMap<string, string>): Promise<Fault[]> {
	const brands = await findDomains(db, importId, new Set(domains.keys()));
	return [...domains]
		.filter(([domain]) => !brands.has(domain))
		.map(([domain, path]) => ({ path, message: `${domain} is no brand's domain: its products are not found until it is one` }));
}

/** Which of these are domains of brands, stored or in the file. */
async function findDomains(db: Database, importId: string, domains: ReadonlySet<string>): Promise<Set<string>> {
	const found = new Set<string>();
	for (const part of splitByBytes([...domains])) {
		const asked = JSON.stringify(part);
		const known = await db.all<{ domain: string }>(sql`
			SELECT domain FROM brands WHERE domain IN (SELECT atom FROM json_each(${asked}))
			UNION SELECT row ->> 'domain' FROM import_rows WHERE import_id = ${importId} AND section = 'brands'
				AND row ->> 'domain' IN (SELECT atom FROM json_each(${asked}))`);
		for (const { domain } of known) found.add(domain);
	}
	return found;
}
