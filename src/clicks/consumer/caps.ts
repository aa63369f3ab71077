/** Holds billed clicks against the caps of campaigns: pauses in D1, from which the KV key of the bid path is made. */
import { lt, type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction, textOf } from "../../db/client.ts";
import { insertRows, namedCells, writeCells } from "../../db/json-rows.ts";
import { campaignPauses, campaignRates } from "../../db/schema/counters.ts";
import type { Cap } from "../../lib/enums.ts";
import { logInfo } from "../../lib/log.ts";
import { splitByBytes } from "../../lib/split-by-bytes.ts";
import { HOUR_MS, localDay, MINUTE_MS, utcDay } from "../../lib/time.ts";
import {
	type CampaignCaps,
	decidePause,
	expectAhead,
	PAUSE_PROPAGATION_MS,
	RATE_SLOT_MS,
	RATE_WINDOW_MS,
	rateSlotOf,
	type Spent,
} from "./decide-pause.ts";
import { isPublished, MARK_CHANGED, type PauseDeps, publishPauses } from "./publish-pauses.ts";

export type CapDeps = PauseDeps & { now: () => number };

const RATES_KEPT_MS = 10 * MINUTE_MS;

/** A campaign that was clicked; `at` is the time of its latest click. */
export type ClickedCampaign = { campaignId: number; timezone: string; at: number };

/** A campaign with its caps, what has been spent of them, and its pause where it has one. */
type CapState = CampaignCaps & {
	campaignId: number;
	timezone: string;
	/** The day that `dayClicks` and `dayMicros` are of. */
	day: string;
	dayClicks: number;
	dayMicros: number;
	everMicros: number;
	everClicks: number;
};

/** With the pace of the campaign: billed clicks of the last `windowMs` milliseconds. */
export type PacedState = CapState & { recentClicks: number; recentMicros: number; windowMs: number };

const NOTHING: Spent = { clicks: 0, micros: 0 };

type Pause = { campaignId: number; cap: Cap; day: string; ahead: Spent };

/**
 * How campaigns stand: their caps, what is spent of them, and their pace. Gives rows of {@link PacedState}.
 * @param clicked campaigns with a cap that were just clicked
 */
export function stateStatement(db: D1Database, clicked: readonly ClickedCampaign[], now: number): D1PreparedStatement {
	// The pace is that of the clicks' own time: a queue that lags does not slow it down.
	const asked = clicked.map(({ campaignId, timezone, at }) => {
		const firstSlot = rateSlotOf(at - RATE_WINDOW_MS);
		return { campaignId, day: localDay(timezone, now), firstSlot, windowMs: at - firstSlot * RATE_SLOT_MS };
	});
	return db.prepare(SELECT_STATES).bind(writeCells(ASKED, asked));
}

/** Pauses those of the campaigns whose caps are met, or will be before a pause is known everywhere. */
export async function pauseSpent(deps: CapDeps, states: readonly PacedState[], now: number): Promise<void> {
	const pauses = states.flatMap((state) => {
		return pauseOf(state, expectAhead({ clicks: state.recentClicks, micros: state.recentMicros }, state.windowMs));
	});
	await pause(deps, pauses, now);
}

/** What a counter `of` campaign `c` has of its budgets, on their basis. */
function budgetCost(of: SQL): SQL {
	return sql`(CASE c.budget_basis WHEN 'gross' THEN ${of}.gross_micros ELSE ${of}.spend_micros END)`;
}

const stateColumns = sql`c.campaign_id AS "campaignId", c.timezone, c.daily_click_cap AS "dailyClickCap",
	c.daily_budget_micros AS "dailyBudgetMicros", c.total_budget_micros AS "totalBudgetMicros",
	coalesce(d.click_count, 0) AS "dayClicks", coalesce(${budgetCost(sql`d`)}, 0) AS "dayMicros",
	coalesce(t.click_count, 0) AS "everClicks", coalesce(${budgetCost(sql`t`)}, 0) AS "everMicros"`;

/** What is asked of a campaign: `windowMs` are the milliseconds from the first slot to the click. */
const ASKED = ["campaignId", "day", "firstSlot", "windowMs"] as const;
const asked = namedCells(ASKED, sql`asked.value`);
/** All of {@link RATE_WINDOW_MS} up to that of the click, one by one: the key has them before campaigns. */
const slots: SQL[] = [sql`CAST(${asked.firstSlot} AS BIGINT)`];
while (slots.length <= RATE_WINDOW_MS / RATE_SLOT_MS) slots.push(sql`${slots.at(-1)} + 1`);

