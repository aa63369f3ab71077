/** Which rows a day's sums are made of. */
import { type SQL, sql } from "drizzle-orm";
import { type RemovedClicks, removedFrom } from "../db/removed-clicks.ts";
import { DAY_MS } from "../lib/time.ts";
import { COUNTED_CONVERSION, OTHER_CONVERSION } from "../reports/counted.ts";

/** Of conversions `v`. */
export const IS_COMPLETE = sql`v.publisher_id IS NOT NULL AND v.campaign_id IS NOT NULL AND v.brand_id IS NOT NULL`;

/** Whether what a day's clicks come to is still known: clicks are removed by age, unpaid ones first. */
export function areThere(which: RemovedClicks, from: number): SQL {
	return sql`NOT EXISTS (${removedFrom(which, from)})`;
}

/**
 * Conditions of a publisher's conversions `v` of a day's events, which are in one of two indexes: those that earn by themselves, and all
 * others. Each says so in the words of its index, which {@link COUNTED_CONVERSION} and the publisher's id complete.
 */
export function conversionsOfEvents(from: number): { earning: SQL; other: SQL } {
	const isOfDay = sql`v.event_at >= ${from} AND v.event_at < ${from + DAY_MS} AND ${IS_COMPLETE}`;
	return {
		earning: sql`${isOfDay} AND ${COUNTED_CONVERSION} AND v.pricing_model = 'CPA'`,
		other: sql`${isOfDay} AND ${OTHER_CONVERSION}`,
	};
}
