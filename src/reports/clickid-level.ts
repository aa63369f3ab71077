/**
 * Report `clickid_level`: one CPC record a click that is paid by itself, one VOID record one that was, until it was taken back, one CPA
 * record a conversion that is not cancelled, and one ADJUSTMENT record an amount that the operator added or took; by time: clicks by that
 * of the click, conversions by that of the event, amounts by that at which they were booked.
 */
import { type SQL, sql } from "drizzle-orm";
import { offerIdOf } from "../lib/md5-ids.ts";
import { formatUsd } from "../lib/money.ts";
import { utcDay } from "../lib/time.ts";
import { type AsOf, replacedSince, unchangedSince } from "./as-of.ts";
import { COUNTED_CONVERSION, PAID_CLICK, PAID_CONVERSION, VOIDED_CLICK } from "./counted.ts";
import { CREDIT_DETAILS, creditedOf } from "./credited.ts";
import type { ReportRecord } from "./csv.ts";
import { amountAsSum, type ExactSum, readSum, sumOf } from "./exact-sum.ts";
import { atagOf, clicksBy, OF_CLICK, OF_NO_CLICK, type OfClick, subidsOf, userIdOf } from "./of-click.ts";
import type { Period } from "./read-report-query.ts";
import { limitTo, type Report } from "./report.ts";
import { splitRevenue } from "./sums.ts";

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
	/** What of it is pending. */
	pending: number;
	/** What callbacks credited; with details only. */
	credited?: number;
	gross: ExactSum;
	sales: ExactSum;
	domain: string | null;
	source_id: string | null;
	campaign_id: number | null;
} & OfClick;

/** Of a click's conversions. */
const sumOfClick = (column: SQL, asOf: AsOf) =>
	asOf === null
		? sql`(SELECT ${sumOf(column)} FROM conversions WHERE click_id = c.id AND ${COUNTED_CONVERSION})`
		: sql`(SELECT ${sumOf(sql`micros`)} FROM (
			SELECT ${column} AS micros FROM conversions WHERE click_id = c.id AND ${COUNTED_CONVERSION}${unchangedSince(asOf)}
			UNION ALL SELECT ${column} FROM conversion_history WHERE click_id = c.id AND ${replacedSince(asOf)}))`;

/** Clicks and amounts are told by no callback. */
const notCredited = (detail: boolean) => (detail ? sql`, 0 AS credited` : sql``);

const ofClick = (asOf: AsOf, detail: boolean) => sql`
	NULL AS date, c.click_hash AS transaction_id, c.publisher_click_id AS click_id,
	CASE WHEN page.type = 'CPC' THEN c.revenue_micros ELSE 0 END AS revenue, 0 AS pending,
	${sumOfClick(sql`gross_micros`, asOf)} AS gross, ${sumOfClick(sql`sales_usd_micros`, asOf)} AS sales,
	c.source_id AS source_id, c.campaign_id AS campaign_id${notCredited(detail)}`;

/** @param isReplaced whether `v` is a row of `conversion_history` */
const ofConversion = (detail: boolean, isReplaced: boolean) => sql`
	NULL AS date, v.txnid AS transaction_id, v.publisher_click_id AS click_id, v.revenue_micros AS revenue,
	CASE WHEN v.status = 'pending' THEN v.revenue_micros ELSE 0 END AS pending,
	${amountAsSum(sql`v.gross_micros`)} AS gross, ${amountAsSum(sql`v.sales_usd_micros`)} AS sales,
	v.source_id AS source_id, v.campaign_id AS campaign_id${detail ? sql`, ${creditedOf(isReplaced)} AS credited` : sql``}`;

const OF_EITHER = sql`b.domain AS domain, ${OF_CLICK}`;

/** An amount is of no click. */
const ofAmount = (detail: boolean) => sql`
	a.date AS date, a.id AS transaction_id, NULL AS click_id, a.amount_micros AS revenue, 0 AS pending, NULL AS gross, NULL AS sales,
	NULL AS source_id, NULL AS campaign_id${notCredited(detail)}, NULL AS domain, ${OF_NO_CLICK}`;

const COLUMNS = [
	...["transaction_id", "click_id", "publisher_revenue", "gross_revenue", "user_id", "date", "brand_name", "source_id", "sub_id"],
	...["offer_id", "atag", "rev_type", "conversion_count", "sales_amount", "campaign_id", "click_count"],
	...["subid1", "subid2", "subid3", "subid4", "subid5"],
];

