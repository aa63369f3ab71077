/** What is known of clicks that retention has removed: rows of `retention`, each with the id up to which it has come. */
import { type SQL, sql } from "drizzle-orm";
import { leastIdAt } from "../lib/ids.ts";
import { HOUR_MS } from "../lib/time.ts";

/** Rules of retention; `uncounted clicks` are those that nothing was paid for. */
export type RemovedClicks = "clicks" | "uncounted clicks";

/** Where clicks are stored by the week, the end of the last one that was dropped: it had both. */
const DROPPED_WEEKS = "weeks of clicks";

/** A SELECT with a row where any of these clicks, from a time on, have been removed. */
export function removedFrom(which: RemovedClicks, from: number): SQL {
	return sql`SELECT t.name FROM retention t WHERE t.name IN (${which}, ${DROPPED_WEEKS}) AND t.cursor > ${leastIdAt(from - HOUR_MS)}`;
}

/** Notes that all clicks before a time are about to be dropped. @param end Unix milliseconds */
export function noteDropped(end: number): SQL {
	return moveForward(DROPPED_WEEKS, leastIdAt(end));
}

/** Notes how far retention has come. Another run may have come farther meanwhile: what that removed is known to be gone. */
export function moveForward(name: string, cursor: string): SQL {
	return sql`INSERT INTO retention (name, cursor) VALUES (${name}, ${cursor})
		ON CONFLICT (name) DO UPDATE SET cursor = CASE WHEN retention.cursor < excluded.cursor THEN excluded.cursor ELSE retention.cursor END`;
}
