/**
 * A publisher's clicks and conversions one by one, as its sums of sources count them: what there are no sums of, sources by brand, campaign or
 * country, is added up of these. Clicks count on their day, conversions on that of the event, and those of a publisher paid by clicks with
 * their click.
 */
import { type SQL, sql } from "drizzle-orm";
import { invalidInput } from "../http/errors.ts";
import { COUNTED_CONVERSION, OTHER_CONVERSION } from "../reports/counted.ts";

/** The most clicks, paid or not, and conversions of a period that are read for one answer. */
export const MAX_SOURCE_ROWS = 100_000;

export type RowsSpan = {
	publisherId: string;
	/** UTC dates, both included. */
	from: string;
	to: string;
	fromAt: number;
	/** Excluded. */
	toAt: number;
};

/** What the sums say of the period; `kept` is how many of its paid clicks are there. */
export type RowCounts = { clicks: number; settled: number; counted: number; paid: number; kept: number };

const clicksOf = ({ publisherId, fromAt, toAt }: RowsSpan, pricingModel: SQL) =>
	sql`clicks c WHERE c.publisher_id = ${publisherId} AND c.clicked_at >= ${fromAt} AND c.clicked_at < ${toAt}
		AND c.reason IS NULL AND c.pricing_model = ${pricingModel}`;
/** In the words of the index that each model's clicks are in. */
const MODELS = [sql`'CPC'`, sql`'CPA'`] as const;

/** @param ofClicks whether paid clicks are counted, too, in an index: that takes as long as there are such */
export function countRows(span: RowsSpan, ofClicks: boolean): SQL {
	const { publisherId, from, to } = span;
	const of = sql`publisher_id = ${publisherId} AND date BETWEEN ${from} AND ${to}`;
	const kept = MODELS.map((model) => sql`(SELECT COUNT(*) FROM ${clicksOf(span, model)})`);
	return sql`SELECT n.clicks, n.settled, d.counted, d.paid, ${ofClicks ? sql.join(kept, sql` + `) : sql`d.paid`} AS kept
		FROM (SELECT coalesce(SUM(click_count), 0) AS clicks, coalesce(SUM(approved_count + pending_count + cancelled_count), 0) AS settled
			FROM daily_network WHERE ${of}) n
		CROSS JOIN (SELECT coalesce(SUM(conversion_count), 0) AS counted, coalesce(SUM(click_count), 0) AS paid FROM daily_publishers WHERE ${of}) d`;
}

/** @throws HttpError 422 where the period has too many rows, or clicks of it are removed: then they would not add up */
export function requireRows(counts: RowCounts | undefined): void {
	const { clicks, settled, counted, paid, kept } = counts ?? { clicks: 0, settled: 0, counted: 0, paid: 0, kept: 0 };
	const instead = "choose a shorter period, or leave source out";
	if (clicks + Math.max(settled, counted) > MAX_SOURCE_ROWS) {
		const message = `source goes with brand, campaign and country where a period has at most ${MAX_SOURCE_ROWS} clicks and conversions: ${instead}`;
		throw invalidInput([{ path: "group", message }]);
	}
	if (paid !== kept) {
		throw invalidInput([{ path: "group", message: `clicks of this period are not kept any more: ${instead}` }]);
	}
}

/** As `daily_sources`, and by brand and campaign: date, source, brand, campaign and the counts in their order, without amounts. */
export function sourceRows(span: RowsSpan): SQL {
	const { publisherId, fromAt, toAt } = span;
	const clicks = MODELS.map(
		(model) => sql`SELECT date(c.clicked_at / 1000, 'unixepoch') AS date, coalesce(c.source_id, '') AS source_id, c.brand_id, c.campaign_id,
			1 AS click_count, 0 AS conversion_count, c.revenue_micros AS click_revenue_micros, 0 AS conversion_revenue_micros,
			0 AS pending_revenue_micros, 0 AS gross_micros, 0 AS sales_micros FROM ${clicksOf(span, model)}`,
	);
	const conversion = sql`coalesce(v.source_id, ''), v.brand_id, v.campaign_id, 0, 1, 0, coalesce(v.revenue_micros, 0),
		CASE WHEN v.status = 'pending' THEN coalesce(v.revenue_micros, 0) ELSE 0 END, coalesce(v.gross_micros, 0), coalesce(v.sales_usd_micros, 0)`;
	const isCounted = sql`v.publisher_id = ${publisherId} AND ${COUNTED_CONVERSION} AND v.campaign_id IS NOT NULL AND v.brand_id IS NOT NULL`;
	const happened = sql`${isCounted} AND v.event_at >= ${fromAt} AND v.event_at < ${toAt}`;
	// Five terms: D1 takes no more in a UNION. The condition that the third repeats is, word for word, that of the index for it.
	return sql`${sql.join(clicks, sql` UNION ALL `)}
		UNION ALL SELECT date(v.event_at / 1000, 'unixepoch'), ${conversion} FROM conversions v WHERE ${happened} AND v.pricing_model = 'CPA'
		UNION ALL SELECT date(v.event_at / 1000, 'unixepoch'), ${conversion} FROM conversions v WHERE ${happened} AND v.pricing_model IS NULL
			AND ${OTHER_CONVERSION}
		UNION ALL SELECT date(v.clicked_at / 1000, 'unixepoch'), ${conversion} FROM conversions v CROSS JOIN clicks c
			WHERE ${isCounted} AND v.pricing_model = 'CPC' AND v.clicked_at >= ${fromAt} AND v.clicked_at < ${toAt}
				AND c.id = v.click_id AND (c.reason IS NULL OR c.reason = 'voided')`;
}
