/** Erases what is known of a user, or of whoever made one click. The money stays: amounts, days, sums, and what they were paid for. */
import { sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { clicksOfHash } from "../../db/clicks-of-hash.ts";
import type { Database } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import { newUuid } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";
import type { Erased as Answer, EraseCounts } from "./erase-answer.ts";
import { eraseArchive, eraseDeadLetters, eraseKept } from "./erase-kept.ts";
import type { Subject } from "./erase-request.ts";
import { type ErasedClick, eraseRows } from "./erase-rows.ts";
import type { Erased } from "./redact.ts";

export type EraseDeps = { db: Database; kv: KVNamespace; archive: R2Bucket | undefined; now: () => number };

const CLICKS_A_STEP = 200;
const MAX_STEPS = 25;

/**
 * First the archive, a part of it a request; then what waits outside its tables; and the tables last, by which the rest is found.
 * @param actor whoever erases; null only counts
 */
export async function erase(deps: EraseDeps, subject: Subject, archiveAfter: string | null, actor: Actor | null): Promise<Answer> {
	const { db, kv, archive, now } = deps;
	const at = now();
	const id = newUuid();
	const isDryRun = actor === null;
	const asked = "uid" in subject ? subject.uid : subject.click;
	const counts: EraseCounts = { ...NOTHING };
	const answer = async (complete: boolean, after: string | null): Promise<Answer> => ({
		id,
		at: isoTime(at),
		dry_run: isDryRun,
		complete,
		archive_after: after,
		hash: await sha256Hex(`${id}\n${asked}`),
		counts,
	});
	const { clicks, areAll } = await findClicks(db, subject);
	const erased = erasedOf(subject, clicks);
	if (archive !== undefined) {
		const archived = await eraseArchive(archive, erased, archiveAfter, isDryRun);
		counts.archived = archived.count;
		if (archived.after !== null) {
			if (actor !== null) await db.run(auditStatement(actor, at, { verb: "eraseUser", subjectKind: "erasure", subjectId: id, counts }));
			return answer(false, archived.after);
		}
	}
	counts.kept_in_kv = await eraseKept(kv, erased, isDryRun);
	counts.dead_letters = await eraseDeadLetters(db, erased, isDryRun);
	const receipt = actor === null ? null : { actor, at, id };
	// Once at least: what was asked for is audited, whether or not there was anything.
	for (let from = 0; from === 0 || from < clicks.length; from += CLICKS_A_STEP) {
		const done = await eraseRows(db, clicks.slice(from, from + CLICKS_A_STEP), receipt);
		for (const [name, more] of Object.entries(done)) counts[name as keyof typeof done] += more;
	}
	// Whoever asks again has others looked for in all of the archive.
	return answer(areAll, null);
}

const NOTHING: EraseCounts = {
	clicks: 0,
	visits: 0,
	conversions: 0,
	conversion_events: 0,
	postbacks: 0,
	callbacks: 0,
	claims: 0,
	dead_letters: 0,
	kept_in_kv: 0,
	archived: 0,
};

function erasedOf(subject: Subject, clicks: readonly ErasedClick[]): Erased {
	const named = "click" in subject ? [subject.click] : [];
	return {
		uid: "uid" in subject ? subject.uid : null,
		ids: new Set([...named, ...clicks.map(({ id }) => id)]),
		hashes: new Set([...named, ...clicks.map(({ clickHash }) => clickHash)]),
	};
}

/** This many of the clicks as one request erases: what waits elsewhere is found by them, all at once. */
async function findClicks(db: Database, subject: Subject): Promise<{ clicks: ErasedClick[]; areAll: boolean }> {
	const clicks: ErasedClick[] = [];
	for (let step = 0; step < MAX_STEPS; step++) {
		const found = await findClicksBehind(db, subject, clicks.at(-1)?.id ?? "");
		clicks.push(...found);
		if (found.length < CLICKS_A_STEP) return { clicks, areAll: true };
	}
	return { clicks, areAll: false };
}

function findClicksBehind(db: Database, subject: Subject, after: string): Promise<ErasedClick[]> {
	const columns = sql`id, click_hash AS "clickHash", publisher_id AS "publisherId",
		publisher_click_id AS "publisherClickId", clicked_at AS "clickedAt"`;
	if ("uid" in subject)
		return db.all(sql`SELECT ${columns} FROM clicks WHERE uid = ${subject.uid} AND id > ${after} ORDER BY id LIMIT ${CLICKS_A_STEP}`);
	return db.all(sql`SELECT ${columns} FROM clicks
		WHERE id IN (${clicksOfHash(subject.click)} UNION SELECT id FROM clicks WHERE id = ${subject.click})
			AND id > ${after}
		ORDER BY id LIMIT ${CLICKS_A_STEP}`);
}
