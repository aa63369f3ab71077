/** Digests of publishers' closed days (src/days), as those say who change what they are of: in the same transaction. */
import { type SQL, sql } from "drizzle-orm";

/** What is of no publisher, or of no day, is in no digest. */
export type DayOfPublisher = { publisherId?: string | null | undefined; date?: string | null | undefined };

/** A condition on `day_digests`. */
function digestsOf(changed: readonly DayOfPublisher[]): SQL {
	const days = changed.flatMap(({ publisherId, date }) => (publisherId == null || date == null ? [] : [{ publisherId, date }]));
	const among = (values: readonly string[]) => sql`(SELECT atom FROM json_each(${JSON.stringify([...new Set(values)])}))`;
	// Both columns of the key by themselves, so that it serves; then both together.
	return sql`publisher_id IN ${among(days.map(({ publisherId }) => publisherId))} AND day IN ${among(days.map(({ date }) => date))}
			AND day || ' ' || publisher_id IN ${among(days.map(({ publisherId, date }) => `${date} ${publisherId}`))}`;
}

/** They are not current, even if the days' sums come to be what they were; the next look for changed days has them computed again. */
export function outdateDigests(changed: readonly DayOfPublisher[]): SQL {
	return sql`UPDATE day_digests SET sums = NULL, version = version + 1, progress = NULL WHERE ${digestsOf(changed)}`;
}

/**
 * They are to be computed again, and are not current meanwhile, even if the days' sums come to be what they were. With the transaction that
 * changes their records, so that nobody is told otherwise.
 */
export function renewDigests(changed: readonly DayOfPublisher[]): SQL {
	return sql`UPDATE day_digests SET due = 1, version = version + 1, progress = NULL WHERE ${digestsOf(changed)}`;
}
