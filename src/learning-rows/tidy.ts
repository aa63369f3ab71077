/** What the nights do to what prices are learned from: it stays small, and says the same. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { firstDaily, WEEK_DAYS } from "../learning/fold.ts";
import { RELEASES_KEPT_DAYS } from "../learning/released.ts";
import { HISTORY_DAYS } from "../learning/settings.ts";
import { DAY_MS } from "../lib/time.ts";
import { addClickRows, addEarningRows } from "./add-rows.ts";
import { firstLearned } from "./rebuild.ts";
import { giveUpPlaces, moveNextRows, type Retirement } from "./retire-sources.ts";

/** `learning_work`, `tidy`: how far a day's tidying is. */
type Tidying = {
	day: number;
	step: "sources" | "old" | "campaigns" | "done";
	after: number;
	/** Of the first step; null where none is under way. Absent in rows of earlier versions. */
	retirement?: Retirement | null;
};

/**
 * Tidies once a day, as far as an invocation goes: before the night, which learns from what it leaves.
 * @param today the day that begins: days since the epoch
 * @param mayGoOn whether there is room for ten statements more
 * @returns whether all is tidy
 */
export async function tidyLearning(db: Database, today: number, mayGoOn: () => boolean): Promise<boolean> {
	const known = await readTidying(db);
	// What gave up its place on another day is moved first.
	let state: Tidying = known?.day === today ? known : { day: today, step: "sources", after: 0, retirement: known?.retirement ?? null };
	if (state.step === "done") return true;
	while (state.step !== "done" && mayGoOn()) state = await take(db, state);
	await db.run(keep(state));
	return state.step === "done";
}

function keep(state: Tidying): SQL {
	return sql`INSERT INTO learning_work (name, value) VALUES ('tidy', ${JSON.stringify(state)})
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
}

/** Whether a day's tidying is done. */
export async function isTidied(db: Database, today: number): Promise<boolean> {
	const known = await readTidying(db);
	return known?.day === today && known.step === "done";
}

async function readTidying(db: Database): Promise<Tidying | null> {
	const [stored] = await db.all<{ value: string }>(sql`SELECT value FROM learning_work WHERE name = 'tidy'`);
	return stored === undefined ? null : (JSON.parse(stored.value) as Tidying);
}

async function take(db: Database, state: Tidying): Promise<Tidying> {
	const { day, step, after } = state;
	if (step === "sources") {
		if (state.retirement != null) return { ...state, retirement: await moveNextRows(db, state.retirement) };
		const retirement = await giveUpPlaces(db, day, (begun) => keep({ ...state, retirement: begun }));
		return retirement === null ? { ...state, step: "old" } : { ...state, retirement };
	}
	if (step === "old") return (await dropOld(db, day)) ? state : { ...state, step: "campaigns" };
	const last = await foldCampaigns(db, after, day);
	return last === null ? { ...state, step: "done" } : { ...state, after: last };
}

/** Rows of clicks that a slice of campaigns has; one that has more is a slice of its own. */
const ROWS_A_FOLD = 10_000;

/**
 * Folds the rows of the next campaigns as src/learning/fold.ts does, drops what is too old to teach anything, and rows that have become
 * nothing. Before it a row may stand for less than nothing: what was taken back of a week that is folded already.
 * @returns the last campaign; null where none is left
 */
async function foldCampaigns(db: Database, after: number, today: number): Promise<number | null> {
	const [next] = await db.all<{ last: number }>(sql`SELECT campaign_id AS last FROM learning_clicks
		WHERE campaign_id > ${after} ORDER BY campaign_id LIMIT 1 OFFSET ${ROWS_A_FOLD}`);
	const last = next?.last ?? Number.MAX_SAFE_INTEGER;
	const isNext = sql`campaign_id > ${after} AND campaign_id <= ${last}`;
	// WEEK_DAYS and MIDDLE_OF_WEEK are written out, since bound ones are other values in GROUP BY.
	const isFolded = sql`day < ${firstDaily(today)} AND day % 7 <> 3`;
	const isOver = sql`day < ${firstLearned(today - HISTORY_DAYS)}`;
	const day = sql`day - day % 7 + 3`;
	await runTransaction(db, [
		addClickRows(sql`SELECT campaign_id, publisher_id, source, keyword, link, ${day}, sum(clicks), sum(gross_micros), sum(paid_micros)
			FROM learning_clicks WHERE ${isNext} AND ${isFolded} GROUP BY campaign_id, publisher_id, source, keyword, link, ${day}`),
		sql`DELETE FROM learning_clicks WHERE ${isNext} AND ((${isFolded}) OR (${isOver}) OR clicks = 0)`,
		addEarningRows(sql`SELECT campaign_id, publisher_id, source, keyword, link, ${day}, size_class, sum(conversions), sum(net_micros)
			FROM learning_earnings WHERE ${isNext} AND ${isFolded} GROUP BY campaign_id, publisher_id, source, keyword, link, ${day}, size_class`),
		sql`DELETE FROM learning_earnings WHERE ${isNext} AND ((${isFolded}) OR (${isOver}) OR conversions = 0)`,
	]);
	return next === undefined ? null : last;
}

/** Rows that one statement drops. */
const ROWS_A_SLICE = 5_000;

/** Drops what no night asks for any more, but for campaigns' rows. @returns whether there may be more: ask again then */
async function dropOld(db: Database, today: number): Promise<boolean> {
	const day = today - HISTORY_DAYS;
	const dropped = await runTransaction(db, [
		// What a conversion has added is known until nothing of its click's week is left.
		sql`DELETE FROM learning_conversions WHERE (platform, txnid) IN
			(SELECT platform, txnid FROM learning_conversions WHERE day < ${day - WEEK_DAYS} ORDER BY day LIMIT ${ROWS_A_SLICE})`,
		sql`DELETE FROM learning_delays WHERE day < ${day}`,
		sql`DELETE FROM learning_publisher_delays WHERE day < ${day}`,
		sql`DELETE FROM learning_changes WHERE (campaign_id, at, keyword) IN
			(SELECT campaign_id, at, keyword FROM learning_changes WHERE at < ${day * DAY_MS} ORDER BY at LIMIT ${ROWS_A_SLICE})`,
		sql`DELETE FROM learning_nights WHERE day < ${day}`,
		sql`DELETE FROM learning_work WHERE name LIKE 'released %' AND CAST(value AS BIGINT) < ${(today - RELEASES_KEPT_DAYS) * DAY_MS}`,
	]);
	return dropped.some(({ meta }) => meta.changes >= ROWS_A_SLICE);
}
