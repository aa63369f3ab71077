/** Removes what is kept for a time only. Sums, conversions, their events and their clicks stay for good. */
import { getTableName, type SQL, sql } from "drizzle-orm";
import { AUCTION_KNOWN_DAYS, BID_COUNTS_DAYS, COUNTED_KNOWN_MS, FEEDBACK_DAYS } from "../bid-counts/kept-for.ts";
import { type Database, isPostgres, runTransaction } from "../db/client.ts";
import { tableName } from "../db/json-rows.ts";
import { moveForward } from "../db/removed-clicks.ts";
import { callbackAttempts } from "../db/schema/callbacks.ts";
import { clicks } from "../db/schema/clicks.ts";
import { postbackIntake } from "../db/schema/conversions.ts";
import { retention } from "../db/schema/retention.ts";
import { leastIdAt } from "../lib/ids.ts";
import { logInfo } from "../lib/log.ts";
import { DAY_MS, hourOf, utcDay } from "../lib/time.ts";
import { dropClickWeeks, makeClickWeeks } from "./click-weeks.ts";
import { MAX_SESSION_MS, UNDO_DAYS } from "./kept-for.ts";

type Rule = {
	name: string;
	/** A table whose `id` is time-ordered. */
	table: typeof clicks | typeof postbackIntake | typeof callbackAttempts;
	days: number;
	/** Which of the old rows go. */
	goes: SQL;
};

/** The rule of billed clicks, by the name under which its progress is stored. */
const CLICKS = "clicks";

const withoutConversion = sql`NOT EXISTS (SELECT 1 FROM conversions v WHERE v.click_id = clicks.id)`;

/**
 * Click-level reports reach back as far as billed clicks are kept, voided ones among them; repeats, bots and the like are for traces, and for sales that
 * come of an expired link: networks report those for some months.
 */
function rulesOf(clickDays: number): readonly Rule[] {
	return [
		{ name: "uncounted clicks", table: clicks, days: Math.min(120, clickDays), goes: sql`reason <> 'voided' AND ${withoutConversion}` },
		{ name: CLICKS, table: clicks, days: clickDays, goes: withoutConversion },
		{ name: "intake of unknown keys", table: postbackIntake, days: 7, goes: sql`outcome = 'unknown_key'` },
		{ name: "intake", table: postbackIntake, days: 400, goes: sql`true` },
		{ name: "callback attempts", table: callbackAttempts, days: 180, goes: sql`true` },
	];
}

export type RemoveDeps = {
	db: Database;
	now: () => number;
	/** How long billed clicks are kept. */
	clickDays: number;
	/** Where rows are written before they are removed: objects of JSON lines. Absent: nowhere. */
	archive: { put: (key: string, text: string) => Promise<unknown> } | undefined;
};

/** A dead letter that was replayed is in its table by then, or a dead letter again. */
const REPLAYED_DAYS = 30;

/** Repeats are told over a day at most, and a click may be written a day late. */
const VISIT_DAYS = 2;

/** Rows that one step looks at: the transaction stays short, and money waits for no cleaning. */
export const LOOKED_AT_A_STEP = 2_000;
/** Steps of a rule in one run: with a run a minute, 29 million rows a day. An invocation has 1,000 queries for all its jobs. */
export const MAX_STEPS = 10;
/** The most that a run takes: of each of five rules ten steps of four, and twenty more. */
export const RETENTION_STATEMENTS = 5 * MAX_STEPS * 4 + 20;

/**
 * Removes the next old rows by each rule, step by step, once the archive has them. A run that is broken off changes nothing of what it had not
 * finished, and writes the same objects again.
 * @throws where the database or the archive fails
 */
