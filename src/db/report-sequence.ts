/** The order in which rows of reports change: each transaction that changes some takes the next number, and writes it into them. */
import { type SQL, sql } from "drizzle-orm";

/** Takes the next number; stands before what is numbered. It is no guard: writers never overtake each other by it. */
export const TAKE_NUMBER: SQL = sql`UPDATE report_sequence SET present = present + 1 WHERE id = 1`;

/** The number that this transaction has taken. */
export const NUMBER: SQL = sql`(SELECT present FROM report_sequence WHERE id = 1)`;
