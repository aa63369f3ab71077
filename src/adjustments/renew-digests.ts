import { type SQL, sql } from "drizzle-orm";
import { type DayOfPublisher, digestsOf } from "../db/digests-of-days.ts";

/**
 * Of days that have a digest: it is to be computed again, and is not current meanwhile, even if their sums come to be what they were. With
 * the transaction that changes their records, so that nobody is told otherwise.
 */
export function renewDigests(adjusted: readonly DayOfPublisher[]): SQL {
	return sql`UPDATE day_digests SET due = 1, version = version + 1, progress = NULL WHERE ${digestsOf(adjusted)}`;
}
