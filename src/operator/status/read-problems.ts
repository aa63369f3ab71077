/** Of the problems: since when, and what they keep back. Bounded, and of indexes. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { PUBLISHING } from "../../learning-night/publishing.ts";
import { CONVERSION_HOLDS, type ConversionHold, type UnsettledStage } from "../../lib/enums.ts";
import { DAY_MS, HOUR_MS } from "../../lib/time.ts";
import { type ExactSum, readSum, sumOf } from "../../reports/exact-sum.ts";
import { openRefused } from "../postback-problems/refused-rows.ts";
import type { ProblemKind } from "./problems-answer.ts";

/** Rows of each kind that are looked at. */
const MAX_ROWS = 10_000;

/** What is known beside the status: since when (Unix milliseconds), micro-dollars, and how many where the status does not say. */
export type ProblemFacts = Partial<Record<ProblemKind, { since: number | null; costMicros: bigint | null; count?: number }>>;

type Open = {
	stage: UnsettledStage;
	heldFor: ConversionHold | null;
	since: number;
	known: number;
	cost: ExactSum;
};

/** When a night is late, which leaves half a day to try it again. */
const NIGHT_LATE_MS = 36 * HOUR_MS;
/** Every hour takes prices a step on, and guards. */
const HOUR_LATE_MS = 6 * HOUR_MS;
/** Breaks, and postbacks that were rejected, are told of for this time. */
const TOLD_DAYS = 7;
/** Tries of an alert that fail in a row: some three minutes of a webhook that takes none. */
const FAILED_TRIES = 3;
/** Each is tried again within an hour: one that is not is of alerts that the operator wants no more, or of a cron that has stopped. */
const TRIED_WITHIN_MS = HOUR_MS;
/** Postbacks of each platform that are looked at, and of all together. */
const MAX_REFUSED = 100;
const MAX_REFUSED_OF_ALL = 1_000;

/** The statements behind the facts: for their query plans. */
export function problemQueries(now: number): SQL[] {
	const worth = sql`coalesce(gross_micros, CASE WHEN currency = 'USD' THEN payout_micros END)`;
	const oldest = (condition: SQL) => sql`SELECT * FROM (
			SELECT stage, held_for, first_received_at, ${worth} AS worth FROM conversions WHERE ${condition}
			ORDER BY first_received_at, platform, txnid LIMIT ${MAX_ROWS}) newest`;
	// Each with those of its own, however many of the others there are.
	const added = (conditions: readonly SQL[]) => sql`SELECT stage, held_for AS "heldFor", MIN(first_received_at) AS since,
			count(worth) AS known, ${sumOf(sql`coalesce(worth, 0)`)} AS cost
			FROM (${sql.join(conditions.map(oldest), sql` UNION ALL `)}) newest GROUP BY stage, held_for`;
	const stages: UnsettledStage[] = ["waiting", "unmatched"];
	return [
		added(stages.map((stage) => sql`stage <> 'settled' AND status <> 'cancelled' AND test = 0 AND stage = ${stage}`)),
		added(CONVERSION_HOLDS.map((why) => sql`stage = 'quarantined' AND status <> 'cancelled' AND test = 0 AND held_for = ${why}`)),
		sql`SELECT (SELECT MIN(updated_at) FROM conversions WHERE status_unknown = 1 AND status = 'pending') AS "unknownStatus",
			(SELECT MIN(received_at) FROM dead_letters WHERE replayed_at IS NULL AND queue = 'clicks') AS "deadClicks",
			(SELECT MIN(received_at) FROM dead_letters WHERE replayed_at IS NULL AND queue = 'postbacks') AS "deadPostbacks",
			(SELECT MIN(received_at) FROM dead_letters WHERE replayed_at IS NULL AND queue = 'callbacks') AS "deadCallbacks"`,
		sql`SELECT (SELECT MIN(found_at) FROM (SELECT found_at FROM sum_differences LIMIT ${MAX_ROWS}) newest) AS sums,
			(SELECT MIN(found_at) FROM (SELECT found_at FROM ledger_differences LIMIT ${MAX_ROWS}) newest) AS ledger,
			(SELECT MIN(paused_at) FROM (SELECT paused_at FROM campaign_pauses LIMIT ${MAX_ROWS}) newest) AS pauses`,
		sql`SELECT MIN(created_at) AS since, ${sumOf(sql`payout_micros`)} AS cost FROM (
			SELECT created_at, CASE WHEN status = 'approved' THEN payout_micros ELSE 0 END AS payout_micros
			FROM callbacks WHERE state = 'exhausted' ORDER BY created_at, id LIMIT ${MAX_ROWS}) newest`,
		sql`SELECT ${sumOf(sql`payout_micros`)} AS cost,
			(SELECT count(*) FROM (SELECT 1 FROM callback_health WHERE paused_at IS NOT NULL LIMIT ${MAX_ROWS}) newest) AS count FROM (
			SELECT CASE WHEN k.status = 'approved' THEN k.payout_micros ELSE 0 END AS payout_micros
			FROM callback_health h CROSS JOIN callbacks k
			WHERE h.paused_at IS NOT NULL AND k.publisher_id = h.publisher_id AND k.held_for = 'pause' LIMIT ${MAX_ROWS}) newest`,
		sql`SELECT count(*) AS count, MIN(changed_at) AS since FROM (
			SELECT changed_at FROM claims WHERE state = 'open' ORDER BY id LIMIT ${MAX_ROWS}) newest`,
		sql`SELECT (SELECT epc_learning ->> 'mode' FROM network_settings WHERE id = 1) AS mode,
			(SELECT campaign_id FROM campaigns WHERE epc_learning IS NOT NULL AND epc_learning ->> 'mode' IN ('advise', 'automatic') LIMIT 1) AS "ownMode",
			(SELECT finished_at FROM learning_nights WHERE finished_at IS NOT NULL AND day <= ${Math.floor(now / DAY_MS)}
				ORDER BY day DESC LIMIT 1) AS "finishedAt",
			(SELECT started_at FROM learning_nights ORDER BY day LIMIT 1) AS "firstAt",
			(SELECT CAST(value ->> 'at' AS BIGINT) FROM learning_work WHERE name = ${PUBLISHING}) AS "publishedAt"`,
		sql`SELECT count(*) AS count, MIN(day) AS day FROM (
			SELECT CAST(last_break ->> 'day' AS BIGINT) AS day FROM learning_campaigns WHERE last_break IS NOT NULL LIMIT ${MAX_ROWS}) newest
			WHERE day > ${Math.floor(now / DAY_MS) - TOLD_DAYS}`,
		// What failed, or came too fast, is sent again. Without || SQLite would make an index of all postbacks by their outcome first.
		sql`SELECT count(*) AS count, MIN(received_at) AS since FROM (
			SELECT i.received_at FROM ${openRefused(now - TOLD_DAYS * DAY_MS, sql`true`, MAX_REFUSED)} AND i.outcome || '' IN ('rejected', 'unknown_key') LIMIT ${MAX_REFUSED_OF_ALL}) newest`,
		sql`SELECT count(*) AS count, MIN(body ->> 'timestamp') AS since FROM problem_alerts
			WHERE body IS NOT NULL AND tries >= ${FAILED_TRIES} AND next_try_at > ${now - TRIED_WITHIN_MS}`,
	];
}

