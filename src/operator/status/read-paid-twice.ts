/**
 * Sales that earned twice: by the amount that granted a claim of them, and more by themselves since, as when they are reported after all.
 * What a click's sales come to earn more is of the oldest amount that was granted for one before, then of the next.
 */
import { type SQL, sql } from "drizzle-orm";
import { type Conversion, type ConversionKey, contributionOf, type EventDetails, keyOf } from "../../conversions/conversion.ts";
import type { Database } from "../../db/client.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { MICROS_PER_USD } from "../../lib/money.ts";
import { DAY_MS } from "../../lib/time.ts";

export type PaidTwice = {
	/** adjustments.id of the amount. */
	adjustment: string;
	/** The amount, and how much of it its sale has come to earn, each micro-dollars. */
	amountMicros: number;
	earnedMicros: number;
	/** When the sale last came to earn more. */
	at: number;
};

/** Such a sale is told of for this time: a person may find that all of it is owed. */
const TOLD_MS = 30 * DAY_MS;
/** What is less than this, and this part of an amount, is another rate, or rounded otherwise. */
const LEAST_MICROS = MICROS_PER_USD;
const LEAST_PART = 0.1;
/** How long after a claim its sale is looked for, and how many of the newest claims are looked at. */
const CLAIMED_WITHIN_MS = 180 * DAY_MS;
const MAX_GRANTED = 500;
/** Clicks and conversions that are looked at, and events that one may have. */
const MAX_CLICKS = 5_000;
const MAX_SALES = 1_000;
const MAX_EVENTS = 100;

type Granted = { hash: string; at: number; adjustment: string; amountMicros: number; undoneAt: number | null };
type Event = ConversionKey & { at: number; details: string };
/** What a click's sales earn more, or less, from a moment on, micro-dollars. */
type Step = { at: number; micros: number };

/** Amounts that granted claims, in the order of time. */
export function grantedAmountsQuery(now: number): SQL {
	return sql`SELECT newest.click_hash AS hash, newest.changed_at AS at, a.id AS adjustment, a.amount_micros AS "amountMicros",
			(SELECT u.at FROM adjustments u WHERE u.undoes = a.id) AS "undoneAt"
		FROM (SELECT click_hash, changed_at, adjustment_id FROM claims
			WHERE state = 'granted' AND id >= ${leastIdAt(now - CLAIMED_WITHIN_MS)} AND click_hash IS NOT NULL ORDER BY id DESC LIMIT ${MAX_GRANTED}) newest
		CROSS JOIN adjustments a
		WHERE a.id = newest.adjustment_id AND a.kind = 'amount' AND a.amount_micros > 0
		ORDER BY newest.changed_at, a.id`;
}

/** The oldest first. */
export async function readPaidTwice(db: Database, now: number): Promise<PaidTwice[]> {
	const granted = await db.all<Granted>(grantedAmountsQuery(now));
	if (granted.length === 0) return [];
	const stepsOf = await readSteps(db, [...new Set(granted.map(({ hash }) => hash))]);
	return [...Map.groupBy(granted, ({ hash }) => hash)]
		.flatMap(([hash, grants]) => spend(grants, stepsOf.get(hash) ?? [], now - TOLD_MS))
		.sort((one, next) => one.at - next.at || one.adjustment.localeCompare(next.adjustment));
}

/**
 * What of the amounts that were granted for one click its sales have come to earn. Each amount is the part of what they earn that lies above
 * what they had when it was granted, and above the amounts before it: of one that was undone, above what it had earned by then.
 * @param told from when on that is told
 */
function spend(grants: readonly Granted[], steps: readonly Step[], told: number): PaidTwice[] {
	let top = 0;
	return grants.flatMap(({ at: grantedAt, adjustment, amountMicros, undoneAt }) => {
		const had = steps.reduce((sum, { at, micros }) => (at < grantedAt ? sum + micros : sum), 0);
		const bottom = Math.max(had, top);
		let level = 0;
		let earnedMicros = 0;
		let earnedBefore = 0;
		let earnedUndone = 0;
		let lastAt = 0;
		for (const { at, micros } of steps) {
			level += micros;
			if (at < grantedAt) continue;
			const earned = Math.min(amountMicros, Math.max(0, level - bottom));
			if (earned > earnedMicros) lastAt = at;
			if (at <= told) earnedBefore = earned;
			if (undoneAt !== null && at <= undoneAt) earnedUndone = earned;
			earnedMicros = earned;
		}
		top = bottom + (undoneAt === null ? amountMicros : earnedUndone);
		if (undoneAt !== null || earnedMicros - earnedBefore < Math.min(LEAST_MICROS, amountMicros * LEAST_PART)) return [];
		return [{ adjustment, amountMicros, earnedMicros, at: lastAt }];
	});
}

/** What a sale earns more or less with each of its events, while it is of one of these clicks. */
function stepsOfSale(events: readonly Event[], ids: ReadonlySet<string>): Step[] {
	const present: Partial<Conversion> = {};
	let earned = 0;
	return events.flatMap(({ at, details }) => {
		Object.assign(present, (JSON.parse(details) as EventDetails).set);
		const before = earned;
		earned = ids.has(present.clickId ?? "") ? (contributionOf(present as Conversion)?.conversionRevenueMicros ?? 0) : 0;
		return earned === before ? [] : [{ at, micros: earned - before }];
	});
}

/** By click hash, in the order of time. */
async function readSteps(db: Database, hashes: readonly string[]): Promise<ReadonlyMap<string, Step[]>> {
	const list = JSON.stringify(hashes);
	// Two indexes share the clicks of a hash.
	const clicked = (reason: SQL) => sql`SELECT c.click_hash AS hash, c.id FROM json_each(${list}) k CROSS JOIN clicks c
		WHERE c.click_hash = k.atom AND ${reason}`;
	const clicks = await db.all<{ hash: string; id: string }>(
		sql`${clicked(sql`(c.reason IS NULL OR c.reason = 'voided')`)} UNION ALL ${clicked(sql`c.reason <> 'voided'`)} LIMIT ${MAX_CLICKS}`,
	);
	const ids = JSON.stringify(clicks.map(({ id }) => id));
	const sales = await db.all<ConversionKey & { clickId: string }>(sql`SELECT v.platform, v.txnid, v.click_id AS "clickId"
		FROM json_each(${ids}) k CROSS JOIN conversions v WHERE v.click_id = k.atom AND v.event_count <= ${MAX_EVENTS} LIMIT ${MAX_SALES}`);
	const keys = JSON.stringify(sales.map(({ platform, txnid }) => ({ platform, txnid })));
	const events =
		await db.all<Event>(sql`SELECT e.platform, e.txnid, e.at, e.details FROM json_each(${keys}) k CROSS JOIN conversion_events e
		WHERE e.platform = k.value ->> 'platform' AND e.txnid = k.value ->> 'txnid' ORDER BY e.platform, e.txnid, e.seq`);
	const eventsOf = Map.groupBy(events, keyOf);
	const salesOf = Map.groupBy(sales, ({ clickId }) => clickId);
	return new Map(
		[...Map.groupBy(clicks, ({ hash }) => hash)].map(([hash, of]) => {
			const ids = new Set(of.map(({ id }) => id));
			const own = [...ids].flatMap((id) => salesOf.get(id) ?? []);
			return [hash, own.flatMap((sale) => stepsOfSale(eventsOf.get(keyOf(sale)) ?? [], ids)).sort((one, next) => one.at - next.at)];
		}),
	);
}
