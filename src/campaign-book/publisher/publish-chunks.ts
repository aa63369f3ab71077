/** Builds the chunks of facts and links that a publish asks for, and writes to KV those whose content changed. */
import { eq, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { bookChunks } from "../../db/schema/book.ts";
import { buildEntries, NO_VERSION, versionOf } from "../build.ts";
import type { BlockInput } from "../packed/blocks.ts";
import { type ChunkKind, chunkKey } from "../packed/head.ts";
import { packLinks } from "../packed/links.ts";
import { packFacts } from "../packed/pack-facts.ts";
import { shardOf, slotOf, slotsOfShard } from "../slots.ts";
import type { BrandWire } from "../wire.ts";
import { type Budget, discard, putAll, STATEMENTS_A_READ, type WriteDeps } from "./publish-shards.ts";
import { readRows, runsOf } from "./read-rows.ts";

/** A chunk to be written; without bytes there are no entries. */
export type NewChunk = { kind: ChunkKind; bits: number; chunk: number; bytes: Uint8Array | null };

/** A run takes ten statements, those to bake learned prices among them. */
export const READS_A_RUN = 10 / STATEMENTS_A_READ;

/** Facts and links. */
export const KINDS_BY_SLOT = ["f", "l"] as const;

/**
 * Rebuilds the chunks of some places in order, as far as the budget goes. Returns those that are up to date.
 * @param wanted indexes, ascending
 */
export async function writeChunks(deps: WriteDeps, bits: number, wanted: readonly number[], budget: Budget): Promise<Set<number>> {
	const done = new Set<number>();
	for (const run of runsOf(wanted)) {
		const keys = run.length * KINDS_BY_SLOT.length;
		if (budget.readsLeft < READS_A_RUN || budget.shardsLeft < keys) break;
		budget.readsLeft -= READS_A_RUN;
		budget.shardsLeft -= keys;
		const { entries, brands } = await readRows(deps.db, deps.learning, bits, run);
		const byChunk = new Map<number, Map<string, BrandWire[]>>(run.map((chunk) => [chunk, new Map()]));
		for (const [key, wires] of buildEntries(entries, brands)) byChunk.get(shardOf(slotOf(key), bits))?.set(key, wires);
		const blocks = await readBlocks(deps.db, bits, run);
		const chunks: NewChunk[] = [];
		for (const [chunk, held] of byChunk) {
			chunks.push({ kind: "f", bits, chunk, bytes: held.size === 0 ? null : packFacts(held, blocks) });
			chunks.push({ kind: "l", bits, chunk, bytes: held.size === 0 ? null : packLinks(held) });
			done.add(chunk);
		}
		await storeChunks(deps, chunks, budget);
	}
	return done;
}

/** Writes those chunks whose content changed to KV, and records what each holds now. Two statements, and four where one changed. */
export async function storeChunks(
	{ db, kv, now }: Pick<WriteDeps, "db" | "kv" | "now">,
	chunks: readonly NewChunk[],
	budget: Budget,
): Promise<void> {
	const places = JSON.stringify(chunks.map(({ kind, bits, chunk }) => ({ kind, bits, chunk })));
	const rows = await db.all<{ kind: string; bits: number; chunk: number; version: string; writtenAt: number }>(
		sql`SELECT kind, bits, chunk, version, written_at AS "writtenAt" FROM book_chunks WHERE (kind, bits, chunk) IN (
			SELECT value ->> 'kind', CAST(value ->> 'bits' AS BIGINT), CAST(value ->> 'chunk' AS BIGINT) FROM json_each(${places}))`,
	);
	const known = new Map(rows.map((row) => [`${row.kind} ${row.bits} ${row.chunk}`, row]));
	const changed: (NewChunk & { version: string })[] = [];
	const replaced: string[] = [];
	for (const chunk of chunks) {
		const version = chunk.bytes === null ? "" : await versionOf(chunk.bytes);
		const recorded = known.get(`${chunk.kind} ${chunk.bits} ${chunk.chunk}`);
		if (recorded?.version === version && recorded.writtenAt !== 0) continue;
		changed.push({ ...chunk, version });
		const before = recorded?.version ?? "";
		if (before !== "" && before !== version) replaced.push(chunkKey(chunk.kind, chunk.bits, chunk.chunk, before));
	}
	if (changed.length === 0) return;
	const values = changed.flatMap(({ kind, bits, chunk, version, bytes }) =>
		bytes === null ? [] : [{ key: chunkKey(kind, bits, chunk, version), value: bytes.slice().buffer }],
	);
	await putAll(kv, values);
	const recorded = changed.map(({ kind, bits, chunk, version, bytes }) => ({
		kind,
		bits,
		chunk,
		version,
		bytes: bytes?.length ?? 0,
		writtenAt: now(),
	}));
	await runTransaction(db, [
		insertRows(
			bookChunks,
			recorded,
			sql`ON CONFLICT (kind, bits, chunk) DO UPDATE SET version = excluded.version, bytes = excluded.bytes, written_at = excluded.written_at`,
		),
		...discard(
			replaced,
			values.map(({ key }) => key),
			now(),
		),
	]);
	budget.written += values.length;
	budget.bytes += values.reduce((total, { value }) => total + value.byteLength, 0);
}

/** Which publishers may not promote the brands of neighbouring chunks, by the brand's domain. */
async function readBlocks(db: Database, bits: number, run: readonly number[]): Promise<Map<string, BlockInput[]>> {
	const { first } = slotsOfShard(run[0] ?? 0, bits);
	const { last } = slotsOfShard(run.at(-1) ?? 0, bits);
	const rows = await db.all<{ domain: string; publisher: number; country: string }>(
		sql`SELECT b.domain, n.number AS publisher, s.country FROM stops s
			JOIN brands b ON b.domain = s.domain JOIN publisher_numbers n ON n.publisher_id = substr(s.subject, 11)
			WHERE s.reason = 'blocked' AND s.domain <> '' AND b.id IN (SELECT brand_id FROM book_keys WHERE slot BETWEEN ${first} AND ${last})
			ORDER BY b.domain, n.number, s.country`,
	);
	const blocks = new Map<string, BlockInput[]>();
	for (const { domain, publisher, country } of rows) {
		const ofBrand = blocks.get(domain) ?? [];
		blocks.set(domain, ofBrand);
		const last = ofBrand.at(-1);
		// The empty country, which is every one, comes first: no further one narrows it.
		if (last?.publisher !== publisher) ofBrand.push({ publisher, countries: country === "" ? [] : [country] });
		else if (last.countries.length > 0) ofBrand[ofBrand.length - 1] = { publisher, countries: [...last.countries, country] };
	}
	return blocks;
}

/** The versions that a head names of one kind. */
export async function readVersions(db: Database, kind: ChunkKind, bits: number): Promise<{ versions: string; bytes: number }> {
	const versions = new Array<string>(2 ** bits).fill(NO_VERSION);
	let bytes = 0;
	for (const row of await db.select().from(bookChunks).where(eq(bookChunks.kind, kind))) {
		if (row.bits !== bits || row.version === "") continue;
		versions[row.chunk] = row.version;
		bytes += row.bytes;
	}
	return { versions: versions.join(""), bytes };
}
