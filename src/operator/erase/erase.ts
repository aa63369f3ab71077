/** Erases what is known of a user, or of whoever made one click. The money stays: amounts, days, sums, and what they were paid for. */
import { sql } from "drizzle-orm";
import { EVERY_CONTROL } from "../../clicks/read-parameters.ts";
import { clicksOfHash } from "../../db/clicks-of-hash.ts";
import type { Database } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import { newUuid } from "../../lib/ids.ts";
import { isoTime } from "../../lib/time.ts";
import type { PlatformKeys } from "./claim-messages.ts";
import type { Erased as Answer, EraseCounts } from "./erase-answer.ts";
import { eraseArchive, eraseDeadLetters, eraseHeld, eraseKept } from "./erase-kept.ts";
import { eraseRefused, FIRST_REFUSED } from "./erase-refused.ts";
import { type ErasePosition, readClick, type Subject, writePosition } from "./erase-request.ts";
import { eraseRows, type Receipt } from "./erase-rows.ts";
import { callbacksWithin, readFormer, readFormerEvents } from "./former-sales.ts";
import { type ErasedClick, readOwnIds } from "./own-ids.ts";
import type { Erased } from "./redact.ts";

export type EraseDeps = { db: Database; kv: KVNamespace; archive: R2Bucket | undefined; keys: PlatformKeys; now: () => number };

const CLICKS_A_STEP = 200;
const MAX_STEPS = 25;

/**
 * First the archive, a part of it at a time; then what waits outside its tables; and the tables last, by which the rest is found. A request
 * does a bounded part of all this.
 * @param actor whoever erases; null only counts
 */
