/** Erases what waits outside its tables: dead letters, what KV keeps, and the archive's objects. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { parseJson } from "../../lib/json.ts";
import { KEPT_CLICKS_PREFIX, KEPT_DEAD_LETTERS_PREFIX, type KeptMetadata } from "../../lib/kept-keys.ts";
import { claimMessages, type PlatformKeys } from "./claim-messages.ts";
import type { ErasedClick } from "./own-ids.ts";
import { CLICK_COLUMNS_OF_USERS, type Erased, mayBeOf, redactArchived, redactMessages } from "./redact.ts";

const MAX_READ = 500;

type KeptDeps = { db: Database; kv: KVNamespace; keys: PlatformKeys };

async function redactKept(keys: PlatformKeys, text: string, erased: Erased): Promise<ReturnType<typeof redactMessages>> {
	return redactMessages(await claimMessages(keys, parseJson(text), (cid) => mayBeOf(cid, erased)), erased);
}

/** @throws Error where a key that a postback came with cannot be looked up */
export async function eraseDeadLetters({ db, keys }: KeptDeps, erased: Erased, isDryRun: boolean): Promise<number> {
	let count = 0;
	for (let after = ""; ; ) {
		const rows = await db.all<{ id: string; body: string }>(
			sql`SELECT id, body FROM dead_letters WHERE id > ${after} ORDER BY id LIMIT ${MAX_READ}`,
		);
		const redacted: { id: string; body: string }[] = [];
		for (const { id, body } of rows) {
			const done = await redactKept(keys, body, erased);
			if (done !== null) redacted.push({ id, body: done.text });
		}
		count += redacted.length;
		if (redacted.length > 0 && !isDryRun) {
			await db.run(sql`UPDATE dead_letters SET body = r.body
				FROM (SELECT value ->> 'id' AS of_id, value ->> 'body' AS body FROM json_each(${JSON.stringify(redacted)})) AS r
				WHERE dead_letters.id = r.of_id`);
		}
		const last = rows.at(-1);
		if (last === undefined || rows.length < MAX_READ) return count;
		after = last.id;
	}
}

/**
 * What KV keeps stays under its keys: whoever takes it from there finds it without the user.
 * @throws Error as {@link eraseDeadLetters}
 */
export async function eraseKept({ kv, keys }: KeptDeps, erased: Erased, isDryRun: boolean): Promise<number> {
	let count = 0;
	for (const prefix of [KEPT_CLICKS_PREFIX, KEPT_DEAD_LETTERS_PREFIX]) {
		for (let cursor: string | undefined; ; ) {
			const page = await kv.list<KeptMetadata>({ prefix, ...(cursor !== undefined && { cursor }) });
			for (const { name, metadata } of page.keys) {
				const text = await kv.get(name);
				const redacted = text === null ? null : await redactKept(keys, text, erased);
				if (redacted === null) continue;
				count += redacted.count;
				if (!isDryRun) await kv.put(name, redacted.text, metadata === undefined ? {} : { metadata });
			}
			if (page.list_complete) break;
			cursor = page.cursor;
		}
	}
	return count;
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
	/** Rows that had something. */
	count: number;
	/** The last key that was read; null where all are. */
	after: string | null;
	/** Clicks whose rows are there; what is found behind them is found by them, too. */
	clicks: ErasedClick[];
};

/** Looks through the archive behind a key. */
export async function eraseArchive(archive: R2Bucket, erased: Erased, after: string | null, isDryRun: boolean): Promise<Archived> {
	const clicks: ErasedClick[] = [];
	let count = 0;
	let left = MAX_OBJECTS;
	for (const [folder, columns] of FOLDERS) {
		if (after !== null && after >= `${folder.slice(0, -1)}0`) continue;
		for (let startAfter = after?.startsWith(folder) ? after : undefined; ; ) {
			const page = await archive.list({ prefix: folder, limit: left, ...(startAfter !== undefined && { startAfter }) });
			for (const { key } of page.objects) {
				const done = await eraseObject(archive, key, erased, columns, isDryRun);
				count += done.count;
				for (const click of done.clicks) {
					clicks.push(click);
					erased.ids.add(click.id);
					erased.hashes.add(click.clickHash);
				}
				startAfter = key;
				left--;
			}
			if (left === 0) return { count, after: startAfter ?? null, clicks };
			if (!page.truncated) break;
		}
	}
	return { count, after: null, clicks };
}

async function eraseObject(
	archive: R2Bucket,
	key: string,
	erased: Erased,
	columns: readonly string[],
	isDryRun: boolean,
): Promise<{ count: number; clicks: ErasedClick[] }> {
	const object = await archive.get(key);
	if (object === null) return { count: 0, clicks: [] };
	let count = 0;
	const clicks: ErasedClick[] = [];
	const lines = (await object.text()).split("\n").map((line) => {
		const redacted = line === "" ? null : redactArchived(line, erased, columns);
		if (redacted === null) return line;
		count++;
		if (redacted.click !== null) clicks.push(redacted.click);
		return redacted.line;
	});
	if (count > 0 && !isDryRun) await archive.put(key, lines.join("\n"));
	return { count, clicks };
}
