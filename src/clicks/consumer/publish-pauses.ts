/**
 * Publishes the paused campaigns: D1 → KV. KV takes one write of a key a second and keeps no order between two writers, so whoever changes
 * a pause raises a number in D1, and one writer at a time publishes what all have changed, at most once a second.
 */
import { asc, sql } from "drizzle-orm";
import {
	BOOK_FORMAT,
	PAUSED_HEAD_KEY,
	PAUSED_KEY,
	type Pauses,
	type PausesHead,
	parsePauses,
	readPausesVersion,
	VERSION_LENGTH,
} from "../../campaign-book/format.ts";
import type { Database } from "../../db/client.ts";
import { campaignPauses } from "../../db/schema/counters.ts";
import { toBase64Url } from "../../lib/base64-url.ts";
import { sha256 } from "../../lib/bytes.ts";
import { logError } from "../../lib/log.ts";

export type PauseDeps = {
	db: Database;
	kv: KVNamespace;
	/** Told the paused campaigns when they are published: for the reader in the same isolate. */
	onPauses?: (campaignIds: readonly number[]) => void;
};

/** Runs once pauses were changed. Where it does not, because the invocation ended, the cron finds that KV holds others. */
export const MARK_CHANGED = sql`UPDATE pause_publication SET changes = changes + 1 WHERE id = 1`;

/** Between two writes of a key. */
const WRITE_GAP_MS = 1_100;
/** After that long a writer is taken for gone. */
const WRITER_LOST_MS = 10_000;
/** How often a turn is waited for; after that the cron publishes. */
const MAX_WAITS = 4;

/**
 * Publishes where something has changed that is not in KV yet; waits for its turn, some seconds at most. Never rejects: where KV or the
 * database refuses, the cron publishes within a minute.
 */
export async function publishPauses(deps: PauseDeps): Promise<void> {
	try {
		for (let waits = 0; waits <= MAX_WAITS; waits++) {
			// The real clock, whatever time the clicks are of: it is KV's.
			const now = Date.now();
			const changes = await takeTurn(deps.db, now);
			if (changes !== null) await write(deps, changes);
			const { behind, nextWriteAt } = await readPublication(deps.db);
			if (!behind) return;
			await scheduler.wait(Math.min(Math.max(nextWriteAt - Date.now(), 50), WRITE_GAP_MS));
		}
	} catch (error) {
		logError("campaign.pauses_unpublished", error);
	}
}

/** The values of the two keys. @param campaigns ascending */
export async function writePauses(campaigns: readonly number[]): Promise<{ pauses: string; head: string }> {
	const version = toBase64Url(await sha256(JSON.stringify(campaigns))).slice(0, VERSION_LENGTH);
	return {
		pauses: JSON.stringify({ format: BOOK_FORMAT, version, campaigns: [...campaigns] } satisfies Pauses),
		head: JSON.stringify({ format: BOOK_FORMAT, version } satisfies PausesHead),
	};
}

/** Whether KV holds what the database says, under the head that names it. */
export async function isPublished({ db, kv }: PauseDeps): Promise<boolean> {
	const [ids, values] = await Promise.all([readPaused(db), kv.get([PAUSED_KEY, PAUSED_HEAD_KEY], "text")]);
	const stored = values.get(PAUSED_KEY) ?? null;
	const head = values.get(PAUSED_HEAD_KEY) ?? null;
	if (stored === null && head === null) return ids.length === 0;
	const pauses = parsePauses(stored ?? "");
	return pauses?.version !== undefined && pauses.version === readPausesVersion(head) && sameIds(pauses.campaigns, ids);
}

/** The number of the changes that the caller is to publish; null where nothing has changed, or it is not the caller's turn. */
async function takeTurn(db: Database, now: number): Promise<number | null> {
	const [taken] = await db.all<{ changes: number }>(sql`UPDATE pause_publication SET next_write_at = ${now + WRITER_LOST_MS}
		WHERE id = 1 AND changes > published AND next_write_at <= ${now} RETURNING changes`);
	return taken?.changes ?? null;
}

async function write({ db, kv, onPauses }: PauseDeps, changes: number): Promise<void> {
	let published = 0;
	try {
		const ids = await readPaused(db);
		onPauses?.(ids);
		const { pauses, head } = await writePauses(ids);
		await kv.put(PAUSED_KEY, pauses);
		await kv.put(PAUSED_HEAD_KEY, head);
		published = changes;
	} finally {
		await db.run(sql`UPDATE pause_publication SET next_write_at = ${Date.now() + WRITE_GAP_MS},
			published = CASE WHEN published < ${published} THEN ${published} ELSE published END WHERE id = 1`);
	}
}

async function readPublication(db: Database): Promise<{ behind: boolean; nextWriteAt: number }> {
	const { changes, published, nextWriteAt } = await db.get<{ changes: number; published: number; nextWriteAt: number }>(
		sql`SELECT changes, published, next_write_at AS "nextWriteAt" FROM pause_publication WHERE id = 1`,
	);
	return { behind: changes > published, nextWriteAt };
}

async function readPaused(db: Database): Promise<number[]> {
	const rows = await db.select({ campaignId: campaignPauses.campaignId }).from(campaignPauses).orderBy(asc(campaignPauses.campaignId));
	return rows.map(({ campaignId }) => campaignId);
}

/** Both are in order. */
function sameIds(some: readonly number[], others: readonly number[]): boolean {
	return some.length === others.length && some.every((id, at) => id === others[at]);
}