export async function erase(deps: EraseDeps, subject: Subject, from: ErasePosition, actor: Actor | null): Promise<Answer> {
	const { db, archive, now } = deps;
	const at = now();
	const id = newUuid();
	const isDryRun = actor === null;
	const asked = "uid" in subject ? subject.uid : subject.click;
	const counts: EraseCounts = { ...NOTHING };
	const answer = async (complete: boolean, next: ErasePosition | null): Promise<Answer> => ({
		id: isDryRun ? null : id,
		at: isoTime(at),
		dry_run: isDryRun,
		complete,
		next_cursor: next === null ? null : writePosition(next),
		hash: isDryRun ? null : await sha256Hex(`${id}\n${asked}`),
		counts,
	});
	const receipt = actor === null ? null : { actor, at, id };
	const uids = "uid" in subject ? formsOf(subject.uid) : [];
	const { clicks, areAll } = await findClicks(db, subject, uids);
	let those: Clicks = { clicks, gone: "click" in subject ? goneOf(readClick(subject.click), clicks) : [] };
	let erased = await readErased(db, uids, those.clicks, those.gone);
	const asGiven = { ...erased, ids: new Set(erased.ids), hashes: new Set(erased.hashes) };
	const archived = archive === undefined ? null : await eraseArchive(archive, erased, from.archive, isDryRun);
	const isBegun = from.kept !== null || from.refused !== null;
	// Where what it leads to was not done, this part of the archive is read once more, for the clicks in it.
	if (!isBegun) counts.archived = archived?.count ?? 0;
	const found = archived?.clicks ?? [];
	const after = archived?.after ?? null;
	if (after !== null) {
		// The next part no longer finds whose they were; what else is erased is left to the last one.
		those = { clicks: [], gone: found };
		erased = await readErased(db, [], [], found);
	} else if (found.length > 0) {
		those.gone = [...those.gone, ...found];
		erased.own = await readOwnIds(db, [...those.clicks, ...those.gone]);
	}
	const isSought = after === null || found.length > 0;
	const known = new Set(erased.hashes);
	const kept = isSought && from.refused === null ? await eraseKept(deps, erased, isDryRun, from.kept ?? undefined) : null;
	counts.kept_in_kv = kept?.count ?? 0;
	// The next request no longer finds whose they were.
	const inKv = onTheirWay(erased, known);
	if (kept !== null && kept.next !== null) {
		await eraseTables(deps, erased, { clicks: [], gone: inKv }, receipt, counts);
		return answer(false, { ...from, kept: kept.next });
	}
	const sought = isSought ? [...those.clicks, ...those.gone, ...inKv] : [];
	const refused = await eraseRefused(db, erased, sought, isDryRun, from.refused ?? FIRST_REFUSED);
	if (refused.next !== null) {
		await eraseTables(deps, erased, { clicks: [], gone: inKv }, receipt, counts, refused.ids);
		return answer(false, { ...from, kept: null, refused: refused.next });
	}
	if (isSought) counts.dead_letters = await eraseDeadLetters(deps, erased, isDryRun);
	those.gone = [...those.gone, ...onTheirWay(erased, known)];
	await eraseTables(deps, erased, those, receipt, counts, refused.ids);
	if (archive !== undefined) counts.archived += await eraseHeld(archive, archived?.held ?? [], asGiven, isDryRun);
	if (after !== null) return answer(false, { archive: after, kept: null, refused: null });
	// Whoever asks again has others looked for in all of the archive.
	return answer(areAll, null);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A uid as clicks have it; of a UUID, which some write in capitals, in either case. */
function formsOf(uid: string): string[] {
	const stored = uid.toWellFormed().replaceAll(EVERY_CONTROL, "");
	return UUID.test(stored) ? [...new Set([stored, stored.toLowerCase(), stored.toUpperCase()])] : [stored];
}

type Clicks = { clicks: readonly ErasedClick[]; gone: readonly ErasedClick[] };

/** Clicks that messages have, and no row yet: what came of them before they did is found by their hashes. @param known without them */
function onTheirWay({ hashes }: Erased, known: ReadonlySet<string>): ErasedClick[] {
	return [...hashes].filter((hash) => !known.has(hash)).map(withoutRow);
}

/** Erases in the tables; adds up what was there. @param refused postbacks that were erased before, which count, too */
async function eraseTables(
	deps: EraseDeps,
	erased: Erased,
	{ clicks, gone }: Clicks,
	receipt: Receipt,
	counts: EraseCounts,
	refused: ReadonlySet<string> = new Set(),
): Promise<void> {
	const most = Math.max(clicks.length, gone.length);
	// Once at least: what was asked for is audited, whether or not there was anything.
	for (let from = 0; from === 0 || from < most; from += CLICKS_A_STEP) {
		const [some, others] = [clicks, gone].map((all) => all.slice(from, from + CLICKS_A_STEP));
		const wanted = { clicks: some ?? [], gone: others ?? [], own: erased.own, erased, refused, counted: from === 0 ? refused.size : 0 };
		const done = await eraseRows(deps.db, wanted, receipt);
		for (const [name, more] of Object.entries(done)) counts[name as keyof typeof done] += more;
	}
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

/** What was asked for, unless it is the id of one of these: of a hash there may be more clicks, whose rows were removed. */
function goneOf(click: string, clicks: readonly ErasedClick[]): ErasedClick[] {
	return clicks.some(({ id }) => id === click) ? [] : [withoutRow(click)];
}

/** @param click a click hash, or the id of a click: there may be no row of it */
function withoutRow(click: string): ErasedClick {
	return { id: click, clickHash: click, publisherId: null, publisherClickId: null, clickedAt: 0 };
}

async function readErased(
	db: Database,
	uids: readonly string[],
	clicks: readonly ErasedClick[],
	gone: readonly ErasedClick[],
): Promise<Erased> {
	const all = [...clicks, ...gone];
	const ids = all.map((click) => click.id);
	const hashes = all.map(({ clickHash }) => clickHash);
	const { periods } = await readFormerEvents(db, await readFormer(db, JSON.stringify(ids), []), new Set(ids));
	const callbacks = await db.all<{ id: string }>(sql`SELECT c.id FROM conversions v CROSS JOIN callbacks c
		WHERE (v.click_id IN (SELECT atom FROM json_each(${JSON.stringify(ids)})) OR v.cid IN (SELECT atom FROM json_each(${JSON.stringify(hashes)})))
			AND c.platform = v.platform AND c.txnid = v.txnid
		UNION ${callbacksWithin(periods)}`);
	return {
		uids: new Set(uids),
		ids: new Set(ids),
		hashes: new Set(hashes),
		own: await readOwnIds(db, all),
		callbacks: new Set(callbacks.map(({ id }) => id)),
	};
}

/** This many of the clicks as one request erases: what waits elsewhere is found by them, all at once. */
async function findClicks(db: Database, subject: Subject, uids: readonly string[]): Promise<{ clicks: ErasedClick[]; areAll: boolean }> {
	const clicks: ErasedClick[] = [];
	for (let step = 0; step < MAX_STEPS; step++) {
		const found = await findClicksBehind(db, subject, uids, clicks.at(-1)?.id ?? "");
		clicks.push(...found);
		if (found.length < CLICKS_A_STEP) return { clicks, areAll: true };
	}
	return { clicks, areAll: false };
}

function findClicksBehind(db: Database, subject: Subject, uids: readonly string[], after: string): Promise<ErasedClick[]> {
	const columns = sql`id, click_hash AS "clickHash", publisher_id AS "publisherId",
		publisher_click_id AS "publisherClickId", clicked_at AS "clickedAt",
		CASE WHEN coalesce(publisher_click_id, subid1, subid2, subid3, subid4, subid5, uid, ip_prefix, user_agent_hash, keyword, asked_from) IS NULL
			THEN 1 ELSE 0 END AS "isEmpty"`;
	if ("uid" in subject) {
		const wanted = sql.join(
			uids.map((uid) => sql`${uid}`),
			sql`, `,
		);
		return db.all(sql`SELECT ${columns} FROM clicks WHERE uid IN (${wanted}) AND id > ${after} ORDER BY id LIMIT ${CLICKS_A_STEP}`);
	}
	const click = readClick(subject.click);
	return db.all(sql`SELECT ${columns} FROM clicks
		WHERE id IN (${clicksOfHash(click)} UNION SELECT id FROM clicks WHERE id = ${click})
			AND id > ${after}
		ORDER BY id LIMIT ${CLICKS_A_STEP}`);
}