/** ?1 is a JSON array of rows of {@link ASKED}. */
const SELECT_STATES = textOf(sql`SELECT ${stateColumns}, ${asked.day} AS day,
		coalesce(sum(r.click_count), 0) AS "recentClicks", coalesce(sum(${budgetCost(sql`r`)}), 0) AS "recentMicros",
		CAST(${asked.windowMs} AS BIGINT) AS "windowMs"
	FROM json_each(?1) asked
	CROSS JOIN campaigns c
	LEFT JOIN campaign_days d ON d.campaign_id = c.campaign_id AND d.day = ${asked.day}
	LEFT JOIN campaign_totals t ON t.campaign_id = c.campaign_id
	LEFT JOIN campaign_rates r ON r.slot IN (${sql.join(slots, sql`, `)}) AND r.campaign_id = c.campaign_id
	WHERE c.campaign_id = CAST(${asked.campaignId} AS BIGINT)
	GROUP BY c.campaign_id, d.campaign_id, d.day, t.campaign_id, asked.value`);

function pauseOf(state: CapState, ahead: Spent): Pause[] {
	const cap = decidePause(state, ...spentOf(state), ahead);
	return cap === null ? [] : [{ campaignId: state.campaignId, cap, day: state.day, ahead }];
}

function spentOf(state: CapState): [today: Spent, ever: Spent] {
	return [
		{ clicks: state.dayClicks, micros: state.dayMicros },
		{ clicks: state.everClicks, micros: state.everMicros },
	];
}

/** Writes pauses; those that stand already stay as they are. Publishes where there is a new one. */
async function pause(deps: CapDeps, pauses: readonly Pause[], now: number): Promise<void> {
	if (pauses.length === 0) return;
	const rows = pauses.map(({ campaignId, cap, day, ahead }) => {
		return { campaignId, cap, day, pausedAt: now, aheadClicks: ahead.clicks, aheadMicros: ahead.micros };
	});
	const written: { campaignId: number; cap: Cap }[] = [];
	for (const part of splitByBytes(rows)) {
		const again = sql`ON CONFLICT (campaign_id) DO NOTHING RETURNING campaign_id AS "campaignId", cap`;
		written.push(...(await deps.db.all<{ campaignId: number; cap: Cap }>(insertRows(campaignPauses, part, again))));
	}
	if (written.length === 0) return;
	await deps.db.run(MARK_CHANGED);
	tell(
		"campaign.paused",
		written.map(({ campaignId, cap }) => ({ campaign: campaignId, cap })),
	);
	await publishPauses(deps);
}

/**
 * The work of every minute: resumes what may bid again (a new day on its clocks, a raised cap), pauses what only now has met a cap
 * (a lowered one), and puts the KV key right where it does not hold what the database says.
 */
export async function sweepCaps(deps: CapDeps): Promise<void> {
	const { db } = deps;
	const now = deps.now();
	await resumePauses(deps, now);
	await pause(deps, await findSpent(db, now), now);
	await db.delete(campaignRates).where(lt(campaignRates.slot, rateSlotOf(now - RATES_KEPT_MS)));
	if (!(await isPublished(deps))) await db.run(MARK_CHANGED);
	await publishPauses(deps);
}

/**
 * After an import, which may have lowered a cap or brought a campaign back: {@link sweepCaps}, and total budgets that were spent
 * on days before this one, which no click of today tells of.
 */
export async function sweepImportedCaps(deps: CapDeps): Promise<void> {
	const now = deps.now();
	const states = await deps.db.all<CapState>(SPENT_EVER);
	await pause(
		deps,
		states.flatMap((state) => pauseOf({ ...state, day: localDay(state.timezone, now) }, NOTHING)),
		now,
	);
	await sweepCaps(deps);
}

/** Ends the pauses whose campaign may bid again, or is no more. */
async function resumePauses({ db }: CapDeps, now: number): Promise<void> {
	const paused = await db.all<{ campaignId: number; timezone: string | null }>(
		sql`SELECT p.campaign_id AS "campaignId", c.timezone FROM campaign_pauses p LEFT JOIN campaigns c ON c.campaign_id = p.campaign_id`,
	);
	if (paused.length === 0) return;
	const present = paused.map(({ campaignId, timezone }) => ({ campaignId, day: localDay(timezone ?? "UTC", now) }));
	const staying = new Set<number>();
	for (const part of splitByBytes(present)) {
		const states = await readPausedStates(db, part);
		for (const state of states) if (pauseOf(state, aheadOf(state, now)).length > 0) staying.add(state.campaignId);
	}
	const resumed = paused.map(({ campaignId }) => campaignId).filter((campaignId) => !staying.has(campaignId));
	if (resumed.length === 0) return;
	await runTransaction(db, [
		sql`DELETE FROM campaign_pauses WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${JSON.stringify(resumed)}))`,
		MARK_CHANGED,
	]);
	tell(
		"campaign.resumed",
		resumed.map((campaign) => ({ campaign })),
	);
}

