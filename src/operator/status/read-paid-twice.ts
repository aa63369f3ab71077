/** Sales that earned twice: by the amount that granted a claim of them, and more by themselves since, as when they are reported after all. */
import { type SQL, sql } from "drizzle-orm";
import { type Conversion, type ConversionKey, contributionOf, type EventDetails, keyOf } from "../../conversions/conversion.ts";
import type { Database } from "../../db/client.ts";
import type { CLAIM_KINDS } from "../../lib/enums.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { DAY_MS } from "../../lib/time.ts";

export type PaidTwice = {
	/** adjustments.id of the amount. */
	adjustment: string;
	/** The amount, and how much more its sale has come to earn, each micro-dollars; what is more than the amount is left out. */
	amountMicros: number;
	earnedMicros: number;
	/** When the sale last came to earn something else. */
	at: number;
};

/** Such a sale is told of for this time: a person may find that all of it is owed. */
const TOLD_MS = 30 * DAY_MS;
/** What is less of an amount is another rate, or rounded otherwise. */
const LEAST_PART = 0.1;
/** How long after a claim its sale is looked for, and how many of the newest claims are looked at. */
const CLAIMED_WITHIN_MS = 180 * DAY_MS;
const MAX_GRANTED = 500;
/** Clicks and conversions that are looked at, and events that one may have. */
const MAX_CLICKS = 5_000;
const MAX_SALES = 2_000;
const MAX_EVENTS = 500;

type Granted = { hash: string; kind: (typeof CLAIM_KINDS)[number]; at: number; adjustment: string; amountMicros: number };
type Event = ConversionKey & { at: number; details: string };
/** The ids of the redirects of a click hash, and the events of each sale of them, in order. */
type Clicked = { ids: Set<string>; sales: Event[][] };

/** Amounts that granted claims, and stand. */
export function grantedAmountsQuery(now: number): SQL {
	return sql`SELECT newest.click_hash AS hash, newest.kind, newest.changed_at AS at, a.id AS adjustment, a.amount_micros AS "amountMicros"
		FROM (SELECT click_hash, kind, changed_at, adjustment_id FROM claims
			WHERE state = 'granted' AND id >= ${leastIdAt(now - CLAIMED_WITHIN_MS)} AND click_hash IS NOT NULL ORDER BY id DESC LIMIT ${MAX_GRANTED}) newest
		CROSS JOIN adjustments a
		WHERE a.id = newest.adjustment_id AND a.kind = 'amount' AND a.amount_micros > 0
			AND NOT EXISTS (SELECT 1 FROM adjustments u WHERE u.undoes = a.id)
		ORDER BY newest.changed_at, a.id`;
}

/** The oldest first. */
export async function readPaidTwice(db: Database, now: number): Promise<PaidTwice[]> {
	const granted = await db.all<Granted>(grantedAmountsQuery(now));
	if (granted.length === 0) return [];
	const clicked = await readSales(db, [...new Set(granted.map(({ hash }) => hash))]);
	/** What of a click's sales was told already: two amounts may have been granted for them. */
	const told = new Map<string, number>();
	const found = granted.flatMap((grant) => {
		const { hash, adjustment, amountMicros } = grant;
		const { rise, at } = riseSince(grant, clicked.get(hash));
		const earnedMicros = Math.min(amountMicros, rise - (told.get(hash) ?? 0));
		if (earnedMicros < amountMicros * LEAST_PART || at <= now - TOLD_MS) return [];
		told.set(hash, (told.get(hash) ?? 0) + earnedMicros);
		return [{ adjustment, amountMicros, earnedMicros, at }];
	});
	return found.sort((one, next) => one.at - next.at || one.adjustment.localeCompare(next.adjustment));
}

/** How much more the sales of a click earn, micro-dollars, than when an amount was granted for one; of one that was missing, all. */
function riseSince({ kind, at }: Granted, { ids, sales }: Clicked = { ids: new Set(), sales: [] }): { rise: number; at: number } {
	let rise = 0;
	let changedAt = 0;
	for (const events of sales) {
		const present: Partial<Conversion> = {};
		let earned = 0;
		let before = 0;
		for (const event of events) {
			Object.assign(present, (JSON.parse(event.details) as EventDetails).set);
			// It may have been of another click.
			const isOfClick = ids.has(present.clickId ?? "");
			const now = isOfClick ? (contributionOf(present as Conversion)?.conversionRevenueMicros ?? 0) : 0;
			if (kind === "wrong" && event.at < at) before = now;
			else if (now !== earned) changedAt = Math.max(changedAt, event.at);
			earned = now;
		}
		rise += earned - before;
	}
	return { rise, at: changedAt };
}

async function readSales(db: Database, hashes: readonly string[]): Promise<ReadonlyMap<string, Clicked>> {
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
			const own = of.flatMap(({ id }) => salesOf.get(id) ?? []);
			return [hash, { ids: new Set(of.map(({ id }) => id)), sales: own.map((sale) => eventsOf.get(keyOf(sale)) ?? []) }];
		}),
	);
}
