import { type SQL, sql } from "drizzle-orm";

/** All sums of a row `s` of `daily_publishers` as one text: two that are alike are of the same sums. */
export const DAY_SUMS: SQL = sql`(s.click_count || ' ' || s.click_revenue_micros || ' ' || s.conversion_count || ' ' || s.conversion_revenue_micros
	|| ' ' || s.gross_micros || ' ' || s.sales_micros || ' ' || s.adjustment_micros)`;
