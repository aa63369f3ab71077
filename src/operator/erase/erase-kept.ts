/** Erases what waits outside its tables: dead letters, what KV keeps, and the archive's objects. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { invalidInput } from "../../http/errors.ts";
import { CURSOR_FAULT } from "../../http/pages.ts";
import { parseJson } from "../../lib/json.ts";
import { KEPT_CLICKS_PREFIX, KEPT_DEAD_LETTERS_PREFIX, type KeptMetadata } from "../../lib/kept-keys.ts";
import { splitByBytes } from "../../lib/split-by-bytes.ts";
import { claimMessages, type PlatformKeys } from "./claim-messages.ts";
import type { ErasedClick } from "./own-ids.ts";
import { CLICK_COLUMNS_OF_USERS, type Erased, mayBeOf, redactArchived, redactMessages } from "./redact.ts";

const MAX_READ = 500;
/** Characters of letters that are read together: an isolate has room for them, and an invocation asks a thousand times at most. */
const MAX_READ_LENGTH = 5_000_000;

type KeptDeps = { db: Database; kv: KVNamespace; keys: PlatformKeys };

async function redactKept(keys: PlatformKeys, text: string, erased: Erased): Promise<ReturnType<typeof redactMessages>> {
	return redactMessages(await claimMessages(keys, parseJson(text), (cid) => mayBeOf(cid, erased)), erased);
}

/** @throws Error where a key that a postback came with cannot be looked up */
export async function eraseDeadLetters({ db, keys }: KeptDeps, erased: Erased, isDryRun: boolean): Promise<number> {
	let count = 0;
	for (let after = ""; ; ) {
		const rows = await db.all<{ id: string; body: string }>(
			sql`SELECT id, body FROM dead_letters WHERE id IN (
				SELECT id FROM (SELECT id, size, SUM(size) OVER (ORDER BY id) AS total
					FROM (SELECT id, length(body) AS size FROM dead_letters WHERE id > ${after} ORDER BY id LIMIT ${MAX_READ}) page) measured
				WHERE total <= ${MAX_READ_LENGTH} OR total = size) ORDER BY id`,
		);
		const redacted: { id: string; body: string }[] = [];
		for (const { id, body } of rows) {
			const done = await redactKept(keys, body, erased);
			if (done !== null) redacted.push({ id, body: done.text });
		}
		count += redacted.length;
		for (const part of isDryRun ? [] : splitByBytes(redacted)) {
			await db.run(sql`UPDATE dead_letters SET body = r.body
				FROM (SELECT value ->> 'id' AS of_id, value ->> 'body' AS body FROM json_each(${JSON.stringify(part)})) AS r
				WHERE dead_letters.id = r.of_id`);
		}
		const last = rows.at(-1);
		if (last === undefined) return count;
		after = last.id;
	}
}

const PREFIXES = [KEPT_CLICKS_PREFIX, KEPT_DEAD_LETTERS_PREFIX];
/** As many as KV reads at once; each may have to be written. */
const KEYS_A_PAGE = 100;
/** Pages that one request looks through: an invocation may ask a thousand times. */
const MAX_KEY_PAGES = 5;

/** Where what KV keeps is gone on with: which prefix, and the cursor of its list. */
export type KeptPosition = readonly [prefix: number, cursor: string];

/**
 * Looks through what KV keeps, from a position on; null is where all is. It stays under its keys: whoever takes it from there finds it
 * without the user.
 * @throws Error as {@link eraseDeadLetters}; HttpError 422 as {@link listKept}
 */
export async function eraseKept(
	{ kv, keys }: KeptDeps,
	erased: Erased,
	isDryRun: boolean,
	from: KeptPosition = [0, ""],
): Promise<{ count: number; next: KeptPosition | null }> {
	let count = 0;
	let [prefixAt, cursor] = from;
	for (let pages = 0; pages < MAX_KEY_PAGES; pages++) {
		const prefix = PREFIXES[prefixAt];
		if (prefix === undefined) return { count, next: null };
		const page = await listKept(kv, prefix, cursor);
		const texts =
			page.keys.length === 0
				? new Map<string, string | null>()
				: await kv.get(
						page.keys.map(({ name }) => name),
						"text",
					);
		for (const { name, metadata } of page.keys) {
			const text = texts.get(name) ?? null;
			const redacted = text === null ? null : await redactKept(keys, text, erased);
			if (redacted === null) continue;
			count += redacted.count;
			if (!isDryRun) await kv.put(name, redacted.text, metadata === undefined ? {} : { metadata });
		}
		[prefixAt, cursor] = page.list_complete ? [prefixAt + 1, ""] : [prefixAt, page.cursor];
	}
	return { count, next: prefixAt < PREFIXES.length ? [prefixAt, cursor] : null };
}

