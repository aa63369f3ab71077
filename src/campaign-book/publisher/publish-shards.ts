/** Builds the shards a publish asks for, and writes to KV those whose content changed. */
import { between, eq, inArray, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { bookShards } from "../../db/schema/book.ts";
import { bookKeys, brands, campaigns } from "../../db/schema/brands.ts";
import { platforms } from "../../db/schema/platforms.ts";
import type { Operated } from "../../lib/operations.ts";
import type { TrafficSettings } from "../../lib/traffic-rules.ts";
import { type BookEntry, type BrandInput, buildShards, type CampaignInput, versionOf } from "../build.ts";
import { shardKey } from "../format.ts";
import { slotsOfShard } from "../slots.ts";

/** What a publish may still do. */
export type Budget = { shardsLeft: number; readsLeft: number; written: number; bytes: number };

/** What it may take where nothing else is known: the rest of the invocation's thousand is for what an import does before it, and caps after it. */
const OF_AN_IMPORT: Operated = { statements: 700, keys: 800 };
/** What a publish takes besides its shards: lease, state, marks and manifest; of KV the manifest, and a listing of all shards. */
const FIXED: Operated = { statements: 35, keys: 40 };
/** Reading a run of neighbouring shards is three statements, and recording what was written three more. */
const STATEMENTS_A_READ = 6;
/** Neighbouring shards read together. */
const SHARDS_PER_READ = 6;
const MAX_CONCURRENT_WRITES = 6;

/** With less left a publish would come to nothing. */
export const LEAST_PUBLISH: Operated = { statements: FIXED.statements + 10 * STATEMENTS_A_READ, keys: FIXED.keys + 10 * SHARDS_PER_READ };

/** @param left what the invocation may still do: no more of it is used than there is */
export function newBudget(left: Operated = OF_AN_IMPORT): Budget {
	return {
		shardsLeft: Math.max(0, left.keys - FIXED.keys),
		readsLeft: Math.max(0, Math.floor((left.statements - FIXED.statements) / STATEMENTS_A_READ)),
		written: 0,
		bytes: 0,
	};
}

type Written = { shard: number; version: string; bytes: number };

/**
 * Rebuilds shards in order, as far as the budget goes, and records what they hold now. Returns those that are up to date.
 * @param wanted shard indexes, ascending
 */
export async function writeShards(
	deps: { db: Database; kv: KVNamespace; now: () => number },
	bits: number,
	wanted: readonly number[],
	budget: Budget,
): Promise<Set<number>> {
	const { db } = deps;
	const known = new Map((await db.select().from(bookShards).where(eq(bookShards.bits, bits))).map((row) => [row.shard, row]));
	const done = new Set<number>();
	for (const run of runsOf(wanted)) {
		if (budget.readsLeft === 0 || budget.shardsLeft < run.length) break;
		budget.readsLeft--;
		budget.shardsLeft -= run.length;
		const texts = await readShards(db, bits, run);
		const changed: (Written & { text: string })[] = [];
		for (const shard of run) {
			const text = texts.get(shard) ?? "";
			const version = text === "" ? "" : await versionOf(text);
			const recorded = known.get(shard);
			if (recorded?.version !== version || recorded.writtenAt === 0) changed.push({ shard, version, bytes: text.length, text });
			done.add(shard);
		}
		await putShards(deps.kv, bits, changed);
		const replaced = changed.flatMap(({ shard }) => {
			const old = known.get(shard)?.version ?? "";
			return old === "" ? [] : [shardKey(bits, shard, old)];
		});
		await record(db, bits, changed, replaced, deps.now());
		budget.written += changed.filter(({ text }) => text !== "").length;
		budget.bytes += changed.reduce((total, { bytes }) => total + bytes, 0);
	}
	return done;
}

/** Cuts ascending indexes into runs of neighbours, at most SHARDS_PER_READ long. */
function runsOf(indexes: readonly number[]): number[][] {
	const runs: number[][] = [];
	for (const index of indexes) {
		const run = runs.at(-1);
		if (run !== undefined && run.length < SHARDS_PER_READ && run.at(-1) === index - 1) run.push(index);
		else runs.push([index]);
	}
	return runs;
}

async function putShards(kv: KVNamespace, bits: number, shards: readonly (Written & { text: string })[]): Promise<void> {
	const puts = shards.filter(({ text }) => text !== "");
	for (let at = 0; at < puts.length; at += MAX_CONCURRENT_WRITES) {
		await Promise.all(
			puts.slice(at, at + MAX_CONCURRENT_WRITES).map(({ shard, version, text }) => kv.put(shardKey(bits, shard, version), text)),
		);
	}
}

async function record(db: Database, bits: number, written: readonly Written[], replaced: readonly string[], now: number): Promise<void> {
	if (written.length === 0) return;
	const rows = written.map(({ shard, version, bytes }) => ({ bits, shard, version, bytes, writtenAt: now }));
	const kept = JSON.stringify(written.map(({ shard, version }) => shardKey(bits, shard, version)));
	await runTransaction(db, [
		insertRows(
			bookShards,
			rows,
			sql`ON CONFLICT (bits, shard) DO UPDATE SET version = excluded.version, bytes = excluded.bytes, written_at = excluded.written_at`,
		),
		sql`INSERT INTO book_garbage (key, replaced_at)
			SELECT atom, CAST(${now} AS BIGINT) FROM json_each(${JSON.stringify(replaced)}) WHERE true
			ON CONFLICT (key) DO UPDATE SET replaced_at = excluded.replaced_at`,
		sql`DELETE FROM book_garbage WHERE key IN (SELECT atom FROM json_each(${kept}))`,
	]);
}

/** The texts of neighbouring shards, from one read of the database. */
async function readShards(db: Database, bits: number, run: readonly number[]): Promise<Map<number, string>> {
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
			})
			.from(brands)
			.where(inArray(brands.id, brandIds)),
		db
			.select({ campaign: campaigns, platformId: platforms.platformId })
			.from(campaigns)
			.leftJoin(platforms, eq(platforms.id, campaigns.platform))
			.where(inArray(campaigns.brandId, brandIds)),
	]);
	return buildShards(entries satisfies BookEntry[], collect(brandRows, campaignRows), bits);
}

type BrandRow = Pick<typeof brands.$inferSelect, "id" | "domain" | "active" | "aliases" | "blockedCountries">;
type CampaignRow = { campaign: typeof campaigns.$inferSelect; platformId: number | null };

function collect(brandRows: readonly BrandRow[], campaignRows: readonly CampaignRow[]): Map<number, BrandInput> {
	const byBrand = new Map<number, CampaignInput[]>();
	for (const { campaign, platformId } of campaignRows) {
		const input: CampaignInput = {
			...campaign,
			platformId,
			keywordEpcMicros: JSON.parse(campaign.keywordEpcMicros),
			traffic: campaign.traffic === null ? null : (JSON.parse(campaign.traffic) as TrafficSettings),
		};
		const siblings = byBrand.get(campaign.brandId);
		if (siblings === undefined) byBrand.set(campaign.brandId, [input]);
		else siblings.push(input);
	}
	return new Map(
		brandRows.map((row) => [
			row.id,
			{
				...row,
				aliases: JSON.parse(row.aliases) as string[],
				blockedCountries: JSON.parse(row.blockedCountries) as string[],
				campaigns: byBrand.get(row.id) ?? [],
			},
		]),
	);
}