/** Some of the paused campaigns, each on its present day. */
function readPausedStates(db: Database, asked: readonly { campaignId: number; day: string }[]): Promise<(CapState & PausedState)[]> {
	return db.all<CapState & PausedState>(sql`SELECT ${stateColumns},
			present.value ->> 'day' AS day, p.day AS "pausedDay", p.paused_at AS "pausedAt", p.ahead_clicks AS "aheadClicks", p.ahead_micros AS "aheadMicros"
		FROM json_each(${JSON.stringify(asked)}) present
		CROSS JOIN campaign_pauses p
		CROSS JOIN campaigns c
		LEFT JOIN campaign_days d ON d.campaign_id = c.campaign_id AND d.day = present.value ->> 'day'
		LEFT JOIN campaign_totals t ON t.campaign_id = c.campaign_id
		WHERE p.campaign_id = CAST(present.value ->> 'campaignId' AS BIGINT) AND c.campaign_id = p.campaign_id`);
}

/** This many campaigns are named in the log when they pause or resume together. */
const MAX_TOLD = 100;

function tell(event: "campaign.paused" | "campaign.resumed", campaigns: readonly { campaign: number; cap?: Cap }[]): void {
	for (const fields of campaigns.slice(0, MAX_TOLD)) logInfo(event, fields);
	if (campaigns.length > MAX_TOLD) logInfo(event, { more: campaigns.length - MAX_TOLD });
}

type PausedState = { pausedDay: string; pausedAt: number; aheadClicks: number; aheadMicros: number };

/**
 * Until the pause is known everywhere, what was under way when it began still counts as to come: a campaign that stands still would
 * else resume because it stands still. After that what came of it has been counted, and a burst does not cost the campaign its day.
 */
function aheadOf(state: PausedState & { day: string }, now: number): Spent {
	if (state.day !== state.pausedDay || now - state.pausedAt > PAUSE_PROPAGATION_MS) return NOTHING;
	return { clicks: state.aheadClicks, micros: state.aheadMicros };
}

/** Campaigns clicked today, on their own clocks, whose caps are met, but for those that stand still already: on most minutes, all of them. */
async function findSpent(db: Database, now: number): Promise<Pause[]> {
	// Clocks are at most 14 hours ahead of UTC, and 12 behind.
	const days = JSON.stringify([...new Set([now - 12 * HOUR_MS, now, now + 14 * HOUR_MS].map(utcDay))]);
	const states = await db.all<CapState>(sql`SELECT ${stateColumns}, d.day
		FROM json_each(${days}) today
		CROSS JOIN campaign_days d
		CROSS JOIN campaigns c
		LEFT JOIN campaign_totals t ON t.campaign_id = c.campaign_id
		WHERE d.day = today.atom AND c.campaign_id = d.campaign_id AND (${isMet})
			AND NOT EXISTS (SELECT 1 FROM campaign_pauses p WHERE p.campaign_id = d.campaign_id)`);
	return states.filter((state) => state.day === localDay(state.timezone, now)).flatMap((state) => pauseOf(state, NOTHING));
}

/** As `decidePause` has it, of what nothing is under way for. */
function isBudgetMet(of: SQL, budget: SQL): SQL {
	const spent = budgetCost(of);
	return sql`${spent} >= ${budget} OR ${spent} + ${spent} / nullif(${of}.click_count, 0) > ${budget}`;
}

/** Campaigns whose total budgets are met, of no day; for its query plan, too. SQLite reads all days for `ON false`, once for each campaign. */
export const SPENT_EVER: SQL = sql`SELECT ${stateColumns}, '' AS day
	FROM campaigns c
	CROSS JOIN campaign_totals t
	LEFT JOIN campaign_days d ON d.campaign_id = c.campaign_id AND d.day = ''
	WHERE c.total_budget_micros IS NOT NULL AND t.campaign_id = c.campaign_id AND (${isBudgetMet(sql`t`, sql`c.total_budget_micros`)})`;

const isMet: SQL = sql`d.click_count >= c.daily_click_cap OR ${isBudgetMet(sql`d`, sql`c.daily_budget_micros`)}
	OR ${isBudgetMet(sql`t`, sql`c.total_budget_micros`)}`;
