/** Writes `book:learned`: what prices are multiplied by beyond what is baked into the book. */
import { sql } from "drizzle-orm";
import { BOOK_FORMAT, HELD_SCALE } from "../campaign-book/format.ts";
import { LEARNED_KEY, type LearnedWire, type PublisherFactorsWire } from "../campaign-book/learned.ts";
import type { Database } from "../db/client.ts";
import { OTHER_SOURCES } from "../learning/cell.ts";
import type { FactorEvidence } from "../learning/factor.ts";
import { MAX_SOURCES } from "../learning/sources.ts";
import { readPublished, type StoredLearning } from "../learning/stored.ts";
import { bytesOf } from "../lib/split-by-bytes.ts";

/** Isolates read it with every manifest. */
const MAX_BYTES = 64 * 1024;
/** Of the JSON around what is listed, and of what holds for other sources. */
const SPARE_BYTES = 4_096;
/** Factors are told to this part. */
const PRECISION = 10_000;
const CAMPAIGNS_A_PAGE = 200;

type FactorLevel = "campaign_publisher" | "publisher" | "source" | "link";
type FactorRow = { level: FactorLevel; campaignId: number; publisherId: string; name: string; published: string };
type Factor = Omit<FactorRow, "published"> & { factor: number };

/** By publisher, of those whose places are all taken: the sources that are followed singly. */
type Followed = ReadonlyMap<string, readonly string[]>;

/** Writes the key where it has changed. Kinds of links and publishers always, then what moves the most money, as far as there is room. */
export async function writeLearnedKey(db: Database, kv: KVNamespace): Promise<void> {
	const followed = await readFollowed(db);
	const factors = await readFactors(db, followed);
	const [held] = await db.all<{ most: number | null }>(sql`SELECT max(CAST(steering ->> 'bidCreep' AS REAL)) AS most
		FROM learning_campaigns WHERE steering IS NOT NULL`);
	const most = Math.max(1, held?.most ?? 1);
	const clicks = bytesOfAll(factors) <= MAX_BYTES - SPARE_BYTES ? null : await readClicks(db, factors);
	const text = JSON.stringify(fill(factors, clicks, most, followed));
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

/** @param clicks by `keyOf`, where not all has room; null: all has */
export function fill(
	factors: readonly Factor[],
	clicks: ReadonlyMap<string, number> | null,
	mostHeld: number,
	followed: Followed = new Map(),
): LearnedWire {
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
	for (const [publisherId, sources] of followed) {
		const own = wire.publishers?.[publisherId];
		const others = own?.s?.[OTHER_SOURCES];
		// Where not all that are followed have room, one that has none may be bid less than it earned, and never more.
		if (own !== undefined && others !== undefined && (others < 1 || sources.every((source) => own.s?.[source] !== undefined)))
			own.o = others;
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
