/** Takes the clicks that the queue refused from KV into the database. */
import { OvertakenError } from "../../db/overtaken.ts";
import { forgetWritten, markWritten, readWrittenKeys } from "../../db/written-keys.ts";
import { parseJson } from "../../lib/json.ts";
import { CLICK_BATCH_PREFIX, KEPT_CLICKS_PREFIX, type KeptMetadata } from "../../lib/kept-keys.ts";
import { logInfo } from "../../lib/log.ts";
import type { Operated, Operations } from "../../lib/operations.ts";
import { bytesOf } from "../../lib/split-by-bytes.ts";
import { MAX_BATCH_LENGTH } from "../click-batches.ts";
import { type ConsumeDeps, consumeClicks } from "./consume-clicks.ts";

export type KeptDeps = ConsumeDeps & { operations: Operations };

/** KV reads this many keys at once, and of all of them 25 MB. */
const KEYS_A_READ = 100;
const MAX_READ_BYTES = 20_000_000;
/** The most of a click's message, and of a batch, in UTF-8. */
const MAX_CLICK_BYTES = 10_000;
const MAX_BATCH_BYTES = 3 * MAX_BATCH_LENGTH;
const MAX_CONCURRENT_DELETES = 6;
/** Bytes that are written together: some 2,100 clicks, in some twenty statements. As few clicks would take as many. */
const MAX_GROUP_BYTES = 1_000_000;
/** Where the queue's consumers are faster than so large a group, it becomes smaller. */
const MIN_GROUP_BYTES = 50_000;
/** How often a group is decided again before it becomes smaller. */
const MAX_TRIES = 4;
/** What writing a group may take: deciding it four times, the facts, the mark, and pauses that are published after it. */
const GROUP: Operated = { statements: 120, keys: 15 };
/** Operations on KV that are left to the other jobs. */
const KEYS_LEFT = 300;
/** Keys that a run may delete at least: were all it may do used up by listing what is written, none would ever go. */
const MIN_DELETES = 100;
/** Listing keys, and looking up which of them are written. */
const PAGE: Operated = { statements: 1, keys: 1 + MIN_DELETES + KEYS_LEFT };
/** What a run takes at the most: it must end before the next one begins. 667 a second, where 500 come in. */
export const MAX_CLICKS_A_RUN = 40_000;

export type Swept = { clicks: number; written: number; deleted: number };

/**
 * Writes kept clicks by the consumer's own code, marks their keys as written, and deletes as many keys as the invocation has operations left.
 * A key whose mark or deletion fails is written again by the next run, which changes nothing.
 * @throws whatever KV or the database throws; the next run continues
 */
export async function sweepKeptClicks(deps: KeptDeps, most = MAX_CLICKS_A_RUN): Promise<Swept> {
	const { kv, operations } = deps;
	const startedAt = Date.now();
	const swept: Swept = { clicks: 0, written: 0, deleted: 0 };
	const deletable: string[] = [];
	const writing = new Writing(deps, (names, clicks) => {
		deletable.push(...names);
		swept.written += names.length;
		swept.clicks += clicks;
	});
	let areAllSeen = false;
	try {
		for (let cursor: string | undefined; !areAllSeen && swept.clicks < most && operations.has(PAGE); ) {
			const page = await kv.list<KeptMetadata>({ prefix: KEPT_CLICKS_PREFIX, ...(cursor !== undefined && { cursor }) });
			const names = page.keys.map(({ name }) => name);
			const known = await readWrittenKeys(deps.db, names);
			deletable.push(...known);
			const isOver = await writeKeys(
				writing,
				page.keys.filter(({ name }) => !known.has(name)),
				() => swept.clicks >= most,
			);
			areAllSeen = page.list_complete;
			if (isOver) break;
			if (!page.list_complete) cursor = page.cursor;
		}
		await writing.end();
	} finally {
		// Also where writing fails: or runs that fail again and again would leave ever more keys to be listed.
		swept.deleted = await deleteKeys(deps, deletable);
	}
	if (areAllSeen && deletable.length === 0) await forgetWritten(deps.db, deps.now());
	if (deletable.length > 0) logInfo("clicks.kept_written", { ...swept, ms: Date.now() - startedAt });
	return swept;
}

type Listed = { name: string; metadata?: KeptMetadata };

