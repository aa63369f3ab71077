import { type SQL, sql } from "drizzle-orm";

/**
 * Of days that have a digest: it is to be computed again, and is not current meanwhile, even if their sums come to be what they were. With
 * the transaction that changes their records, so that nobody is told otherwise.
 * @param adjusted what is of no publisher is in no digest
 */
export function renewDigests(adjusted: readonly { publisherId?: string | null | undefined; date?: string | null | undefined }[]): SQL {
	const days = adjusted.flatMap(({ publisherId, date }) => (publisherId == null || date == null ? [] : [{ publisherId, date }]));
	const among = (values: readonly string[]) => sql`(SELECT atom FROM json_each(${JSON.stringify([...new Set(values)])}))`;
	// Both columns of the key by themselves, so that it serves; then both together.
	return sql`UPDATE day_digests SET due = 1, version = version + 1, progress = NULL
		WHERE publisher_id IN ${among(days.map(({ publisherId }) => publisherId))} AND day IN ${among(days.map(({ date }) => date))}
			AND day || ' ' || publisher_id IN ${among(days.map(({ publisherId, date }) => `${date} ${publisherId}`))}`;
}
