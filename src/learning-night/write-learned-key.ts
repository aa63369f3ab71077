/** Writes `book:learned`: what prices are multiplied by beyond what is baked into the book. */
import { sql } from "drizzle-orm";
import { LEARNED_KEY } from "../campaign-book/learned.ts";
import type { Database } from "../db/client.ts";
import { OTHER_SOURCES } from "../learning/cell.ts";
import type { FactorEvidence } from "../learning/factor.ts";
import { MAX_SOURCES } from "../learning/sources.ts";
import { readPublished, type StoredLearning } from "../learning/stored.ts";
import { type Factor, type Followed, fillLearnedKey, haveRoom, keyOf } from "./fill-learned-key.ts";

/** Factors are told to this part. */
const PRECISION = 10_000;
const CAMPAIGNS_A_PAGE = 200;

type FactorRow = Omit<Factor, "factor"> & { published: string };

/** Writes the key where it has changed. Kinds of links and publishers always, then what moves the most money, half of the room shared alike. */
export async function writeLearnedKey(db: Database, kv: KVNamespace): Promise<void> {
	const followed = await readFollowed(db);
	const factors = await readFactors(db, followed);
	const [held] = await db.all<{ most: number | null }>(sql`SELECT max(CAST(steering ->> 'bidCreep' AS DOUBLE PRECISION)) AS most
		FROM learning_campaigns WHERE steering IS NOT NULL`);
	const most = Math.max(1, held?.most ?? 1);
	const clicks = haveRoom(factors) ? null : await readClicks(db, factors);
	const text = JSON.stringify(fillLearnedKey(factors, clicks, most, followed));
	if ((await kv.get(LEARNED_KEY)) !== text) await kv.put(LEARNED_KEY, text);
}

async function readFollowed(db: Database): Promise<Followed> {
	const rows = await db.all<{
		publisherId: string;
		source: string;
	}>(sql`SELECT s.publisher_id AS "publisherId", s.source FROM learning_sources s
		WHERE s.from_day IS NOT NULL AND s.publisher_id IN (
			SELECT f.publisher_id FROM learning_factors f WHERE f.level = 'source' AND f.campaign_id = 0 AND f.name = ${OTHER_SOURCES})
		ORDER BY s.publisher_id, s.source`);
	const byPublisher = Map.groupBy(rows, ({ publisherId }) => publisherId);
	return new Map(
		[...byPublisher].flatMap(([publisherId, sources]) =>
			sources.length < MAX_SOURCES ? [] : [[publisherId, sources.map(({ source }) => source)] as const],
		),
	);
}

/** Those that are not 1; and of a publisher whose other sources have one, of all sources that are followed, since they are not the others. */
async function readFactors(db: Database, followed: Followed): Promise<Factor[]> {
	const rows = await db.all<FactorRow>(sql`SELECT level, campaign_id AS "campaignId", publisher_id AS "publisherId", name, published
		FROM learning_factors WHERE level <> 'price' ORDER BY level, campaign_id, publisher_id, name`);
	const moved = rows.flatMap(({ published, ...row }) => {
		const factor = Math.round(readPublished(published).factor * PRECISION) / PRECISION;
		return factor === 1 ? [] : [{ ...row, factor }];
	});
	const sources = moved.filter(({ level }) => level === "source");
	const named = Map.groupBy(sources, ({ publisherId }) => publisherId);
	const unmoved = [...followed].flatMap(([publisherId, names]): Factor[] => {
		const own = new Set(named.get(publisherId)?.map(({ name }) => name));
		if (!own.has(OTHER_SOURCES)) return [];
		return names.filter((name) => !own.has(name)).map((name): Factor => ({ level: "source", campaignId: 0, publisherId, name, factor: 1 }));
	});
	return [...moved, ...unmoved];
}

/** How many clicks each source has, and each campaign with each of its publishers that is an exception. */
async function readClicks(db: Database, factors: readonly Factor[]): Promise<Map<string, number>> {
	const clicks = new Map<string, number>();
	const sources = await db.all<{
		publisherId: string;
		name: string;
		evidence: string;
	}>(sql`SELECT publisher_id AS "publisherId", name, evidence
		FROM learning_traffic WHERE level = 'source'`);
	for (const { publisherId, name, evidence } of sources) {
		clicks.set(keyOf({ level: "source", campaignId: 0, publisherId, name }), (JSON.parse(evidence) as FactorEvidence).clicks);
	}
	const ids = [...new Set(factors.filter(({ level }) => level === "campaign_publisher").map(({ campaignId }) => campaignId))];
	for (let at = 0; at < ids.length; at += CAMPAIGNS_A_PAGE) {
		const page = JSON.stringify(ids.slice(at, at + CAMPAIGNS_A_PAGE));
		const rows = await db.all<{ campaignId: number; publishers: string | null }>(sql`SELECT campaign_id AS "campaignId",
				learned ->> 'publishers' AS publishers FROM learning_campaigns
			WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${page}))`);
		for (const { campaignId, publishers } of rows) {
			for (const [publisherId, evidence] of Object.entries(JSON.parse(publishers ?? "{}") as StoredLearning["publishers"])) {
				clicks.set(keyOf({ level: "campaign_publisher", campaignId, publisherId, name: "" }), evidence.clicks);
			}
		}
	}
	return clicks;
}
