/** Which brand a host belongs to. */
import { sql } from "drizzle-orm";
import { hostAndParents } from "../lib/host.ts";
import type { Database } from "./client.ts";

/**
 * The domains of the brands that hosts belong to: the brand of that domain, else of that alias, else the same of its parents,
 * nearest first. Hosts of no brand are absent.
 * @param hosts canonical
 */
export async function findBrandDomains(db: Database, hosts: Iterable<string>): Promise<Map<string, string>> {
	const wanted = new Map([...hosts].map((host) => [host, hostAndParents(host)]));
	if (wanted.size === 0) return new Map();
	const asked = JSON.stringify([...new Set([...wanted.values()].flat())]);
	const rows = await db.all<{ host: string; domain: string }>(
		sql`SELECT domain AS host, domain FROM brands WHERE domain IN (SELECT atom FROM json_each(${asked}))
			UNION ALL SELECT a.alias, b.domain FROM brand_aliases a JOIN brands b ON b.id = a.brand_id
			WHERE a.alias IN (SELECT atom FROM json_each(${asked}))`,
	);
	const owners = new Map<string, string>();
	// A domain comes before an alias of the same name.
	for (const { host, domain } of rows) if (!owners.has(host)) owners.set(host, domain);
	const found = new Map<string, string>();
	for (const [host, candidates] of wanted) {
		const owner = candidates.map((candidate) => owners.get(candidate)).find((domain) => domain !== undefined);
		if (owner !== undefined) found.set(host, owner);
	}
	return found;
}
