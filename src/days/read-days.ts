/** A publisher's closed days: their sums as `daywise` has them, each with the digest of its records. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import type { PricingModel } from "../lib/enums.ts";
import { formatUsd } from "../lib/money.ts";
import { isoTimeOrNull } from "../lib/time.ts";
import { readSum } from "../reports/exact-sum.ts";
import { HAS_ACTIVITY, SUMS, type SumsRow } from "../reports/sums.ts";
import { DAY_SUMS } from "./day-sums.ts";
import type { ClosedDay, ClosedDays } from "./days-answer.ts";
import type { DaysQuery } from "./days-request.ts";

type Row = SumsRow & {
	day: string;
	digest: string | null;
	recordCount: number | null;
	computedAt: number | null;
	isCurrent: number | null;
};

/** Null where the publisher is no more. */
export async function readDays(db: Database, publisherId: string, { from, to, limit, cursor }: DaysQuery): Promise<ClosedDays | null> {
	const [owner, page] = await runTransaction(db, [
		sql`SELECT pricing_model AS "pricingModel" FROM publishers WHERE id = ${publisherId}`,
		sql`SELECT t.*, d.digest, d.record_count AS "recordCount", d.computed_at AS "computedAt",
				CASE WHEN d.digest IS NOT NULL AND d.due = 0 AND d.sums = (SELECT ${DAY_SUMS} FROM daily_publishers s
					WHERE s.publisher_id = ${publisherId} AND s.date = t.day) THEN 1 ELSE 0 END AS "isCurrent"
			FROM (SELECT date AS day, ${SUMS} FROM daily_publishers
				WHERE publisher_id = ${publisherId} AND date BETWEEN ${from} AND ${to} AND date > ${cursor ?? ""}
				GROUP BY date HAVING ${HAS_ACTIVITY} ORDER BY date LIMIT ${limit + 1}) t
			LEFT JOIN day_digests d ON d.publisher_id = ${publisherId} AND d.day = t.day
			ORDER BY t.day`,
	]);
	const [publisher] = (owner?.results ?? []) as { pricingModel: PricingModel }[];
	if (publisher === undefined) return null;
	const rows = (page?.results ?? []) as Row[];
	const shown = rows.slice(0, limit);
	return {
		data: shown.map((row) => showDay(row, publisher.pricingModel)),
		limit,
		next_cursor: rows.length > limit ? (shown.at(-1)?.day ?? null) : null,
	};
}

function showDay({ day, digest, recordCount, computedAt, isCurrent, revenue, gross, clicks }: Row, pricingModel: PricingModel): ClosedDay {
	return {
		day,
		publisher_revenue: formatUsd(readSum(revenue)),
		...(pricingModel === "CPA" && { gross_revenue: formatUsd(readSum(gross)) }),
		click_count: clicks,
		record_count: recordCount,
		digest,
		computed_at: isoTimeOrNull(computedAt),
		current: isCurrent === 1,
	};
}
