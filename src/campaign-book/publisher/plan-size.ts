/** Decides in which format and how many shards the book is to be. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import type { bookState } from "../../db/schema/book.ts";
import { bitsFor, TARGET_SHARD_BYTES } from "../build.ts";
import type { BOOK_FORMAT } from "../format.ts";
import { PACKED_FORMAT } from "../packed/head.ts";

export type BookFormat = typeof BOOK_FORMAT | typeof PACKED_FORMAT;

/** What is published, and what is being built beside it. */
export type State = typeof bookState.$inferSelect;

/** From this many dirty slots on, the size of the book is estimated by its entries; below, by its present shards. */
const MANY_SLOTS = 1_000;
/** Usual sizes of entries, in bytes: a brand with its campaigns and links, and a brand's part of a keyword. */
const BYTES_PER_HOST = 500;
const BYTES_PER_KEYWORD = 180;

/** The same in chunks of facts. */
const FACTS_BYTES_PER_HOST = 110;
const FACTS_BYTES_PER_KEYWORD = 60;

/** Decides whether the book needs another format or number of shards. With room to both sides, so that it does not go to and fro. */
export async function planSize(db: Database, state: State, dirtySlots: number, format: BookFormat): Promise<State> {
	if (state.nextBits !== null) return state;
	// A book that nobody has read yet has no format to keep to.
	if (state.version === 0) state = { ...state, format };
	const isOther = state.format !== format;
	const bytes = await bookBytes(db, state, isOther ? MANY_SLOTS : dirtySlots, format);
	const wanted = bitsFor(bytes);
	if (isOther) return { ...state, nextFormat: format, nextBits: wanted, nextDone: 0 };
	const perShard = bytes / 2 ** state.bits;
	const fits = perShard <= TARGET_SHARD_BYTES * 1.5 && (perShard >= TARGET_SHARD_BYTES / 8 || state.bits === 0);
	return fits || wanted === state.bits ? state : { ...state, nextFormat: null, nextBits: wanted, nextDone: 0 };
}

async function bookBytes(db: Database, state: State, dirtySlots: number, format: BookFormat): Promise<number> {
	const isPacked = format === PACKED_FORMAT;
	if (dirtySlots >= MANY_SLOTS) {
		const { entries, hosts } = await db.get<{ entries: number; hosts: number }>(
			sql`SELECT count(*) AS entries, count(CASE WHEN key < 'e' THEN 1 END) AS hosts FROM book_keys`,
		);
		const keywords = entries - hosts;
		return isPacked
			? hosts * FACTS_BYTES_PER_HOST + keywords * FACTS_BYTES_PER_KEYWORD
			: hosts * BYTES_PER_HOST + keywords * BYTES_PER_KEYWORD;
	}
	const { bytes } = await db.get<{ bytes: number }>(
		isPacked
			? sql`SELECT coalesce(sum(bytes), 0) AS bytes FROM book_chunks WHERE kind = 'f' AND bits = ${state.bits}`
			: sql`SELECT coalesce(sum(bytes), 0) AS bytes FROM book_shards WHERE bits = ${state.bits}`,
	);
	return bytes;
}