const HELD: Record<ConversionHold, ProblemKind> = {
	no_rate: "no_rate",
	amount: "above_ceiling",
	review: "in_review",
	publisher_suspended: "publisher_suspended",
};

type Nights = {
	mode: string | null;
	/** A campaign that learns whatever the network's mode is. */
	ownMode: number | null;
	finishedAt: number | null;
	firstAt: number | null;
	publishedAt: number | null;
};

/** Since when learned prices are as they are, where anyone learns and that is too long. */
function staleSince({ mode, ownMode, finishedAt, firstAt, publishedAt }: Nights, now: number): number | null {
	if ((mode === null || mode === "off") && ownMode === null) return null;
	const learned = finishedAt ?? firstAt;
	if (learned !== null && now - learned > NIGHT_LATE_MS) return learned;
	const published = publishedAt ?? firstAt;
	return finishedAt !== null && published !== null && now - published > HOUR_LATE_MS ? published : null;
}

export async function readProblemFacts(db: Database, now: number): Promise<ProblemFacts> {
	const [unplaced, held, firsts, others, exhausted, paused, claimed, nights, broken, rejected, alerts] = await runTransaction(
		db,
		problemQueries(now),
	);
	const facts: ProblemFacts = {};
	for (const { stage, heldFor, since, known, cost } of [...(unplaced?.results ?? []), ...(held?.results ?? [])] as Open[]) {
		const kind = stage === "quarantined" ? heldFor && HELD[heldFor] : stage;
		if (kind !== null) facts[kind] = { since, costMicros: known > 0 ? readSum(cost) : null };
	}
	const firstOf = (result: D1Result | undefined, name: string) =>
		((result?.results ?? []) as Record<string, number | null>[])[0]?.[name] ?? null;
	const begun = (kind: ProblemKind, at: number | null) => {
		facts[kind] = { since: at, costMicros: null };
	};
	begun("unknown_status", firstOf(firsts, "unknownStatus"));
	begun("dead_letters_clicks", firstOf(firsts, "deadClicks"));
	begun("dead_letters_postbacks", firstOf(firsts, "deadPostbacks"));
	begun("dead_letters_callbacks", firstOf(firsts, "deadCallbacks"));
	begun("sums_differ", firstOf(others, "sums"));
	begun("ledger_differs", firstOf(others, "ledger"));
	begun("campaigns_paused", firstOf(others, "pauses"));
	const costOf = (result: D1Result | undefined) => readSum(((result?.results ?? []) as { cost: ExactSum }[])[0]?.cost ?? null);
	facts.callbacks_exhausted = { since: firstOf(exhausted, "since"), costMicros: costOf(exhausted) };
	facts.callback_addresses_paused = { since: null, costMicros: costOf(paused), count: firstOf(paused, "count") ?? 0 };
	facts.claims_open = { since: firstOf(claimed, "since"), costMicros: null, count: firstOf(claimed, "count") ?? 0 };
	facts.postbacks_rejected = { since: firstOf(rejected, "since"), costMicros: null, count: firstOf(rejected, "count") ?? 0 };
	const [unsent] = (alerts?.results ?? []) as { count: number; since: string | null }[];
	facts.alerts_fail = { since: unsent?.since == null ? null : Date.parse(unsent.since), costMicros: null, count: unsent?.count ?? 0 };
	const [night] = (nights?.results ?? []) as Nights[];
	const stale = night === undefined ? null : staleSince(night, now);
	facts.prices_stale = { since: stale, costMicros: null, count: stale === null ? 0 : 1 };
	const broke = firstOf(broken, "day");
	facts.prices_broke = { since: broke === null ? null : broke * DAY_MS, costMicros: null, count: firstOf(broken, "count") ?? 0 };
	return facts;
}
