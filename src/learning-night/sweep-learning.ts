/** The cron's part of learning: the night once a UTC day, and every hour what moves prices; each as far as an invocation goes. */
import { sql } from "drizzle-orm";
import { type Database, isPostgres } from "../db/client.ts";
import { dayOf } from "../learning/cohorts.ts";
import type { NetworkLearning } from "../learning/policy.ts";
import { closeGap, hasGap } from "../learning-rows/gap.ts";
import { isTidied, tidyLearning } from "../learning-rows/tidy.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/time.ts";
import { findAhead } from "./clock.ts";
import { findBreakOf, listUnsettled } from "./find-breaks.ts";
import { holdGuards } from "./hold-guards.ts";
import { underLease } from "./lease.ts";
import { openNight } from "./night-progress.ts";
import { isLearning, readNetworkLearning } from "./policies.ts";
import { FIRST_FACTOR, publishFactors } from "./publish-factors.ts";
import { PUBLISHING, PUBLISHING_FAULT, type Publishing } from "./publishing.ts";
import { runNight } from "./run-night.ts";
import { writeLearnedKey } from "./write-learned-key.ts";

export type LearningDeps = { db: Database; kv: KVNamespace; now: () => number };

/** The least that a run needs to come on. */
export const LEARNING_STATEMENTS = 60;
/** Statements that it leaves to the other jobs. */
const LEFT_TO_OTHERS = 100;
/** Rows of clicks and earnings that a run reads: some seconds. */
const ROWS_A_RUN = 200_000;
/** Of a run that finds nothing to learn. */
const FACTORS_FORGOTTEN = 10_000;
/** A night that failed is tried again after this time. */
const AGAIN_MS = 10 * MINUTE_MS;

/** One run at a time. @param mayGoOn whether enough is left for another slice, given what is left to others */
export async function sweepLearning(deps: LearningDeps, hasLeft: (statements: number) => boolean): Promise<void> {
	const { db, now } = deps;
	const network = await readNetworkLearning(db);
	const learns = await isLearning(db, network);
	if (!learns) await forgetFactors(db);
	// What PostgreSQL holds of a week may be more than one transaction should sum up later.
	const sums = learns || isPostgres(db);
	if (!learns && (await isTidied(db, dayOf(now()))) && !(sums && (await hasGap(db)))) return;
	await underLease(db, now(), () => sweep(deps, network, { learns, sums }, () => hasLeft(LEFT_TO_OTHERS)));
}

/** @param wanted whether anyone learns, and whether clicks are summed up to be learned from */
async function sweep(
	deps: LearningDeps,
	network: NetworkLearning | null,
	wanted: { learns: boolean; sums: boolean },
	mayGoOn: () => boolean,
): Promise<void> {
	const { db, now } = deps;
	const today = dayOf(now());
	// Rows that there are once stay, whether anyone learns from them or not.
	const tidy = () => tidyLearning(db, today, mayGoOn);
	const makeUp = async () => !wanted.sums || (await closeGap(db, today, mayGoOn));
	const ahead = await findAhead(db, now());
	if (ahead !== null) {
		if (wanted.learns) await noteFault(db, now(), ahead);
		return;
	}
	if (!wanted.learns) {
		if (await makeUp()) await tidy();
		return;
	}
	await forgetToCome(db, today);
	const limits = { rows: ROWS_A_RUN, mayGoOn };
	const night = await tryNight(deps, today, async () => (await makeUp()) && (await tidy()) && runNight(deps, network, today, limits));
	const hour = await tryHour(deps, mayGoOn);
	if (night !== null || hour !== null) throw night ?? hour;
}

/** A clock that was ahead has left nights of days to come: those that are done already would be gone without. */
async function forgetToCome(db: Database, today: number): Promise<void> {
	await db.run(sql`DELETE FROM learning_nights WHERE day > ${today}`);
}

/** Once prices are learned again they set out from the operator's numbers, and not from what was in force when they were last. */
async function forgetFactors(db: Database): Promise<void> {
	const [first] = await db.all(sql`SELECT 1 AS found FROM learning_factors LIMIT 1`);
	if (first === undefined) return;
	await db.run(sql`DELETE FROM learning_factors WHERE (level, campaign_id, publisher_id, name) IN (
		SELECT level, campaign_id, publisher_id, name FROM learning_factors LIMIT ${FACTORS_FORGOTTEN})`);
}