export async function removeOld(deps: RemoveDeps): Promise<void> {
	const { db, now, clickDays } = deps;
	const at = now();
	const cursors = new Map((await db.select().from(retention)).map(({ name, cursor }) => [name, cursor]));
	const areClicksPartitioned = isPostgres(db);
	// First: what follows may fail.
	if (areClicksPartitioned) await makeClickWeeks(db, at);
	let isArchiveBehind = true;
	let failure: { error: unknown } | null = null;
	try {
		isArchiveBehind = await removeArchived(deps, cursors, at);
	} catch (error) {
		// What the archive does not get is kept no longer for that.
		failure = { error };
	}
	await db.run(sql`DELETE FROM dead_letters WHERE id IN (
		SELECT id FROM dead_letters WHERE replayed_at < ${at - REPLAYED_DAYS * DAY_MS} ORDER BY replayed_at LIMIT ${LOOKED_AT_A_STEP})`);
	await removeHistory(db, at);
	await removeVersions(db, at);
	const visitsEnd = at - VISIT_DAYS * DAY_MS;
	const most = LOOKED_AT_A_STEP * MAX_STEPS;
	await db.run(sql`DELETE FROM paid_visits WHERE click_id IN (
		SELECT click_id FROM paid_visits WHERE click_id < ${leastIdAt(visitsEnd)} ORDER BY click_id LIMIT ${most})`);
	await db.run(sql`DELETE FROM paid_networks WHERE (hour, publisher_id, network) IN (
		SELECT hour, publisher_id, network FROM paid_networks WHERE hour < ${hourOf(visitsEnd)} ORDER BY hour LIMIT ${most})`);
	await db.run(sql`DELETE FROM unpaid_hours WHERE (connection, hour) IN (
		SELECT connection, hour FROM unpaid_hours WHERE hour < ${hourOf(visitsEnd)} ORDER BY hour LIMIT ${most})`);
	await db.run(sql`DELETE FROM bid_hours WHERE (hour, publisher_id, endpoint, outcome) IN (
		SELECT hour, publisher_id, endpoint, outcome FROM bid_hours WHERE hour < ${hourOf(at - BID_COUNTS_DAYS * DAY_MS)}
		ORDER BY hour LIMIT ${most})`);
	await db.run(sql`DELETE FROM auction_feedback WHERE (publisher_id, auction_id) IN (
		SELECT publisher_id, auction_id FROM auction_feedback WHERE at < ${at - AUCTION_KNOWN_DAYS * DAY_MS} ORDER BY at LIMIT ${most})`);
	await db.run(sql`DELETE FROM auction_feedback_days WHERE date < ${utcDay(at - FEEDBACK_DAYS * DAY_MS)}`);
	await db.run(sql`DELETE FROM bid_messages WHERE id IN (
		SELECT id FROM bid_messages WHERE id < ${leastIdAt(at - COUNTED_KNOWN_MS)} ORDER BY id LIMIT ${most})`);
	await removeSignIns(db, at, most);
	await db.run(sql`DELETE FROM claims WHERE id IN (
		SELECT id FROM claims WHERE id < ${leastIdAt(at - CLAIMS_DAYS * DAY_MS)} AND state NOT IN ('open', 'answered') ORDER BY id LIMIT ${LOOKED_AT_A_STEP})`);
	// Last: it waits for a moment in which nobody reads clicks, and gives up where there is none.
	if (areClicksPartitioned && !isArchiveBehind) await dropClickWeeks(db, at - clickDays * DAY_MS);
	if (failure !== null) throw failure.error;
}

/** Removes rows by each rule, once the archive has them. @returns whether clicks are left that the archive is to have */
async function removeArchived(deps: RemoveDeps, cursors: ReadonlyMap<string, string>, at: number): Promise<boolean> {
	const areClicksPartitioned = isPostgres(deps.db);
	let isBehind = false;
	for (const rule of rulesOf(deps.clickDays)) {
		const total = { lookedAt: 0, removed: 0 };
		let cursor = cursors.get(rule.name) ?? "";
		for (let step = 0; step < MAX_STEPS; step++) {
			const done = await removeStep(deps, rule, areClicksPartitioned, cursor, leastIdAt(at - rule.days * DAY_MS));
			if (done === null) break;
			cursor = done.last;
			total.lookedAt += done.lookedAt;
			total.removed += done.removed;
			if (done.lookedAt < LOOKED_AT_A_STEP) break;
			isBehind ||= rule.name === CLICKS && step === MAX_STEPS - 1;
		}
		if (total.lookedAt > 0) logInfo("retention.removed", { what: rule.name, looked_at: total.lookedAt, removed: total.removed });
	}
	return isBehind;
}

/** Claims that have ended, since they were made. */
const CLAIMS_DAYS = 400;

/** How long a link that no longer opens says why. */
const LINKS_SHOWN_DAYS = 30;

/** Removes what nobody can sign in with any more. */
async function removeSignIns(db: Database, at: number, most: number): Promise<void> {
	await runTransaction(db, [
		sql`DELETE FROM console_links WHERE hash IN (
			SELECT l.hash FROM console_links l WHERE l.expires_at < ${at - LINKS_SHOWN_DAYS * DAY_MS} ORDER BY l.expires_at, l.hash LIMIT ${most})`,
		sql`DELETE FROM console_sessions WHERE hash IN (
			SELECT s.hash FROM console_sessions s WHERE s.created_at < ${at - MAX_SESSION_MS} ORDER BY s.created_at, s.hash LIMIT ${most})`,
		sql`DELETE FROM console_challenges WHERE challenge IN (
			SELECT h.challenge FROM console_challenges h WHERE h.expires_at < ${at} ORDER BY h.expires_at, h.challenge LIMIT ${most})`,
	]);
}

/** Parts of imports' changes that one run removes; each holds some hundreds of entries. */
const MAX_CHANGES = 200;

