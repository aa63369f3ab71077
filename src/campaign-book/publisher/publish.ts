/**
 * Publishes the campaign book: D1 → KV. Only shards whose content changed are written, under new keys, and the manifest last,
 * so that a reader has the old book or the new one. What an invocation's limits leave over stays marked for the next.
 */
import { and, asc, eq, gt, lt, ne, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { bookDirtySlots, bookGarbage, bookShards, bookState, MANIFEST_CHANGED, MANIFEST_UNDER_WAY } from "../../db/schema/book.ts";
import type { Operated } from "../../lib/operations.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { BOOK_FORMAT, MANIFEST_KEY, parseManifest, SHARD_PREFIX } from "../format.ts";
import { FILTER_SPAN_BITS, holdsPublishers, PACKED_FORMAT } from "../packed/head.ts";
import { shardOf } from "../slots.ts";
import { readLearning } from "./bake-prices.ts";
import { buildManifest, buildPacked } from "./build-manifest.ts";
import { type BookFormat, planSize, type State } from "./plan-size.ts";
import { KINDS_BY_SLOT, READS_A_RUN, writeChunks } from "./publish-chunks.ts";
import { numberPublishers } from "./publish-head.ts";
import { type Budget, newBudget, READS_WITH_PRICES, type WriteDeps, writeShards } from "./publish-shards.ts";
import { SHARDS_PER_READ } from "./read-rows.ts";
import { reconcileChunks } from "./reconcile-chunks.ts";
import { isSpread, isUnknownBook, type ReconcileDeps, reconcileShards, versionOfManifest } from "./reconcile-shards.ts";

export type PublishDeps = ReconcileDeps & {
	/** The format to publish in: 2 for a packed book; absent: 1. */
	bookFormat?: BookFormat;
};

export type PublishResult = {
	/** Version that readers now get; unchanged where there was nothing to publish. */
	version: number;
	/** False where shards are left for the next run. */
	complete: boolean;
	shardsWritten: number;
	bytesWritten: number;
	/** The manifest that was written, as text; null where none was. */
	manifest: string | null;
};

/** Another invocation is publishing. */
export class PublishBusyError extends Error {
	override readonly name = "PublishBusyError";
}

const LEASE_MS = 2 * MINUTE_MS;
/** Replaced shards outlive every cache and every isolate that still uses an old manifest. */
const GARBAGE_LIFE_MS = 2 * DAY_MS;
const MAX_DELETES_PER_RUN = 200;
/** Deleted together: as many connections as an invocation may have open. */
const MAX_CONCURRENT_DELETES = 6;

/** Shards of a book that is to be doubled more often than this are not rewritten while the next one is built. */
const MAX_DOUBLINGS = 3;

type DirtySlot = typeof bookDirtySlots.$inferSelect;

/**
 * Publishes what has changed.
 * @param check true to look whether KV has all that it should have, which takes a listing of it
 * @param left what the invocation may still do; what is more is left to the next
 * @throws PublishBusyError where another publisher holds the lease
 */
export async function publishBook(deps: PublishDeps, check = false, left?: Operated): Promise<PublishResult> {
	return withLease(deps, (lease) => publishUnderLease(deps, lease, check, newBudget(left)));
}

const PATIENCE_MS = 30 * SECOND_MS;

/** Publishes, waiting for another publisher to end. @throws PublishBusyError where that takes too long */
export async function publishBookPatiently(deps: PublishDeps): Promise<PublishResult> {
	const until = deps.now() + PATIENCE_MS;
	for (;;) {
		try {
			return await publishBook(deps);
		} catch (error) {
			if (!(error instanceof PublishBusyError) || deps.now() >= until) throw error;
			await scheduler.wait(250);
		}
	}
}

/**
 * Deletes shards that were replaced long ago. Returns how many were looked at.
 * @param left what the invocation may still do
 * @throws PublishBusyError where a publisher is at work: it may be writing one of them again
 */
export async function sweepBook(deps: PublishDeps, left: Operated = { statements: 100, keys: 200 }): Promise<number> {
	const { db, kv, now } = deps;
	const most = Math.min(MAX_DELETES_PER_RUN, left.keys - 1, MAX_CONCURRENT_DELETES * (left.statements - SWEEP_STATEMENTS));
	if (most <= 0) return 0;
	const old = await db
		.select()
		.from(bookGarbage)
		.where(lt(bookGarbage.replacedAt, now() - GARBAGE_LIFE_MS))
		.limit(most);
	if (old.length === 0) return 0;
	await withLease(deps, async () => {
		for (let at = 0; at < old.length; at += MAX_CONCURRENT_DELETES) {
			// A shard that came back to an old content uses its old key again: then it is no garbage any more.
			const gone = await db.all<{ key: string }>(sql`DELETE FROM book_garbage WHERE (key, replaced_at) IN (
				SELECT value ->> 'key', CAST(value ->> 'replacedAt' AS BIGINT) FROM json_each(${JSON.stringify(old.slice(at, at + MAX_CONCURRENT_DELETES))}))
				RETURNING key`);
			await Promise.all(gone.map(({ key }) => kv.delete(key)));
		}
	});
	return old.length;
}

/** What a sweep takes beside those that delete: what is old, the lease, and its end. */
const SWEEP_STATEMENTS = 3;

async function withLease<Value>(deps: PublishDeps, work: (lease: string) => Promise<Value>): Promise<Value> {
	const lease = await takeLease(deps);
	try {
		return await work(lease);
	} finally {
		await deps.db.update(bookState).set({ leaseToken: null, leaseUntil: 0 }).where(eq(bookState.leaseToken, lease));
	}
}

async function takeLease({ db, now }: PublishDeps): Promise<string> {
	const lease = crypto.randomUUID();
	const taken = await db
		.update(bookState)
		.set({ leaseToken: lease, leaseUntil: now() + LEASE_MS })
		.where(lt(bookState.leaseUntil, now()))
		.returning({ id: bookState.id });
	if (taken.length === 0) throw new PublishBusyError("another publisher is at work");
	return lease;
}

async function publishUnderLease(deps: PublishDeps, lease: string, check: boolean, budget: Budget): Promise<PublishResult> {
	const { db, kv, bookFormat = BOOK_FORMAT } = deps;
	const inKv = await kv.get(MANIFEST_KEY);
	let stored = await readState(db);
	const isUnknown = isUnknownBook(stored, inKv, deps.now());
	if (isUnknown || check) {
		await reconcileShards(deps, isUnknown);
		await reconcileChunks(deps, isUnknown);
		stored = await readState(db);
		// Older, and no stale cache any more: another publisher's last write came too late.
		const seen = versionOfManifest(inKv);
		const isStale = seen > 0 && seen < stored.version && isSpread(stored.publishedAt, deps.now());
		if (check && (isStale || isOfEarlierCode(inKv))) stored.manifestDirty = MANIFEST_CHANGED;
	}
	const dirty = await db.select().from(bookDirtySlots).orderBy(asc(bookDirtySlots.slot));
	if (dirty.length === 0 && stored.manifestDirty === 0 && stored.nextBits === null && stored.format === bookFormat) {
		return { version: stored.version, complete: true, shardsWritten: 0, bytesWritten: 0, manifest: null };
	}
	// Before anything is read that the book is made of.
	await db.update(bookState).set({ manifestDirty: MANIFEST_UNDER_WAY }).where(eq(bookState.leaseToken, lease));
	if (bookFormat === PACKED_FORMAT) await numberPublishers(db);
	const state = await planSize(db, stored, dirty.length, bookFormat);
	const { bits: bitsBefore, format: formatBefore } = state;
	const learning = await readLearning(db, deps.now());
	const seen = await rebuild({ ...deps, learning }, state, dirty, budget);
	const isRebuilt = state.bits !== bitsBefore || state.format !== formatBefore;
	// The book may have grown while it was rebuilt: then the next run continues with the next size.
	if (state.nextBits === null) Object.assign(state, await planSize(db, state, 0, bookFormat));
	const version = Math.max(state.version, versionOfManifest(inKv)) + 1;
	const mine = await db
		.update(bookState)
		.set({
			version,
			publishedAt: deps.now(),
			format: state.format,
			bits: state.bits,
			nextFormat: state.nextFormat,
			nextBits: state.nextBits,
			nextDone: state.nextDone,
		})
		.where(and(eq(bookState.leaseToken, lease), gt(bookState.leaseUntil, deps.now())))
		.returning({ id: bookState.id });
	if (mine.length === 0) throw new PublishBusyError("the lease ran out while publishing");
	const touched = isRebuilt ? null : new Set(shardsOf(seen, state.bits));
	const complete = seen.length === dirty.length && state.nextBits === null;
	// Until the last learned price has left the book its guards hold.
	const learned = learning.setsPrices || (!complete && inKv?.includes('"learned":1') === true);
	const head =
		state.format === PACKED_FORMAT
			? await buildPacked({ ...deps, learning }, { version, bits: state.bits, touched, learned }, budget)
			: null;
	const manifest = JSON.stringify(head ?? (await buildManifest({ ...deps, learning }, version, state.bits, learned)));
	await kv.put(MANIFEST_KEY, manifest);
	await forget(deps, lease, seen, state, head === null || holdsPublishers(head) ? null : head.publisherBits);
	return { version, complete, shardsWritten: budget.written, bytesWritten: budget.bytes, manifest };
}

async function readState(db: Database): Promise<State> {
	const [state] = await db.select().from(bookState);
	if (state === undefined) throw new Error("book_state has no row: the migrations did not run");
	return state;
}

/**
 * Rewrites the shards of dirty slots as far as the budget goes, and continues a change of the number of shards: once all of
 * the new ones are written, `state` moves over to them. Returns the dirty slots that are dealt with.
 */
async function rebuild(deps: WriteDeps, state: State, dirty: readonly DirtySlot[], budget: Budget): Promise<DirtySlot[]> {
	const { bits, nextBits } = state;
	const nextFormat = state.nextFormat ?? state.format;
	const atOnce = nextBits !== null && state.nextDone === 0 && fits(nextFormat, nextBits, budget);
	// Shards that would be far too large are not built any more: their changes come with the next book.
	const outgrown = nextBits !== null && nextBits - bits > MAX_DOUBLINGS;
	let seen = [...dirty];
	if (!atOnce && !outgrown) {
		const done = await write(deps, state.format, bits, shardsOf(dirty, bits), budget);
		seen = dirty.filter(({ slot }) => done.has(shardOf(slot, bits)));
	}
	if (nextBits === null) return seen;
	// The part of the next book that is already written must not miss these changes.
	const again = shardsOf(seen, nextBits).filter((index) => index < state.nextDone);
	const redone = await write(deps, nextFormat, nextBits, again, budget);
	seen = seen.filter(({ slot }) => shardOf(slot, nextBits) >= state.nextDone || redone.has(shardOf(slot, nextBits)));
	const rest = Array.from({ length: 2 ** nextBits - state.nextDone }, (_, at) => state.nextDone + at);
	const done = await write(deps, nextFormat, nextBits, rest, budget);
	state.nextDone += done.size;
	// Against what was expected: the present book still lacks the changes.
	if (state.nextDone < 2 ** nextBits) return atOnce ? [] : seen;
	state.format = nextFormat;
	state.bits = nextBits;
	state.nextFormat = null;
	state.nextBits = null;
	state.nextDone = 0;
	return seen;
}

/** Whether a whole book can be written. */
function fits(format: number, bits: number, { shardsLeft, readsLeft }: Budget): boolean {
	const [keys, reads] = format === PACKED_FORMAT ? [KINDS_BY_SLOT.length, READS_A_RUN] : [1, READS_WITH_PRICES];
	return 2 ** bits * keys <= shardsLeft && Math.ceil(2 ** bits / SHARDS_PER_READ) * reads <= readsLeft;
}

function write(deps: WriteDeps, format: number, bits: number, wanted: readonly number[], budget: Budget): Promise<Set<number>> {
	return format === PACKED_FORMAT ? writeChunks(deps, bits, wanted, budget) : writeShards(deps, bits, wanted, budget);
}

/** Whether an earlier version of the code wrote the manifest: it names no pricing models. */
function isOfEarlierCode(manifest: string | null): boolean {
	return parseManifest(manifest)?.publishers.some(({ model }) => model === undefined) === true;
}

function shardsOf(dirty: readonly DirtySlot[], bits: number): number[] {
	return [...new Set(dirty.map(({ slot }) => shardOf(slot, bits)))];
}

/** Clears the marks that were dealt with, unless a newer change has set another one, and what a finished resize left behind. */
async function forget(
	{ db, now }: PublishDeps,
	lease: string,
	seen: readonly DirtySlot[],
	state: State,
	publisherBits: number | null,
): Promise<void> {
	// Of all slots there are, with names they would be more than D1 takes in one value.
	const marks = JSON.stringify(seen.map(({ slot, mark }) => [slot, mark]));
	const publishedSlots = [
		sql`DELETE FROM book_dirty_slots WHERE (slot, mark) IN (
			SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT) FROM json_each(${marks}))`,
		db
			.update(bookState)
			.set({ manifestDirty: 0 })
			.where(and(eq(bookState.leaseToken, lease), eq(bookState.manifestDirty, MANIFEST_UNDER_WAY))),
	];
	await runTransaction(db, [...publishedSlots, ...(state.nextBits === null ? forgetOtherSizes(db, state, publisherBits, now()) : [])]);
}

/** Shards and chunks of a size that the book no longer has become garbage. */
function forgetOtherSizes(db: Database, state: State, publisherBits: number | null, at: number) {
	const shardBits = state.format === PACKED_FORMAT ? NO_BITS : state.bits;
	const chunkBits = state.format === PACKED_FORMAT ? state.bits : NO_BITS;
	// Publishers go by their own number of chunks: what a smaller or larger one left is told by the head.
	const isOld = sql`((kind IN ('f', 'l') AND bits <> ${chunkBits}) OR (kind = 'x' AND bits <> ${chunkBits - FILTER_SPAN_BITS})
		OR (kind = 'p' AND bits <> ${publisherBits ?? NO_BITS}))`;
	return [
		sql`INSERT INTO book_garbage (key, replaced_at)
			SELECT ${SHARD_PREFIX} || bits || ':' || shard || ':' || version, CAST(${at} AS BIGINT) FROM book_shards
			WHERE bits <> ${shardBits} AND version <> '' ON CONFLICT (key) DO NOTHING`,
		db.delete(bookShards).where(ne(bookShards.bits, shardBits)),
		sql`INSERT INTO book_garbage (key, replaced_at)
			SELECT 'book:' || kind || ':' || bits || ':' || chunk || ':' || version, CAST(${at} AS BIGINT) FROM book_chunks
			WHERE ${isOld} AND version <> '' ON CONFLICT (key) DO NOTHING`,
		sql`DELETE FROM book_chunks WHERE ${isOld}`,
	];
}

/** No book has so many shards. */
const NO_BITS = -1_000;