/** What KV answers to what it does not take, which no other fault is: a cursor that is none of its own. */
const KV_REFUSES = /^KV GET failed: 4(?:00|14)\b/;

/** @param cursor of the list, as the caller has it from an answer; empty for its beginning @throws HttpError 422 where KV knows no such cursor */
async function listKept(kv: KVNamespace, prefix: string, cursor: string): Promise<KVNamespaceListResult<KeptMetadata>> {
	try {
		return await kv.list<KeptMetadata>({ prefix, limit: KEYS_A_PAGE, ...(cursor !== "" && { cursor }) });
	} catch (error) {
		if (cursor === "" || !(error instanceof Error && KV_REFUSES.test(error.message))) throw error;
		throw invalidInput([{ path: "cursor", message: CURSOR_FAULT }]);
	}
}

/** Folders of the archive in the order of its keys, and which columns of their rows may be a user's. */
const FOLDERS: readonly [folder: string, columns: readonly string[]][] = [
	["callback_attempts/", []],
	["clicks/", CLICK_COLUMNS_OF_USERS],
	["postback_intake/", []],
];

/** Objects that one request reads: an invocation may ask a thousand times. */
const MAX_OBJECTS = 200;

type Archived = {
	/** Rows that had something, and are erased. */
	count: number;
	/** Objects that clicks were found in. They are left as they are: what has to be looked for by them is found by them until it is. */
	held: string[];
	/** The last key that was read; null where all are. */
	after: string | null;
	/** Clicks whose rows are there; what is found behind them is found by them, too. */
	clicks: ErasedClick[];
};

/** Looks through the archive behind a key. */
export async function eraseArchive(archive: R2Bucket, erased: Erased, after: string | null, isDryRun: boolean): Promise<Archived> {
	const clicks: ErasedClick[] = [];
	const held: string[] = [];
	let count = 0;
	let left = MAX_OBJECTS;
	for (const [folder, columns] of FOLDERS) {
		if (after !== null && after >= `${folder.slice(0, -1)}0`) continue;
		for (let startAfter = after?.startsWith(folder) ? after : undefined; ; ) {
			const page = await archive.list({ prefix: folder, limit: left, ...(startAfter !== undefined && { startAfter }) });
			for (const { key } of page.objects) {
				const done = await redactObject(archive, key, erased, columns);
				clicks.push(...(done?.clicks ?? []));
				learn(erased, done);
				if (done !== null && done.clicks.length > 0) held.push(key);
				else if (done !== null) {
					count += done.count;
					if (done.count > 0 && !isDryRun) await archive.put(key, done.text);
				}
				startAfter = key;
				left--;
			}
			if (left === 0) return { count, held, after: startAfter ?? null, clicks };
			if (!page.truncated) break;
		}
	}
	return { count, held, after: null, clicks };
}

/** What is found in objects behind this one is found by its clicks, too. */
function learn(erased: Erased, redacted: Redacted | null): void {
	for (const click of redacted?.clicks ?? []) {
		erased.ids.add(click.id);
		erased.hashes.add(click.clickHash);
	}
}

/** Erases in objects that were held. @param erased as {@link eraseArchive} was given it @returns how many rows had something */
export async function eraseHeld(archive: R2Bucket, held: readonly string[], erased: Erased, isDryRun: boolean): Promise<number> {
	let count = 0;
	for (const key of held) {
		const columns = FOLDERS.find(([folder]) => key.startsWith(folder))?.[1] ?? [];
		const done = await redactObject(archive, key, erased, columns);
		learn(erased, done);
		if (done === null) continue;
		count += done.count;
		if (done.count > 0 && !isDryRun) await archive.put(key, done.text);
	}
	return count;
}

type Redacted = { text: string; count: number; clicks: ErasedClick[] };

/** An object of the archive without what is of these clicks; null where nothing is. */
async function redactObject(archive: R2Bucket, key: string, erased: Erased, columns: readonly string[]): Promise<Redacted | null> {
	const object = await archive.get(key);
	if (object === null) return null;
	let count = 0;
	const clicks: ErasedClick[] = [];
	const lines = (await object.text()).split("\n").map((line) => {
		const redacted = line === "" ? null : redactArchived(line, erased, columns);
		if (redacted === null) return line;
		if (redacted.had) count++;
		if (redacted.click !== null) clicks.push(redacted.click);
		return redacted.line;
	});
	return count === 0 && clicks.length === 0 ? null : { text: lines.join("\n"), count, clicks };
}
