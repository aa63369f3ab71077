/** Sales that earned twice: by the amount that granted a claim of them, and more by themselves since, as when they are reported after all. */
import { type SQL, sql } from "drizzle-orm";
import { type Conversion, type ConversionKey, contributionOf, type EventDetails, keyOf } from "../../conversions/conversion.ts";
import type { Database } from "../../db/client.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { DAY_MS } from "../../lib/time.ts";

export type PaidTwice = {
	/** adjustments.id of the amount. */
	adjustment: string;
	/** What was paid twice at most, micro-dollars. */
	micros: number;
	/** When the sale last came to earn something else. */
	at: number;
};

/** Such a sale is told of for this time: a person may find that all of it is owed. */
const TOLD_MS = 30 * DAY_MS;
/** How long after a claim its sale is looked for, and how many of the newest claims are looked at. */
const CLAIMED_WITHIN_MS = 180 * DAY_MS;
const MAX_GRANTED = 500;
/** Clicks, conversions and events that are looked at. */
const MAX_CLICKS = 5_000;
const MAX_SALES = 2_000;
const MAX_EVENTS = 20_000;

type Granted = { hash: string; at: number; adjustment: string; amountMicros: number };
type Event = ConversionKey & { at: number; details: string };

/** Amounts that granted claims, and stand. */
export function grantedAmountsQuery(now: number): SQL {
	return sql`SELECT newest.click_hash AS hash, newest.changed_at AS at, a.id AS adjustment, a.amount_micros AS "amountMicros"
		FROM (SELECT click_hash, changed_at, adjustment_id FROM claims
			WHERE state = 'granted' AND id >= ${leastIdAt(now - CLAIMED_WITHIN_MS)} AND click_hash IS NOT NULL ORDER BY id DESC LIMIT ${MAX_GRANTED}) newest
		CROSS JOIN adjustments a
		WHERE a.id = newest.adjustment_id AND a.kind = 'amount' AND a.amount_micros > 0
			AND NOT EXISTS (SELECT 1 FROM adjustments u WHERE u.undoes = a.id)`;
}

/** The oldest first. */
export async function readPaidTwice(db: Database, now: number): Promise<PaidTwice[]> {
	const granted = await db.all<Granted>(grantedAmountsQuery(now));
	if (granted.length === 0) return [];
	const sales = await readSales(db, [...new Set(granted.map(({ hash }) => hash))]);
	return granted
		.flatMap((grant) => doubled(grant, sales.get(grant.hash) ?? []))
		.filter(({ at }) => at > now - TOLD_MS)
		.sort((one, next) => one.at - next.at || one.adjustment.localeCompare(next.adjustment));
}

/** What the sales of a click have come to earn more since an amount was granted for one. @param sales the events of each, in order */
function doubled({ adjustment, amountMicros, at }: Granted, sales: readonly (readonly Event[])[]): PaidTwice[] {
	let rise = 0;
	let changedAt = 0;
	for (const events of sales) {
		const present: Partial<Conversion> = {};
		let earned = 0;
		let atGrant = 0;
		for (const event of events) {
			Object.assign(present, (JSON.parse(event.details) as EventDetails).set);
			const now = contributionOf(present as Conversion)?.conversionRevenueMicros ?? 0;
			if (event.at < at) atGrant = now;
			else if (now !== earned) changedAt = Math.max(changedAt, event.at);
			earned = now;
		}
		rise += earned - atGrant;
	}
	return rise > 0 ? [{ adjustment, micros: Math.min(amountMicros, rise), at: changedAt }] : [];
}

/** The events of each sale of these clicks, by the click's hash. */
async function readSales(db: Database, hashes: readonly string[]): Promise<Map<string, Event[][]>> {
	const list = JSON.stringify(hashes);
	// Two indexes share the clicks of a hash.
	const clicked = (reason: SQL) => sql`SELECT c.click_hash AS hash, c.id FROM json_each(${list}) k CROSS JOIN clicks c
		WHERE c.click_hash = k.atom AND ${reason}`;
	const clicks = await db.all<{ hash: string; id: string }>(
		sql`${clicked(sql`(c.reason IS NULL OR c.reason = 'voided')`)} UNION ALL ${clicked(sql`c.reason <> 'voided'`)} LIMIT ${MAX_CLICKS}`,
	);
	const hashOf = new Map(clicks.map(({ id, hash }) => [id, hash]));
	const sales = await db.all<ConversionKey & { clickId: string }>(sql`SELECT v.platform, v.txnid, v.click_id AS "clickId"
		FROM json_each(${JSON.stringify([...hashOf.keys()])}) k CROSS JOIN conversions v WHERE v.click_id = k.atom LIMIT ${MAX_SALES}`);
	const keys = JSON.stringify(sales.map(({ platform, txnid }) => ({ platform, txnid })));
	const events =
		await db.all<Event>(sql`SELECT e.platform, e.txnid, e.at, e.details FROM json_each(${keys}) k CROSS JOIN conversion_events e
		WHERE e.platform = k.value ->> 'platform' AND e.txnid = k.value ->> 'txnid' ORDER BY e.platform, e.txnid, e.seq LIMIT ${MAX_EVENTS}`);
	const eventsOf = Map.groupBy(events, keyOf);
	const found = new Map<string, Event[][]>();
	for (const sale of sales) {
		const hash = hashOf.get(sale.clickId) ?? "";
		found.set(hash, [...(found.get(hash) ?? []), eventsOf.get(keyOf(sale)) ?? []]);
	}
	return found;
}