/** A night that fails leaves what was learned before, and is told of. */
async function tryNight({ db, now }: LearningDeps, day: number, run: () => Promise<unknown>): Promise<Error | null> {
	const [failed] = await db.all<{ at: number }>(
		sql`SELECT CAST(fault ->> 'at' AS BIGINT) AS at FROM learning_nights WHERE day = ${day} AND fault IS NOT NULL`,
	);
	if (failed !== undefined && now() - failed.at < AGAIN_MS) return null;
	try {
		await run();
		return null;
	} catch (error) {
		const fault = describeFault(error, now());
		await openNight(db, day, now());
		await db.run(sql`UPDATE learning_nights SET fault = ${fault} WHERE day = ${day}`);
		return error instanceof Error ? error : new Error(fault);
	}
}

/** What something failed of: JSON. */
function describeFault(error: unknown, at: number): string {
	const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
	return JSON.stringify({ at, message: root instanceof Error ? `${root.name}: ${root.message}` : "unknown" });
}

/** An hour that fails begins again with the next run, and is told of until one ends. */
async function tryHour(deps: LearningDeps, mayGoOn: () => boolean): Promise<Error | null> {
	try {
		await tellOf(deps.db, deps.now(), () => publishHour(deps, mayGoOn));
		return null;
	} catch (error) {
		return error instanceof Error ? error : new Error(String(error));
	}
}

/** Has what an hour fails of told until one ends. @throws what it fails of */
async function tellOf(db: Database, at: number, work: () => Promise<void>): Promise<void> {
	try {
		await work();
	} catch (error) {
		await noteFault(db, at, error);
		throw error;
	}
}

async function noteFault(db: Database, at: number, error: unknown): Promise<void> {
	await db.run(sql`INSERT INTO learning_work (name, value) VALUES (${PUBLISHING_FAULT}, ${describeFault(error, at)})
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
}

async function publishHour({ db, kv, now }: LearningDeps, mayGoOn: () => boolean): Promise<void> {
	const [night] = await db.all<{ day: number }>(sql`SELECT max(day) AS day FROM learning_nights
		WHERE finished_at IS NOT NULL AND day <= ${dayOf(now())}`);
	if (night?.day == null) return;
	const [stored] = await db.all<{ value: string }>(sql`SELECT value FROM learning_work WHERE name = ${PUBLISHING}`);
	const known = stored === undefined ? null : (JSON.parse(stored.value) as Publishing);
	const hour = Math.floor(now() / HOUR_MS);
	const state = known !== null && known.step !== "done" ? known : beginHour(known, hour, night.day, now());
	if (state.step === "done") return;
	const network = await readNetworkLearning(db);
	while (state.step !== "done" && mayGoOn()) {
		if (state.step === "guards") {
			const last = await holdGuards(db, network, state);
			if (last === null) state.step = "breaks";
			else state.after = last;
		} else if (state.step === "breaks") {
			await findBreaks(db, network, state);
		} else if (state.step === "factors") {
			// Of a night that is under way, or broke, some factors aim where it has come to, and others where the one before has.
			const next = (await isNightOpen(db, state.day, dayOf(now()))) ? null : await publishFactors(db, network, state.factor, now());
			if (next === null) state.step = "key";
			else state.factor = next;
		} else {
			await writeLearnedKey(db, kv);
			await db.run(sql`DELETE FROM learning_work WHERE name = ${PUBLISHING_FAULT}`);
			state.step = "done";
		}
	}
	await db.run(sql`INSERT INTO learning_work (name, value) VALUES (${PUBLISHING}, ${JSON.stringify(state)})
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
}

/** Whether a night has begun since the one of a day, and has not ended. */
async function isNightOpen(db: Database, day: number, today: number): Promise<boolean> {
	const [open] = await db.all(
		sql`SELECT 1 AS found FROM learning_nights WHERE finished_at IS NULL AND day > ${day} AND day <= ${today} LIMIT 1`,
	);
	return open !== undefined;
}

function beginHour(before: Publishing | null, hour: number, day: number, at: number): Publishing {
	if (before !== null && before.hour === hour && before.day === day) return before;
	const since = before?.at ?? at - HOUR_MS;
	return { hour, day, step: "guards", after: 0, unsettled: null, since, factor: FIRST_FACTOR, at, all: before?.day !== day };
}

/** Looks at one campaign, or finds out at which. What a night has not seen yet is left to it. */
async function findBreaks(db: Database, network: NetworkLearning | null, state: Publishing): Promise<void> {
	state.unsettled ??= dayOf(state.at) === state.day ? await listUnsettled(db, state.day, state.since) : [];
	const [next, ...rest] = state.unsettled;
	state.unsettled = rest;
	if (next === undefined) state.step = "factors";
	else await findBreakOf(db, network, state, next);
}
