/** Sales that a person had attached to a click for a time. */
import { type SQL, sql } from "drizzle-orm";
import { type ConversionKey, type EventDetails, type EventKind, keyOf } from "../../conversions/conversion.ts";
import type { Database } from "../../db/client.ts";

/** Whether a conversion is one of a list, as JSON. */
export const isIn = (platform: SQL, txnid: SQL, list: string) =>
	sql`(${platform}, ${txnid}) IN (SELECT value ->> 'platform', value ->> 'txnid' FROM json_each(${list}))`;

/** Sales that a person once attached to one of these clicks, and that have it no more: what they told of it is the user's, and they are not. */
export async function readFormer(db: Database, ids: string, present: readonly ConversionKey[]): Promise<ConversionKey[]> {
	const attached =
		await db.all<ConversionKey>(sql`SELECT DISTINCT request ->> 'platform' AS platform, request ->> 'txnid' AS txnid FROM adjustments
		WHERE kind = 'attach_conversion' AND request ->> 'click' IN (SELECT atom FROM json_each(${ids}))`);
	const known = new Set(present.map(keyOf));
	return attached.filter((key) => !known.has(keyOf(key)));
}

/** When a conversion had one of these clicks, Unix milliseconds: what was told then, and answered, may name the user by sub ids alone. */
export type Period = ConversionKey & { from: number; until: number };

/** The events in which they got one of these clicks, without the publisher's id of it, and from when until when they had it. */
export async function readFormerEvents(db: Database, former: readonly ConversionKey[], clicks: ReadonlySet<string>) {
	const newEvents: (ConversionKey & { seq: number; details: string; had: true })[] = [];
	const periods: Period[] = [];
	if (former.length === 0) return { newEvents, periods };
	const events = await db.all<ConversionKey & { seq: number; at: number; kind: EventKind; details: string }>(
		sql`SELECT platform, txnid, seq, at, kind, details FROM conversion_events
			WHERE ${isIn(sql`platform`, sql`txnid`, JSON.stringify(former))} ORDER BY platform, txnid, seq`,
	);
	const since = new Map<string, number>();
	for (const { platform, txnid, seq, at, kind, details } of events) {
		const key = { platform, txnid };
		const from = since.get(keyOf(key));
		if (kind === "detached" && from !== undefined) {
			periods.push({ ...key, from, until: at });
			since.delete(keyOf(key));
		}
		const event = JSON.parse(details) as EventDetails;
		const { clickId, publisherClickId } = event.set;
		if (typeof clickId !== "string" || !clicks.has(clickId)) continue;
		since.set(keyOf(key), at);
		if (publisherClickId == null) continue;
		event.set.publisherClickId = null;
		newEvents.push({ ...key, seq, details: JSON.stringify(event), had: true });
	}
	return { newEvents, periods };
}

/** Selects the ids of the callbacks that came about then; a further condition may follow. */
export function callbacksWithin(periods: readonly Period[]): SQL {
	return sql`SELECT callbacks.id FROM json_each(${JSON.stringify(periods)}) j CROSS JOIN callbacks
		WHERE platform = j.value ->> 'platform' AND txnid = j.value ->> 'txnid'
			AND created_at BETWEEN CAST(j.value ->> 'from' AS BIGINT) AND CAST(j.value ->> 'until' AS BIGINT)`;
}
