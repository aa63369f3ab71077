/** What the two reports over daily sums share. */
import { type SQL, sql } from "drizzle-orm";
import { formatUsd } from "../lib/money.ts";
import type { ReportRecord } from "./csv.ts";
import { type ExactSum, readSum, sumOf } from "./exact-sum.ts";
import type { ReportPublisher } from "./report.ts";

export type SumsRow = { clicks: number; conversions: number; revenue: ExactSum; pending: ExactSum; gross: ExactSum; sales: ExactSum };

/**
 * Sums of rows of `daily_publishers`, or of `daily_sources` with a column like it; revenue is that of clicks and conversions, so that it
 * holds for either pricing model, and of what the operator added or took.
 */
export const SUMS: SQL = sql`
	SUM(click_count) AS clicks,
	SUM(conversion_count) AS conversions,
	${sumOf(sql`click_revenue_micros + conversion_revenue_micros + adjustment_micros`)} AS revenue,
	${sumOf(sql`pending_revenue_micros`)} AS pending,
	${sumOf(sql`gross_micros`)} AS gross,
	${sumOf(sql`sales_micros`)} AS sales`;

/** A day or source whose last conversion was cancelled, or last click voided, has a row of zeros, and no record; so has one whose amounts were taken back. */
export const HAS_ACTIVITY: SQL = sql`(SUM(click_count) <> 0 OR SUM(conversion_count) <> 0 OR SUM(adjustment_micros) <> 0)`;

/** Fields of the sums that are for this publisher's eyes. */
export function sumColumns({ pricingModel, salesDataEnabled }: ReportPublisher): string[] {
	return [
		"publisher_revenue",
		...(pricingModel === "CPA" ? ["gross_revenue"] : []),
		...(salesDataEnabled ? ["sales_amount"] : []),
		"click_count",
	];
}

/** Behind the revenue of each record, where details are wanted. */
export const REVENUE_DETAILS = ["approved_revenue", "pending_revenue"] as const;

/** What is not pending is approved: clicks and amounts too. Both in micro-dollars. */
export function splitRevenue(revenue: bigint, pending: bigint): ReportRecord {
	return { approved_revenue: formatUsd(revenue - pending), pending_revenue: formatUsd(pending) };
}

export function sumFields({ clicks, revenue, pending, gross, sales }: SumsRow, detail: boolean): ReportRecord {
	return {
		publisher_revenue: formatUsd(readSum(revenue)),
		...(detail && splitRevenue(readSum(revenue), readSum(pending))),
		gross_revenue: formatUsd(readSum(gross)),
		sales_amount: formatUsd(readSum(sales)),
		click_count: clicks,
	};
}
