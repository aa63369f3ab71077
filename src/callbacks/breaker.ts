/**
 * The circuit breaker of a publisher's address: after many failures in a row it is paused, and its callbacks are put aside, not
 * dropped. A probe now and then goes out all the same; the first that is confirmed ends the pause. Another address starts afresh.
 */
import { type SQL, sql } from "drizzle-orm";
import { MINUTE_MS } from "../lib/time.ts";

export const FAILURES_TO_PAUSE = 20;
const PROBE_INTERVAL_MS = 5 * MINUTE_MS;

type Address = { publisherId: string; url: string };

/**
 * Counts a failure, and pauses the address at the {@link FAILURES_TO_PAUSE}th in a row. That of an address that is the publisher's no more,
 * as where another was imported during the call, says nothing of the present one.
 */
export function countFailure({ publisherId, url }: Address, now: number): SQL {
	const pausing = (at: number, column: SQL) => sql`CASE WHEN h.url <> excluded.url THEN NULL
			WHEN ${column} IS NULL AND h.failures_in_a_row + 1 >= ${FAILURES_TO_PAUSE} THEN ${at} ELSE ${column} END`;
	return sql`INSERT INTO callback_health AS h (publisher_id, url, failures_in_a_row)
		SELECT id, callback_url, 1 FROM publishers WHERE id = ${publisherId} AND callback_url = ${url}
		ON CONFLICT (publisher_id) DO UPDATE SET
			failures_in_a_row = CASE WHEN h.url = excluded.url THEN h.failures_in_a_row + 1 ELSE 1 END,
			paused_at = ${pausing(now, sql`h.paused_at`)},
			next_probe_at = ${pausing(now + PROBE_INTERVAL_MS, sql`h.next_probe_at`)},
			releasing = CASE WHEN h.url <> excluded.url AND h.paused_at IS NOT NULL THEN 1 ELSE h.releasing END,
			url = excluded.url
		RETURNING paused_at`;
}

/** Ends the count, and the pause if there is one. Writes nothing, and returns no row, where all was well. */
export function countSuccess({ publisherId, url }: Address): SQL {
	return sql`UPDATE callback_health
		SET failures_in_a_row = 0, releasing = CASE WHEN paused_at IS NOT NULL THEN 1 ELSE releasing END, paused_at = NULL, next_probe_at = NULL
		WHERE publisher_id = ${publisherId} AND url = ${url} AND (failures_in_a_row > 0 OR paused_at IS NOT NULL)
		RETURNING releasing`;
}

/** Ends the pauses of addresses that are no longer their publishers'. */
export function forgetMovedAddresses(): SQL {
	return sql`UPDATE callback_health SET failures_in_a_row = 0, paused_at = NULL, next_probe_at = NULL, releasing = 1
		WHERE paused_at IS NOT NULL AND url IS DISTINCT FROM (SELECT p.callback_url FROM publishers p WHERE p.id = callback_health.publisher_id)`;
}

/** A condition: whether the address that a publisher has now is paused. */
export function isAddressPaused(publisherId: string): SQL {
	return sql`EXISTS (SELECT 1 FROM callback_health h JOIN publishers p ON p.id = h.publisher_id
		WHERE h.publisher_id = ${publisherId} AND h.url = p.callback_url AND h.paused_at IS NOT NULL)`;
}

/** Takes the one probe of an interval for the callback under `lease`, if its address is paused. */
export function takeProbe(id: string, lease: string, now: number): SQL {
	return sql`UPDATE callback_health SET next_probe_at = ${now + PROBE_INTERVAL_MS}
		WHERE paused_at IS NOT NULL AND publisher_id = (SELECT c.publisher_id FROM callbacks c WHERE c.id = ${id} AND c.lease = ${lease})`;
}
