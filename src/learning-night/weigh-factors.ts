/** How many clicks factors are of: each source, and each campaign with each of its publishers that is an exception. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { FactorEvidence } from "../learning/factor.ts";
import type { StoredLearning } from "../learning/stored.ts";
import { pairKey } from "../learning/traffic.ts";
import type { Factor, WeighedFactor } from "./fill-learned-key.ts";

/** What is kept of campaigns that are read at a time, in characters. One has two million at the most. */
const CHARACTERS_A_PAGE = 2_000_000;

/** Without evidence they are of none. */
export async function weighFactors(db: Database, factors: readonly Factor[]): Promise<WeighedFactor[]> {
	const sources = await readSources(db, factors);
	const exceptions = await readExceptions(db, factors);
	return factors.map((factor): WeighedFactor => {
		const { level, campaignId, publisherId, name } = factor;
		const clicks =
			level === "source"
				? sources.get(pairKey(publisherId, name))
				: level === "campaign_publisher"
					? exceptions.get(pairKey(String(campaignId), publisherId))
					: undefined;
		return { ...factor, clicks: clicks ?? 0 };
	});
}

async function readSources(db: Database, factors: readonly Factor[]): Promise<Map<string, number>> {
	const asked = factors.flatMap(({ level, publisherId, name }) => (level === "source" ? [{ publisherId, name }] : []));
	if (asked.length === 0) return new Map();
	const rows = await db.all<{ publisherId: string; name: string; evidence: string }>(sql`
		SELECT publisher_id AS "publisherId", name, evidence FROM learning_traffic
		WHERE level = 'source' AND (publisher_id, name) IN (
			SELECT value ->> 'publisherId', value ->> 'name' FROM json_each(${JSON.stringify(asked)}))`);
	return new Map(
		rows.map(({ publisherId, name, evidence }) => [pairKey(publisherId, name), (JSON.parse(evidence) as FactorEvidence).clicks]),
	);
}

async function readExceptions(db: Database, factors: readonly Factor[]): Promise<Map<string, number>> {
	const clicks = new Map<string, number>();
	const asked = new Set<string>();
	const ids = new Set<number>();
	for (const { level, campaignId, publisherId } of factors) {
		if (level !== "campaign_publisher") continue;
		asked.add(pairKey(String(campaignId), publisherId));
		ids.add(campaignId);
	}
	for (const page of await splitBySize(db, [...ids])) {
		const rows = await db.all<{ campaignId: number; publishers: string | null }>(sql`SELECT campaign_id AS "campaignId",
				learned ->> 'publishers' AS publishers FROM learning_campaigns
			WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${JSON.stringify(page)}))`);
		for (const { campaignId, publishers } of rows) {
			for (const [publisherId, evidence] of Object.entries(JSON.parse(publishers ?? "{}") as StoredLearning["publishers"])) {
				const key = pairKey(String(campaignId), publisherId);
				if (asked.has(key)) clicks.set(key, evidence.clicks);
			}
		}
	}
	return clicks;
}

/** Campaigns by as many as are read at a time. */
async function splitBySize(db: Database, ids: readonly number[]): Promise<number[][]> {
	if (ids.length === 0) return [];
	const sizes = await db.all<{ campaignId: number; size: number }>(sql`SELECT campaign_id AS "campaignId", length(learned) AS size
		FROM learning_campaigns WHERE learned IS NOT NULL AND campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${JSON.stringify(ids)}))`);
	const parts: number[][] = [];
	let characters = Number.POSITIVE_INFINITY;
	for (const { campaignId, size } of sizes) {
		if (characters + size > CHARACTERS_A_PAGE) {
			parts.push([]);
			characters = 0;
		}
		parts.at(-1)?.push(campaignId);
		characters += size;
	}
	return parts;
}
