/**
 * Reports of single rows as they stood at a moment: what has not changed since, and what changes since have replaced (decision 0033).
 * Moments are counted by the transactions that change such rows, so that clocks have no say.
 */
import { type SQL, sql } from "drizzle-orm";
import { invalidFields } from "../http/errors.ts";
import { HttpError } from "../lib/http.ts";

/** Null reads what is there now. */
export type AsOf = number | null;

/** A further condition on rows of clicks, conversions and adjustments: unchanged since. */
export function unchangedSince(asOf: AsOf): SQL {
	return asOf === null ? sql`` : sql` AND sequence <= ${asOf}`;
}

/** A condition on rows of a history: replaced since, and there at that moment. */
export function replacedSince(asOf: number): SQL {
	return sql`until_sequence > ${asOf} AND sequence <= ${asOf}`;
}

/** Selects the present moment, and the earliest that can still be read. */
export const MOMENTS: SQL = sql`SELECT present, oldest FROM report_sequence WHERE id = 1`;

/**
 * The moment of which a page is: the one asked for, else the present.
 * @param result of {@link MOMENTS}, read in one transaction with the page
 * @throws HttpError 422 for a moment to come, 410 for one too long ago
 */
export function momentOf(asOf: AsOf, result: D1Result | undefined): number {
	const [moments] = (result?.results ?? []) as { present: number; oldest: number }[];
	if (moments === undefined) throw new Error("report_sequence has no row: the migrations did not run");
	if (asOf === null) return moments.present;
	if (asOf > moments.present) throw invalidFields({ as_of: ["The as_of field must be from an answer."] });
	if (asOf < moments.oldest) {
		throw new HttpError(410, { error: "Gone", message: "The as_of field is of a moment too long ago: read the report again from page 1." });
	}
	return asOf;
}