/** Removes what undoes imports. The last version stays: it is the network's. A version is never of a time before its own import. */
async function removeVersions(db: Database, at: number): Promise<void> {
	const before = at - UNDO_DAYS * DAY_MS;
	await runTransaction(db, [
		sql`DELETE FROM network_changes WHERE (version, seq) IN (
			SELECT c.version, c.seq FROM network_changes c WHERE c.version < ${before} ORDER BY c.version, c.seq LIMIT ${MAX_CHANGES})`,
		sql`DELETE FROM network_versions WHERE version < ${before} AND version < (SELECT MAX(version) FROM network_versions)
			AND version NOT IN (SELECT c.version FROM network_changes c WHERE c.version < ${before})`,
	]);
}

/** Pages of reports may be read as of a moment for at least this time, and for at most twice of it. */
const HISTORY_MS = DAY_MS;

/** How long a publisher may go on from where it stopped reading changes. */
const CHANGES_DAYS = 30;

/** Removes what reports as of an earlier moment would read, up to the moment before the last mark; that is then the earliest that can be read. */
async function removeHistory(db: Database, at: number): Promise<void> {
	await runTransaction(db, [
		sql`UPDATE report_sequence SET oldest = marked, marked = present, marked_at = ${at} WHERE id = 1 AND marked_at <= ${at - HISTORY_MS}`,
		sql`DELETE FROM click_history WHERE (until_sequence, click_id) IN (
			SELECT until_sequence, click_id FROM click_history WHERE until_sequence <= (SELECT oldest FROM report_sequence WHERE id = 1)
			ORDER BY until_sequence LIMIT ${LOOKED_AT_A_STEP * MAX_STEPS})`,
		sql`DELETE FROM conversion_history WHERE (until_sequence, platform, txnid) IN (
			SELECT until_sequence, platform, txnid FROM conversion_history WHERE until_sequence <= (SELECT oldest FROM report_sequence WHERE id = 1)
			ORDER BY until_sequence LIMIT ${LOOKED_AT_A_STEP * MAX_STEPS})`,
	]);
	const old = sql`SELECT publisher_id, sequence, platform, txnid FROM conversion_changes WHERE at < ${at - CHANGES_DAYS * DAY_MS}
		ORDER BY at, sequence, platform, txnid LIMIT ${LOOKED_AT_A_STEP * MAX_STEPS}`;
	await runTransaction(db, [
		sql`UPDATE report_sequence SET changes_from = gone.sequence FROM (SELECT MAX(sequence) AS sequence FROM (${old})) AS gone
			WHERE id = 1 AND gone.sequence > changes_from`,
		sql`DELETE FROM conversion_changes WHERE (publisher_id, sequence, platform, txnid) IN (${old})`,
	]);
}

type Step = {
	/** Id of the last row that was looked at. */
	last: string;
	lookedAt: number;
	removed: number;
};

/** The next rows of a table behind a cursor and before an id; null where there are none. */
async function removeStep(
	{ db, archive }: RemoveDeps,
	{ name, table, goes }: Rule,
	areClicksPartitioned: boolean,
	cursor: string,
	before: string,
): Promise<Step | null> {
	// Weeks of clicks are dropped as a whole; before that only the archive has to see their rows.
	const isOfWeeks = areClicksPartitioned && table === clicks && (archive === undefined || name !== CLICKS);
	const stored = isOfWeeks ? sql`clicks_rest AS clicks` : tableName(table);
	const rows = await db.all<{ id: string }>(
		sql`SELECT id FROM ${stored} WHERE id > ${cursor} AND id < ${before} ORDER BY id LIMIT ${LOOKED_AT_A_STEP}`,
	);
	const last = rows.at(-1)?.id;
	if (last === undefined) return null;
	const among = (some: readonly { id: string }[]) =>
		sql`id IN (SELECT atom FROM json_each(${JSON.stringify(some.map(({ id }) => id))})) AND ${goes}`;
	let going = rows;
	if (archive !== undefined) {
		going = await db.all<{ id: string }>(sql`SELECT * FROM ${stored} WHERE ${among(rows)} ORDER BY id`);
		const [first] = going;
		if (first !== undefined) {
			await archive.put(
				`${getTableName(table)}/${dayOf(first.id)}/${first.id}.ndjson`,
				going.map((row) => `${JSON.stringify(row)}\n`).join(""),
			);
		}
	}
	const [removed] = await runTransaction(db, [sql`DELETE FROM ${stored} WHERE ${among(going)}`, moveForward(name, last)]);
	return { last, lookedAt: rows.length, removed: removed?.meta.changes ?? 0 };
}

/** The UTC day of a time-ordered id. */
function dayOf(id: string): string {
	return utcDay(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}
