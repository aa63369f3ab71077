/** Writes `book:learned`: what prices are multiplied by beyond what is baked into the book. */
import { sql } from "drizzle-orm";
import { BOOK_FORMAT, HELD_SCALE } from "../campaign-book/format.ts";
import { LEARNED_KEY, type LearnedWire, type PublisherFactorsWire } from "../campaign-book/learned.ts";
import type { Database } from "../db/client.ts";
import type { FactorEvidence } from "../learning/factor.ts";
import { readPublished, type StoredLearning } from "../learning/stored.ts";
import { bytesOf } from "../lib/split-by-bytes.ts";

/** Isolates read it with every manifest. */
const MAX_BYTES = 64 * 1024;
/** Of the JSON around what is listed. */
const SPARE_BYTES = 1_024;
/** Factors are told to this part. */
const PRECISION = 10_000;
const CAMPAIGNS_A_PAGE = 200;

type FactorLevel = "campaign_publisher" | "publisher" | "source" | "link";
type FactorRow = { level: FactorLevel; campaignId: number; publisherId: string; name: string; published: string };
type Factor = Omit<FactorRow, "published"> & { factor: number };

/** Writes the key where it has changed. Kinds of links and publishers always, then what moves the most money, as far as there is room. */
export async function writeLearnedKey(db: Database, kv: KVNamespace): Promise<void> {
	const factors = await readFactors(db);
	const [held] = await db.all<{ most: number | null }>(sql`SELECT max(CAST(steering ->> 'bidCreep' AS REAL)) AS most
		FROM learning_campaigns WHERE steering IS NOT NULL`);
	const most = Math.max(1, held?.most ?? 1);
	const text = JSON.stringify(fill(factors, bytesOfAll(factors) <= MAX_BYTES - SPARE_BYTES ? null : await readClicks(db, factors), most));
	if ((await kv.get(LEARNED_KEY)) !== text) await kv.put(LEARNED_KEY, text);
}

async function readFactors(db: Database): Promise<Factor[]> {
	const rows = await db.all<FactorRow>(sql`SELECT level, campaign_id AS "campaignId", publisher_id AS "publisherId", name, published
		FROM learning_factors WHERE level <> 'price' ORDER BY level, campaign_id, publisher_id, name`);
	return rows.flatMap(({ published, ...row }) => {
		const factor = Math.round(readPublished(published).factor * PRECISION) / PRECISION;
		return factor === 1 ? [] : [{ ...row, factor }];
	});
}

/** @param clicks by `keyOf`, where not all has room; null: all has */
export function fill(factors: readonly Factor[], clicks: ReadonlyMap<string, number> | null, mostHeld: number): LearnedWire {
	const isAlways = ({ level }: Factor) => level === "link" || level === "publisher";
	const moved = (factor: Factor) => Math.abs(Math.log(factor.factor)) * (clicks?.get(keyOf(factor)) ?? 0);
	const rest = factors.filter((factor) => !isAlways(factor));
	if (clicks !== null) rest.sort((a, b) => moved(b) - moved(a));
	let left = MAX_BYTES - SPARE_BYTES;
	const wire: LearnedWire = { format: BOOK_FORMAT, ...(mostHeld > 1 && { h: Math.ceil(mostHeld * HELD_SCALE) }) };
	for (const factor of [...factors.filter(isAlways), ...rest]) {
		left -= bytesOfFactor(factor);
		if (left < 0) break;
		add(wire, factor);
	}
	return wire;
}

function add(wire: LearnedWire, { level, campaignId, publisherId, name, factor }: Factor): void {
	if (level === "link") {
		wire.links = Object.assign(wire.links ?? {}, { [name]: factor });
		return;
	}
	wire.publishers ??= {};
	const own: PublisherFactorsWire = wire.publishers[publisherId] ?? {};
	wire.publishers[publisherId] = own;
	if (level === "publisher") own.f = factor;
	else if (level === "source") own.s = Object.assign(own.s ?? {}, { [name]: factor });
	else own.c = Object.assign(own.c ?? {}, { [String(campaignId)]: factor });
}

function bytesOfAll(factors: readonly Factor[]): number {
	return factors.reduce((sum, factor) => sum + bytesOfFactor(factor), 0);
}

/** At the most: as if each were the first of its publisher. */
function bytesOfFactor({ campaignId, publisherId, name }: Factor): number {
	return bytesOf(JSON.stringify([publisherId, name, campaignId])) + MEMBER_BYTES;
}

const MEMBER_BYTES = 24;

function keyOf({ level, campaignId, publisherId, name }: Omit<Factor, "factor">): string {
	return JSON.stringify([level, campaignId, publisherId, name]);
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
