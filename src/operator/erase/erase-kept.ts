/** Erases what waits outside its tables: dead letters, what KV keeps, and the archive's objects. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { KEPT_CLICKS_PREFIX, KEPT_DEAD_LETTERS_PREFIX, type KeptMetadata } from "../../lib/kept-keys.ts";
import { CLICK_COLUMNS_OF_USERS, type Erased, redactArchived, redactMessages } from "./redact.ts";

const MAX_READ = 500;

export async function eraseDeadLetters(db: Database, erased: Erased, isDryRun: boolean): Promise<number> {
	let count = 0;
	for (let after = ""; ; ) {
		const rows = await db.all<{ id: string; body: string }>(
			sql`SELECT id, body FROM dead_letters WHERE id > ${after} ORDER BY id LIMIT ${MAX_READ}`,
		);
		const redacted = rows.flatMap(({ id, body }) => {
			const done = redactMessages(body, erased);
			return done === null ? [] : [{ id, body: done.text }];
		});
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

/** What KV keeps stays under its keys: whoever takes it from there finds it without the user. */
export async function eraseKept(kv: KVNamespace, erased: Erased, isDryRun: boolean): Promise<number> {
	let count = 0;
	for (const prefix of [KEPT_CLICKS_PREFIX, KEPT_DEAD_LETTERS_PREFIX]) {
		for (let cursor: string | undefined; ; ) {
			const page = await kv.list<KeptMetadata>({ prefix, ...(cursor !== undefined && { cursor }) });
			for (const { name, metadata } of page.keys) {
				const text = await kv.get(name);
				const redacted = text === null ? null : redactMessages(text, erased);
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

/** Folders of the archive, and which columns of their rows may be a user's. */
const FOLDERS: readonly [folder: string, columns: readonly string[]][] = [
	["clicks/", CLICK_COLUMNS_OF_USERS],
	["postback_intake/", []],
];

/** Objects that one request reads: an invocation may ask a thousand times. */
const MAX_OBJECTS = 200;

type Archived = { count: number; after: string | null };

/**
 * Looks through the archive behind a key.
 * @returns how many rows had something, and the last key that was read; null where all are
 */
export async function eraseArchive(archive: R2Bucket, erased: Erased, after: string | null, isDryRun: boolean): Promise<Archived> {
	let count = 0;
	let left = MAX_OBJECTS;
	for (const [folder, columns] of FOLDERS) {
		if (after !== null && after >= `${folder.slice(0, -1)}0`) continue;
		for (let startAfter = after?.startsWith(folder) ? after : undefined; ; ) {
			const page = await archive.list({ prefix: folder, limit: left, ...(startAfter !== undefined && { startAfter }) });
			for (const { key } of page.objects) {
				count += await eraseObject(archive, key, erased, columns, isDryRun);
				startAfter = key;
				left--;
			}
			if (left === 0) return { count, after: startAfter ?? null };
			if (!page.truncated) break;
		}
	}
	return { count, after: null };
}

async function eraseObject(archive: R2Bucket, key: string, erased: Erased, columns: readonly string[], isDryRun: boolean): Promise<number> {
	const object = await archive.get(key);
	if (object === null) return 0;
	let count = 0;
	const lines = (await object.text()).split("\n").map((line) => {
		const redacted = line === "" ? null : redactArchived(line, erased, columns);
		if (redacted !== null) count++;
		return redacted ?? line;
	});
	if (count > 0 && !isDryRun) await archive.put(key, lines.join("\n"));
	return count;
}
