/**
 * Report `clickid_level`: one CPC record a click that is paid by itself, one VOID record one that was, until it was taken back, one CPA
 * record a conversion that is not cancelled, and one ADJUSTMENT record an amount that the operator added or took; by time: clicks by that
 * of the click, conversions by that of the event, amounts by that at which they were booked.
 */
import { type SQL, sql } from "drizzle-orm";
import type { TokenKind } from "../lib/enums.ts";
import { offerIdOf } from "../lib/md5-ids.ts";
import { formatUsd } from "../lib/money.ts";
import { utcDay } from "../lib/time.ts";
import { COUNTED_CONVERSION, PAID_CLICK, PAID_CONVERSION, VOIDED_CLICK } from "./counted.ts";
import type { ReportRecord } from "./csv.ts";
import { amountAsSum, type ExactSum, readSum, sumOf } from "./exact-sum.ts";
import { limitTo, type Report } from "./report.ts";

/** What a record is of. */
export const REVENUE_TYPES = ["CPC", "CPA", "VOID", "ADJUSTMENT"] as const;
type RevenueType = (typeof REVENUE_TYPES)[number];

type Row = {
	at: number;
	/** UTC day of an amount, which may be booked later. */
	date: string | null;
	type: RevenueType;
	transaction_id: string;
	click_id: string | null;
	revenue: number;
	gross: ExactSum;
	sales: ExactSum;
	/** Of the click; null where the conversion's is not stored. */
	kind: TokenKind | null;
	uid: string | null;
	domain: string | null;
	source_id: string | null;
	atag: string | null;
	campaign_id: number | null;
	subid1: string | null;
	subid2: string | null;
	subid3: string | null;
	subid4: string | null;
	subid5: string | null;
};

/** Of a click's conversions. */
const sumOfClick = (column: SQL) => sql`(SELECT ${sumOf(column)} FROM conversions WHERE click_id = c.id AND ${COUNTED_CONVERSION})`;

const OF_CLICK = sql`
	NULL AS date, c.click_hash AS transaction_id, c.publisher_click_id AS click_id,
	CASE WHEN page.type = 'CPC' THEN c.revenue_micros ELSE 0 END AS revenue,
	${sumOfClick(sql`gross_micros`)} AS gross, ${sumOfClick(sql`sales_usd_micros`)} AS sales,
	c.source_id AS source_id, c.campaign_id AS campaign_id`;

const OF_CONVERSION = sql`
	NULL AS date, v.txnid AS transaction_id, v.publisher_click_id AS click_id, v.revenue_micros AS revenue,
	${amountAsSum(sql`v.gross_micros`)} AS gross, ${amountAsSum(sql`v.sales_usd_micros`)} AS sales,
	v.source_id AS source_id, v.campaign_id AS campaign_id`;

const OF_EITHER = sql`b.domain AS domain, c.kind AS kind, c.uid AS uid, c.atag AS atag, c.subid1 AS subid1, c.subid2 AS subid2, c.subid3 AS subid3, c.subid4 AS subid4, c.subid5 AS subid5`;

/** An amount is of no click. */
const OF_AMOUNT = sql`
	a.date AS date, a.id AS transaction_id, NULL AS click_id, a.amount_micros AS revenue, NULL AS gross, NULL AS sales,
	NULL AS source_id, NULL AS campaign_id, NULL AS domain, NULL AS kind, NULL AS uid, NULL AS atag,
	NULL AS subid1, NULL AS subid2, NULL AS subid3, NULL AS subid4, NULL AS subid5`;

const COLUMNS = [
	...["transaction_id", "click_id", "publisher_revenue", "gross_revenue", "user_id", "date", "brand_name", "source_id", "sub_id"],
	...["offer_id", "atag", "rev_type", "conversion_count", "sales_amount", "campaign_id", "click_count"],
	...["subid1", "subid2", "subid3", "subid4", "subid5"],
];