/** The rows of a period, found in the indexes only, each with its place in the order of the report and `until` of a replaced one. */
const rowsOf = (publisherId: string, { startDate, endDate, startAt, endAt }: Period, asOf: AsOf) => {
	const clicked = sql`publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt}`;
	const happened = sql`publisher_id = ${publisherId} AND event_at >= ${startAt} AND event_at < ${endAt}`;
	const present = [
		sql`SELECT clicked_at AS at, id AS first, id AS second, 'CPC' AS type, CAST(NULL AS BIGINT) AS until FROM clicks WHERE ${clicked} AND ${PAID_CLICK}`,
		sql`SELECT clicked_at AS at, id, id, 'VOID', NULL FROM clicks WHERE ${clicked} AND ${VOIDED_CLICK}`,
		sql`SELECT event_at AS at, platform, txnid, 'CPA', NULL FROM conversions WHERE ${happened} AND ${PAID_CONVERSION}`,
		sql`SELECT at, id, id, 'ADJUSTMENT', NULL FROM adjustments WHERE publisher_id = ${publisherId} AND date BETWEEN ${startDate} AND ${endDate}`,
	].map((rows) => sql`${rows}${unchangedSince(asOf)}`);
	if (asOf === null) return present;
	// Together, since D1 takes five SELECTs in a UNION.
	const replaced = sql`
		SELECT at, first, second, type, until FROM (
			SELECT clicked_at AS at, click_id AS first, click_id AS second, CASE WHEN reason IS NULL THEN 'CPC' ELSE 'VOID' END AS type, until_sequence AS until
			FROM click_history WHERE ${clicked} AND ${replacedSince(asOf)}
			UNION ALL
			SELECT event_at, platform, txnid, 'CPA', until_sequence
			FROM conversion_history WHERE ${happened} AND pricing_model = 'CPA' AND ${replacedSince(asOf)})`;
	return [...present, replaced];
};

/** Rows `v` of the page, from either table of conversions, with their clicks `c`. */
const conversionsOf = (rows: SQL) => sql`page JOIN ${rows}
		LEFT JOIN ${clicksBy(sql`SELECT v.click_id FROM page JOIN ${rows} WHERE page.type = 'CPA'`)} ON c.id = v.click_id
		LEFT JOIN brands b ON b.id = v.brand_id`;
const PRESENT = sql`conversions v ON v.platform = page.first AND v.txnid = page.second AND page.until IS NULL`;
const REPLACED = sql`conversion_history v ON v.until_sequence = page.until AND v.platform = page.first AND v.txnid = page.second`;

export const clickidLevel: Report<Row> = {
	standsStill: true,
	details: CREDIT_DETAILS,
	count: (publisherId, { period, asOf }) => {
		const counts = rowsOf(publisherId, period, asOf).map((rows) => sql`(SELECT COUNT(*) FROM (${rows}))`);
		return sql`SELECT ${sql.join(counts, sql` + `)} AS total`;
	},
	// Just the rows of the page are looked up.
	page: (publisherId, { period, paging, asOf, detail }) => {
		const replaced = sql`
		UNION ALL
		SELECT page.at, page.first, page.second, page.type, ${ofConversion(detail, true)}, ${OF_EITHER}
		FROM ${conversionsOf(REPLACED)}
		WHERE page.type = 'CPA'`;
		return sql`
		WITH page AS (
			${sql.join(rowsOf(publisherId, period, asOf), sql` UNION ALL `)}
			ORDER BY 1, 2, 3 ${limitTo(paging)}
		)
		SELECT page.at, page.first, page.second, page.type, ${ofClick(asOf, detail)}, ${OF_EITHER}
		FROM page JOIN clicks c ON c.id = page.first LEFT JOIN brands b ON b.id = c.brand_id
		WHERE page.type IN ('CPC', 'VOID')
		UNION ALL
		SELECT page.at, page.first, page.second, page.type, ${ofConversion(detail, false)}, ${OF_EITHER}
		FROM ${conversionsOf(PRESENT)}
		WHERE page.type = 'CPA'
		${asOf === null ? sql`` : replaced}
		UNION ALL
		SELECT page.at, page.first, page.second, page.type, ${ofAmount(detail)}
		FROM page JOIN adjustments a ON a.id = page.first
		WHERE page.type = 'ADJUSTMENT'
		ORDER BY 1, 2, 3`;
	},
	columns: ({ pricingModel, salesDataEnabled, campaignIdEnabled }) => {
		const hidden = new Set([
			...(pricingModel === "CPC" ? ["gross_revenue"] : []),
			...(salesDataEnabled ? [] : ["sales_amount"]),
			...(campaignIdEnabled ? [] : ["campaign_id"]),
		]);
		return COLUMNS.filter((column) => !hidden.has(column));
	},
	toRecords(rows, detail) {
		const offerIds = new Map<string, string>();
		return rows.map((row) => {
			const domain = row.domain ?? "";
			const offerId = domain === "" ? "" : (offerIds.get(domain) ?? offerIdOf(domain));
			offerIds.set(domain, offerId);
			return toRecord(row, offerId, detail);
		});
	},
};

function toRecord(row: Row, offerId: string, detail: boolean): ReportRecord {
	return {
		transaction_id: row.transaction_id,
		click_id: row.click_id ?? "",
		publisher_revenue: formatUsd(row.revenue),
		...(detail && splitRevenue(BigInt(row.revenue), BigInt(row.pending))),
		...(detail && { credited_revenue: formatUsd(row.credited ?? 0) }),
		gross_revenue: formatUsd(readSum(row.gross)),
		...userIdOf(row),
		date: row.date ?? utcDay(row.at),
		brand_name: row.domain ?? "",
		source_id: row.source_id ?? "",
		sub_id: row.source_id ?? "",
		offer_id: offerId,
		...atagOf(row),
		rev_type: row.type,
		conversion_count: row.type === "CPA" ? 1 : 0,
		sales_amount: formatUsd(readSum(row.sales)),
		campaign_id: String(row.campaign_id ?? ""),
		click_count: row.type === "CPC" || row.type === "CPA" ? 1 : 0,
		...subidsOf(row),
	};
}
