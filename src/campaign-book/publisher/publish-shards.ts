/** Builds the shards a publish asks for, and writes to KV those whose content changed. */
import { eq, type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { bookShards } from "../../db/schema/book.ts";
import type { Operated } from "../../lib/operations.ts";
import { buildShards, versionOf } from "../build.ts";
import { shardKey } from "../format.ts";
import { type Learning, STATEMENTS_TO_BAKE } from "./bake-prices.ts";
import { readRows, runsOf, SHARDS_PER_READ } from "./read-rows.ts";

/** What a publish may still do. */
export type Budget = { shardsLeft: number; readsLeft: number; written: number; bytes: number };

/** What it may take where nothing else is known: the rest of the invocation's thousand is for what an import does before it, and caps after it. */
const OF_AN_IMPORT: Operated = { statements: 700, keys: 800 };
/** What a publish takes besides its shards: lease, state, marks and manifest; of KV the manifest, and a listing of all shards. */
const FIXED: Operated = { statements: 35, keys: 40 };
/** Reading a run of neighbouring shards is three statements, and recording what was written three more. */
export const STATEMENTS_A_READ = 6;
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

/** What shards and chunks are written with. */
export type WriteDeps = {
	db: Database;
	kv: KVNamespace;
	now: () => number;
	learning: Learning;
};

/** Reads of a budget that one read is, with learned prices in it. */
export const READS_WITH_PRICES = 1 + STATEMENTS_TO_BAKE / STATEMENTS_A_READ;

type Written = { shard: number; version: string; bytes: number };

/**
 * Rebuilds shards in order, as far as the budget goes, and records what they hold now. Returns those that are up to date.
 * @param wanted shard indexes, ascending
 */
export async function writeShards(deps: WriteDeps, bits: number, wanted: readonly number[], budget: Budget): Promise<Set<number>> {
	const { db } = deps;
	const known = new Map((await db.select().from(bookShards).where(eq(bookShards.bits, bits))).map((row) => [row.shard, row]));
	const done = new Set<number>();
	for (const run of runsOf(wanted)) {
		if (budget.readsLeft < READS_WITH_PRICES || budget.shardsLeft < run.length) break;
		budget.readsLeft -= READS_WITH_PRICES;
		budget.shardsLeft -= run.length;
		const { entries, brands } = await readRows(db, deps.learning, bits, run);
		const texts = buildShards(entries, brands, bits);
		const changed: (Written & { text: string })[] = [];
		for (const shard of run) {
			const text = texts.get(shard) ?? "";
			const version = text === "" ? "" : await versionOf(text);
			const recorded = known.get(shard);
			if (recorded?.version !== version || recorded.writtenAt === 0) changed.push({ shard, version, bytes: text.length, text });
			done.add(shard);
		}
		await putAll(
			deps.kv,
			changed.filter(({ text }) => text !== "").map(({ shard, version, text }) => ({ key: shardKey(bits, shard, version), value: text })),
		);
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

async function record(db: Database, bits: number, written: readonly Written[], replaced: readonly string[], now: number): Promise<void> {
	if (written.length === 0) return;
	const rows = written.map(({ shard, version, bytes }) => ({ bits, shard, version, bytes, writtenAt: now }));
	const kept = written.map(({ shard, version }) => shardKey(bits, shard, version));
	await runTransaction(db, [
		insertRows(
			bookShards,
			rows,
			sql`ON CONFLICT (bits, shard) DO UPDATE SET version = excluded.version, bytes = excluded.bytes, written_at = excluded.written_at`,
		),
		...discard(replaced, kept, now),
	]);
}

/** The replaced keys go later; those that hold what an earlier version did stay. */
export function discard(replaced: readonly string[], kept: readonly string[], now: number): SQL[] {
	return [
		sql`INSERT INTO book_garbage (key, replaced_at)
			SELECT atom, CAST(${now} AS BIGINT) FROM json_each(${JSON.stringify(replaced)}) WHERE true
			ON CONFLICT (key) DO UPDATE SET replaced_at = excluded.replaced_at`,
		sql`DELETE FROM book_garbage WHERE key IN (SELECT atom FROM json_each(${JSON.stringify(kept)}))`,
	];
}

/** Writes to KV, as many at once as an invocation may have connections. */
export async function putAll(kv: KVNamespace, values: readonly { key: string; value: string | ArrayBuffer }[]): Promise<void> {
	for (let at = 0; at < values.length; at += MAX_CONCURRENT_WRITES) {
		await Promise.all(values.slice(at, at + MAX_CONCURRENT_WRITES).map(({ key, value }) => kv.put(key, value)));
	}
}
