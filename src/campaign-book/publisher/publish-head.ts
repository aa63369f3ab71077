/** Makes the head of a packed book, with the chunks that are not by slots: publishers and filters. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { hashOf } from "../../lib/hash.ts";
import { utf8 } from "../../lib/utf8.ts";
import { SPREAD_MS } from "../format.ts";
import { buildFilter } from "../packed/fuse-filter.ts";
import { FILTER_SPAN_BITS, type Head, PACKED_FORMAT } from "../packed/head.ts";
import { writePublishers } from "../packed/publishers.ts";
import { slotsOfShard } from "../slots.ts";
import type { PublisherWire } from "../wire.ts";
import { type NewChunk, readVersions, storeChunks } from "./publish-chunks.ts";
import type { Budget } from "./publish-shards.ts";

type HeadDeps = { db: Database; kv: KVNamespace; now: () => number };

/** From this many chunks of facts on a book has filters: a smaller one fits every isolate. */
const LEAST_FILTERED_BITS = 8;

/** Gives each publisher that has none a number, under the lease of a publish. */
export async function numberPublishers(db: Database): Promise<void> {
	await db.run(sql`INSERT INTO publisher_numbers (publisher_id, number)
		SELECT id, (SELECT coalesce(max(number), 0) FROM publisher_numbers) + row_number() OVER (ORDER BY id) FROM publishers
		WHERE id NOT IN (SELECT publisher_id FROM publisher_numbers) ON CONFLICT DO NOTHING`);
}

export type HeadContents = {
	version: number;
	bits: number;
	publishers: readonly PublisherWire[];
	/** What the network itself sets. */
	parts: Pick<Head, "traffic" | "learned">;
	/** Chunks of facts whose keys may have changed; null for all of them. */
	touched: ReadonlySet<number> | null;
};

/** The head, once every chunk that it names is in KV. */
export async function buildHead(
	deps: HeadDeps,
	{ version, bits, publishers, parts, touched }: HeadContents,
	budget: Budget,
): Promise<Head> {
	const { db, now } = deps;
	const held = await storePublishers(deps, publishers, budget);
	if (bits >= LEAST_FILTERED_BITS) await storeFilters(deps, bits, touched, budget);
	const facts = await readVersions(db, "f", bits);
	const links = await readVersions(db, "l", bits);
	const filters = bits < LEAST_FILTERED_BITS ? null : await readVersions(db, "x", bits - FILTER_SPAN_BITS);
	const spread = await readSpreadChunks(db, bits, held.bits, now());
	return {
		format: PACKED_FORMAT,
		version,
		publishedAt: now(),
		bits,
		bytes: facts.bytes,
		facts: facts.versions,
		links: links.versions,
		filters: filters?.versions ?? "",
		publisherBits: held.bits,
		publishers: held.text ?? (await readVersions(db, "p", held.bits)).versions,
		...parts,
		...(spread !== null && { spread }),
	};
}

/** Numbers that publishers have. */
export async function readNumbers(db: Database): Promise<Map<string, number>> {
	const rows = await db.all<{ id: string; number: number }>(sql`SELECT publisher_id AS id, number FROM publisher_numbers`);
	return new Map(rows.map(({ id, number }) => [id, number]));
}

async function storePublishers(
	deps: HeadDeps,
	publishers: readonly PublisherWire[],
	budget: Budget,
): Promise<{ bits: number; text: string | null }> {
	const { bits, texts, inHead } = writePublishers(publishers);
	if (inHead) return { bits, text: texts[0] ?? "" };
	const chunks = texts.map((text, chunk): NewChunk => ({ kind: "p", bits, chunk, bytes: text === "" ? null : utf8(text) }));
	await storeChunks(deps, chunks, budget);
	return { bits, text: null };
}

async function storeFilters(deps: HeadDeps, bits: number, touched: ReadonlySet<number> | null, budget: Budget): Promise<void> {
	const filterBits = bits - FILTER_SPAN_BITS;
	const rows = await deps.db.all<{ chunk: number }>(
		sql`SELECT chunk FROM book_chunks WHERE kind = 'x' AND bits = ${filterBits} AND written_at <> 0`,
	);
	const written = new Set(touched === null ? [] : rows.map(({ chunk }) => chunk));
	const ofTouched = new Set([...(touched ?? [])].map((index) => index >>> FILTER_SPAN_BITS));
	// Of a book that got more chunks just now none is written yet, also where the publish that should have done so broke off.
	const wanted = Array.from({ length: 2 ** filterBits }, (_, index) => index).filter(
		(index) => ofTouched.has(index) || !written.has(index),
	);
	const chunks: NewChunk[] = [];
	for (const chunk of wanted) {
		const { first, last } = slotsOfShard(chunk, filterBits);
		const keys = await deps.db.all<{ key: string }>(sql`SELECT DISTINCT key FROM book_keys WHERE slot BETWEEN ${first} AND ${last}`);
		const bytes = keys.length === 0 ? null : buildFilter(keys.map(({ key }) => hashOf(key)));
		chunks.push({ kind: "x", bits: filterBits, chunk, bytes });
	}
	// Together: there may be dozens, which no budget counts.
	if (chunks.length > 0) await storeChunks(deps, chunks, budget);
}

/** The head's `spread`: chunks that were replaced less than SPREAD_MS before, by the version that was the first of them to be; null for none. */
async function readSpreadChunks(db: Database, bits: number, publisherBits: number, now: number): Promise<Record<string, string> | null> {
	const replaced = await db.all<{ key: string }>(
		sql`SELECT key FROM book_garbage WHERE replaced_at > ${now - SPREAD_MS} ORDER BY replaced_at DESC, key`,
	);
	const present = new Map([
		["f", bits],
		["l", bits],
		["p", publisherBits],
	]);
	const spread: Record<string, string> = {};
	for (const { key } of replaced) {
		const [, kind = "", ofBits = "", index = "", version = ""] = key.split(":");
		if (present.get(kind) === Number(ofBits)) spread[`${kind}:${index}`] = version;
	}
	return Object.keys(spread).length === 0 ? null : spread;
}
