/** What settled conversions add to the network's own sums: cancelled ones too, under the country and kind of their clicks. */
import { type SQL, sql } from "drizzle-orm";
import { utcDay } from "../lib/time.ts";
import type { Conversion } from "./conversion.ts";

type NetworkMove = {
	clickId: string | null;
	date: string;
	campaignId: number;
	publisherId: string;
	brandId: number;
	platform: string;
	approvedCount: number;
	pendingCount: number;
	cancelledCount: number;
	conversionRevenueMicros: number;
	pendingRevenueMicros: number;
	grossMicros: number;
	pendingGrossMicros: number;
	salesMicros: number;
};

/** @param sign 1 to add a conversion, -1 to take it back. None where it counts nowhere: not settled, or of a test click */
export function networkMoveOf(conversion: Conversion | null, sign: 1 | -1): NetworkMove[] {
	if (conversion === null || conversion.stage !== "settled" || conversion.test) return [];
	const { clickId, eventAt, campaignId, publisherId, brandId, platform, status } = conversion;
	if (publisherId === null || campaignId === null || brandId === null) return [];
	const counts = status !== "cancelled";
	const revenueMicros = counts ? (conversion.revenueMicros ?? 0) : 0;
	const grossMicros = counts ? (conversion.grossMicros ?? 0) : 0;
	return [
		{
			clickId,
			date: utcDay(eventAt),
			campaignId,
			publisherId,
			brandId,
			platform,
			approvedCount: status === "approved" ? sign : 0,
			pendingCount: status === "pending" ? sign : 0,
			cancelledCount: status === "cancelled" ? sign : 0,
			conversionRevenueMicros: sign * revenueMicros,
			pendingRevenueMicros: status === "pending" ? sign * revenueMicros : 0,
			grossMicros: sign * grossMicros,
			pendingGrossMicros: status === "pending" ? sign * grossMicros : 0,
			salesMicros: counts ? sign * (conversion.salesUsdMicros ?? 0) : 0,
		},
	];
}

/** What their clicks were is read where it stands: nothing changes it. */
export function addNetworkMoves(moves: readonly NetworkMove[]): SQL[] {
	if (moves.length === 0) return [];
	const clickIds = [...new Set(moves.flatMap(({ clickId }) => clickId ?? []))];
	return [
		sql`INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason,
				approved_count, pending_count, cancelled_count, conversion_revenue_micros, pending_revenue_micros, gross_micros,
				pending_gross_micros, sales_micros)
			SELECT m.date, m.campaign_id, m.publisher_id, m.brand_id, m.platform, coalesce(c.country, ''), coalesce(c.kind, ''), '',
				SUM(m.approved), SUM(m.pending), SUM(m.cancelled), SUM(m.revenue), SUM(m.pending_revenue), SUM(m.gross),
				SUM(m.pending_gross), SUM(m.sales)
			FROM (SELECT j.value ->> 'clickId' AS click_id, j.value ->> 'date' AS date, CAST(j.value ->> 'campaignId' AS BIGINT) AS campaign_id,
					j.value ->> 'publisherId' AS publisher_id, CAST(j.value ->> 'brandId' AS BIGINT) AS brand_id, j.value ->> 'platform' AS platform,
					CAST(j.value ->> 'approvedCount' AS BIGINT) AS approved, CAST(j.value ->> 'pendingCount' AS BIGINT) AS pending,
					CAST(j.value ->> 'cancelledCount' AS BIGINT) AS cancelled, CAST(j.value ->> 'conversionRevenueMicros' AS BIGINT) AS revenue,
					CAST(j.value ->> 'pendingRevenueMicros' AS BIGINT) AS pending_revenue, CAST(j.value ->> 'grossMicros' AS BIGINT) AS gross,
					CAST(j.value ->> 'pendingGrossMicros' AS BIGINT) AS pending_gross, CAST(j.value ->> 'salesMicros' AS BIGINT) AS sales
				FROM json_each(${JSON.stringify(moves)}) j) m
			LEFT JOIN (SELECT id, country, kind FROM clicks WHERE id IN (SELECT atom FROM json_each(${JSON.stringify(clickIds)}))) c ON c.id = m.click_id
			WHERE true GROUP BY 1, 2, 3, 4, 5, 6, 7
			ON CONFLICT (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason) DO UPDATE SET
				approved_count = daily_network.approved_count + excluded.approved_count,
				pending_count = daily_network.pending_count + excluded.pending_count,
				cancelled_count = daily_network.cancelled_count + excluded.cancelled_count,
				conversion_revenue_micros = daily_network.conversion_revenue_micros + excluded.conversion_revenue_micros,
				pending_revenue_micros = daily_network.pending_revenue_micros + excluded.pending_revenue_micros,
				gross_micros = daily_network.gross_micros + excluded.gross_micros,
				pending_gross_micros = daily_network.pending_gross_micros + excluded.pending_gross_micros,
				sales_micros = daily_network.sales_micros + excluded.sales_micros`,
	];
}