export const clickidLevel: Report<Row> = {
	count: (publisherId, { period: { startDate, endDate, startAt, endAt } }) => sql`SELECT
		(SELECT COUNT(*) FROM clicks WHERE publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt} AND ${PAID_CLICK})
		+ (SELECT COUNT(*) FROM clicks WHERE publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt} AND ${VOIDED_CLICK})
		+ (SELECT COUNT(*) FROM conversions WHERE publisher_id = ${publisherId} AND event_at >= ${startAt} AND event_at < ${endAt} AND ${PAID_CONVERSION})
		+ (SELECT COUNT(*) FROM adjustments WHERE publisher_id = ${publisherId} AND date BETWEEN ${startDate} AND ${endDate})
		AS total`,
	// The page is found in the indexes only; just its own rows are then looked up.
	page: (publisherId, { period: { startDate, endDate, startAt, endAt }, paging }) => sql`
		WITH page AS (
			SELECT clicked_at AS at, id AS first, id AS second, 'CPC' AS type FROM clicks
			WHERE publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt} AND ${PAID_CLICK}
			UNION ALL
			SELECT clicked_at, id, id, 'VOID' FROM clicks
			WHERE publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt} AND ${VOIDED_CLICK}
			UNION ALL
			SELECT event_at, platform, txnid, 'CPA' FROM conversions
			WHERE publisher_id = ${publisherId} AND event_at >= ${startAt} AND event_at < ${endAt} AND ${PAID_CONVERSION}
			UNION ALL
			SELECT at, id, id, 'ADJUSTMENT' FROM adjustments WHERE publisher_id = ${publisherId} AND date BETWEEN ${startDate} AND ${endDate}
			ORDER BY 1, 2, 3 ${limitTo(paging)}
		)
		SELECT page.at, page.first, page.second, page.type, ${OF_CLICK}, ${OF_EITHER}
		FROM page JOIN clicks c ON c.id = page.first LEFT JOIN brands b ON b.id = c.brand_id
		WHERE page.type IN ('CPC', 'VOID')
		UNION ALL
		SELECT page.at, page.first, page.second, page.type, ${OF_CONVERSION}, ${OF_EITHER}
		FROM page JOIN conversions v ON v.platform = page.first AND v.txnid = page.second
			LEFT JOIN clicks c ON c.id = v.click_id LEFT JOIN brands b ON b.id = v.brand_id
		WHERE page.type = 'CPA'
		UNION ALL
		SELECT page.at, page.first, page.second, page.type, ${OF_AMOUNT}
		FROM page JOIN adjustments a ON a.id = page.first
		WHERE page.type = 'ADJUSTMENT'
		ORDER BY 1, 2, 3`,
	columns: ({ pricingModel, salesDataEnabled, campaignIdEnabled }) => {
		const hidden = new Set([
			...(pricingModel === "CPC" ? ["gross_revenue"] : []),
			...(salesDataEnabled ? [] : ["sales_amount"]),
			...(campaignIdEnabled ? [] : ["campaign_id"]),
		]);
		return COLUMNS.filter((column) => !hidden.has(column));
	},
	toRecords(rows) {
		const offerIds = new Map<string, string>();
		return rows.map((row) => {
			const domain = row.domain ?? "";
			const offerId = domain === "" ? "" : (offerIds.get(domain) ?? offerIdOf(domain));
			offerIds.set(domain, offerId);
			return toRecord(row, offerId);
		});
	},
};

function toRecord(row: Row, offerId: string): ReportRecord {
	return {
		transaction_id: row.transaction_id,
		click_id: row.click_id ?? "",
		publisher_revenue: formatUsd(row.revenue),
		gross_revenue: formatUsd(readSum(row.gross)),
		...(row.kind === "openrtb" && { user_id: row.uid }),
		date: row.date ?? utcDay(row.at),
		brand_name: row.domain ?? "",
		source_id: row.source_id ?? "",
		sub_id: row.source_id ?? "",
		offer_id: offerId,
		...(row.atag !== null && { atag: row.atag }),
		rev_type: row.type,
		conversion_count: row.type === "CPA" ? 1 : 0,
		sales_amount: formatUsd(readSum(row.sales)),
		campaign_id: String(row.campaign_id ?? ""),
		click_count: row.type === "CPC" || row.type === "CPA" ? 1 : 0,
		subid1: row.subid1 ?? "",
		subid2: row.subid2 ?? "",
		subid3: row.subid3 ?? "",
		subid4: row.subid4 ?? "",
		subid5: row.subid5 ?? "",
	};
}