/** Reads and writes what is under some keys. @returns whether the run is to end, with some of them left */
async function writeKeys(writing: Writing, keys: readonly Listed[], isEnough: () => boolean): Promise<boolean> {
	for (const names of readsOf(keys)) if (isEnough() || !(await writing.add(names))) return true;
	return false;
}

/** Keys that may be read together. */
function readsOf(keys: readonly Listed[]): string[][] {
	const reads: string[][] = [];
	let bytes = Number.POSITIVE_INFINITY;
	for (const { name, metadata } of keys) {
		const most = Math.min(MAX_BATCH_BYTES, (metadata?.count ?? Number.POSITIVE_INFINITY) * MAX_CLICK_BYTES);
		if (bytes + most > MAX_READ_BYTES || reads.at(-1)?.length === KEYS_A_READ) {
			reads.push([]);
			bytes = 0;
		}
		reads.at(-1)?.push(name);
		bytes += most;
	}
	return reads;
}

async function deleteKeys({ kv, operations }: KeptDeps, names: readonly string[]): Promise<number> {
	let deleted = 0;
	while (deleted < names.length && operations.has({ keys: KEYS_LEFT + MAX_CONCURRENT_DELETES })) {
		const some = names.slice(deleted, deleted + MAX_CONCURRENT_DELETES);
		await Promise.all(some.map((name) => kv.delete(name)));
		deleted += some.length;
	}
	return deleted;
}

type Kept = { name: string; text: string; bytes: number };

/** Gathers what is under keys until a group is large enough to be written. */
class Writing {
	readonly #deps: KeptDeps;
	readonly #onWritten: (names: readonly string[], clicks: number) => void;
	#waiting: Kept[] = [];
	#waitingBytes = 0;
	#groupBytes = MAX_GROUP_BYTES;

	constructor(deps: KeptDeps, onWritten: (names: readonly string[], clicks: number) => void) {
		this.#deps = deps;
		this.#onWritten = onWritten;
	}

	/** @returns false where the invocation's operations are used up; what then waits is not written */
	async add(names: readonly string[]): Promise<boolean> {
		if (!this.#deps.operations.has(GROUP)) return false;
		for (const [name, text] of await this.#deps.kv.get([...names], { type: "text" })) {
			// It was deleted already, though the list still shows it, or is not to be seen here yet: then the next run has it.
			if (text === null) continue;
			const bytes = bytesOf(text);
			this.#waiting.push({ name, text, bytes });
			this.#waitingBytes += bytes;
		}
		while (this.#waitingBytes > this.#groupBytes) if (!(await this.#writeGroup())) return false;
		return true;
	}

	async end(): Promise<void> {
		while (this.#waiting.length > 0) if (!(await this.#writeGroup())) return;
	}

	/** Writes the next group; a smaller one the next time where the queue's consumers were faster too often. */
	async #writeGroup(): Promise<boolean> {
		const { db, now, operations } = this.#deps;
		if (!operations.has(GROUP)) return false;
		const group = this.#nextGroup();
		const clicks = group.flatMap(readKept);
		try {
			await consumeClicks(this.#deps, clicks, MAX_TRIES);
		} catch (error) {
			if (!(error instanceof OvertakenError) || this.#groupBytes <= MIN_GROUP_BYTES) throw error;
			this.#groupBytes /= 2;
			return true;
		}
		const names = group.map(({ name }) => name);
		await markWritten(db, names, now());
		this.#waiting.splice(0, group.length);
		this.#waitingBytes -= group.reduce((sum, { bytes }) => sum + bytes, 0);
		this.#onWritten(names, clicks.length);
		return true;
	}

	/** One key at least, whatever its size. */
	#nextGroup(): Kept[] {
		let bytes = 0;
		const end = this.#waiting.findIndex((kept, at) => {
			bytes += kept.bytes;
			return at > 0 && bytes > this.#groupBytes;
		});
		return end === -1 ? [...this.#waiting] : this.#waiting.slice(0, end);
	}
}

/** The messages under a key; what is no JSON is one, which then becomes a dead letter. */
function readKept({ name, text }: Kept): { id: string; body: unknown }[] {
	const body = parseJson(text);
	if (name.startsWith(CLICK_BATCH_PREFIX) && Array.isArray(body)) return body.map((click, at) => ({ id: `${name}:${at}`, body: click }));
	return [{ id: name, body: body === undefined ? text : body }];
}
