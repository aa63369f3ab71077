/**
 * Sums of micro-dollars that are exact and never overflow, whatever was once stored: whole dollars and the rest are added up apart, and
 * neither leaves the integers that SQLite or a double holds.
 */
import { type SQL, sql } from "drizzle-orm";
import { MICROS_PER_USD } from "../lib/money.ts";

/** What {@link sumOf} selects: `{dollars} {micro-dollars}`; null where there was nothing to add. */
export type ExactSum = string | null;

export function sumOf(micros: SQL): SQL {
	// The casts are for counters of earlier versions that had left the integers.
	return sql`(SUM(CAST(${micros} AS BIGINT) / 1000000) || ' ' || SUM(CAST(${micros} AS BIGINT) % 1000000))`;
}

/** The two parts of a sum, for a statement that adds these up itself: names of columns. */
export type SumParts = { dollars: SQL; rest: SQL };

export function sumApart(micros: SQL, { dollars, rest }: SumParts): SQL {
	return sql`SUM(CAST(${micros} AS BIGINT) / 1000000) AS ${dollars}, SUM(CAST(${micros} AS BIGINT) % 1000000) AS ${rest}`;
}

/** As {@link sumOf} selects it. */
export function sumOfParts({ dollars, rest }: SumParts): SQL {
	return sql`(SUM(${dollars}) || ' ' || SUM(${rest}))`;
}

/** Whether it comes to anything. */
export function isNotZero({ dollars, rest }: SumParts): SQL {
	return sql`SUM(${dollars}) * 1000000 + SUM(${rest}) <> 0`;
}

/** A single amount in the form of a sum. */
export function amountAsSum(micros: SQL): SQL {
	return sql`('0 ' || ${micros})`;
}

/** Micro-dollars. */
export function readSum(sum: ExactSum): bigint {
	const [dollars = "0", rest = "0"] = (sum ?? "0 0").split(" ");
	return BigInt(dollars) * BigInt(MICROS_PER_USD) + BigInt(rest);
}
