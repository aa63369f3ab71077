/**
 * Report `clickid_level`: one CPC record a click that is paid by itself, one CPA record a conversion that is not cancelled; by time,
 * clicks by that of the click and conversions by that of the event.
 */
import { type SQL, sql } from "drizzle-orm";
import { formatUsd } from "../lib/money.ts";
import { offerIdOf } from "../lib/offer-id.ts";
import { utcDay } from "../lib/time.ts";
import { COUNTED_CONVERSION, PAID_CLICK, PAID_CONVERSION } from "./counted.ts";
import { limitTo, type Report, type ReportRecord } from "./report.ts";

type Row = {
	at: number;
	model: "CPA" | "CPC";
	transaction_id: string;
	click_id: string | null;
	revenue: number;
	gross: number | null;
	sales: number | null;
	/** Of the click; null where the conversion's is not stored. */
	kind: "openrtb" | "serving-engine" | "link" | null;
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

const COLUMNS = [
	...["transaction_id", "click_id", "publisher_revenue", "gross_revenue", "user_id", "date", "brand_name", "source_id", "sub_id"],
	...["offer_id", "atag", "rev_type", "conversion_count", "sales_amount", "campaign_id", "click_count"],
	...["subid1", "subid2", "subid3", "subid4", "subid5"],
];

export const clickidLevel: Report<Row> = {
	count: (publisherId, { period: { startAt, endAt } }) => sql`SELECT
		(SELECT COUNT(*) FROM clicks WHERE publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt} AND ${PAID_CLICK})
		+ (SELECT COUNT(*) FROM conversions WHERE publisher_id = ${publisherId} AND event_at >= ${startAt} AND event_at < ${endAt} AND ${PAID_CONVERSION})
		AS total`,
	// The page is found in the indexes alone; only its own rows are then looked up.
	page: (publisherId, { period: { startAt, endAt }, paging }) => sql`
		WITH page AS (
			SELECT clicked_at AS at, 'CPC' AS model, id AS first, '' AS second FROM clicks
			WHERE publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt} AND ${PAID_CLICK}
			UNION ALL
			SELECT event_at, 'CPA', platform, txnid FROM conversions
			WHERE publisher_id = ${publisherId} AND event_at >= ${startAt} AND event_at < ${endAt} AND ${PAID_CONVERSION}
			ORDER BY 1, 2, 3, 4 ${limitTo(paging)}
		)
		SELECT page.at, page.model, ${detailsOfClick}
		FROM page JOIN clicks c ON c.id = page.first LEFT JOIN brands b ON b.id = c.brand_id
		WHERE page.model = 'CPC'
		UNION ALL
		SELECT page.at, page.model, ${detailsOfConversion}
		FROM page JOIN conversions v ON v.platform = page.first AND v.txnid = page.second
			LEFT JOIN clicks c ON c.id = v.click_id LEFT JOIN brands b ON b.id = v.brand_id
		WHERE page.model = 'CPA'
		ORDER BY 1, 2`,
	columns: ({ pricingModel, salesDataEnabled, campaignIdEnabled }) => {
		const hidden = new Set([
			...(pricingModel === "CPC" ? ["gross_revenue"] : []),
			...(salesDataEnabled ? [] : ["sales_amount"]),
			...(campaignIdEnabled ? [] : ["campaign_id"]),
		]);
		return COLUMNS.filter((column) => !hidden.has(column));
	},
	async toRecords(rows) {
		const domains = [...new Set(rows.map(({ domain }) => domain).filter((domain) => domain !== null))];
		const offerIds = new Map(await Promise.all(domains.map(async (domain) => [domain, await offerIdOf(domain)] as const)));
		return rows.map((row) => toRecord(row, offerIds.get(row.domain ?? "") ?? ""));
	},
};
