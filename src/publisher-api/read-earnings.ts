/**
 * What a publisher has earned, by groups: of daily sums, so that the cost does not grow with clicks. Of sources by brand, campaign or country
 * there are none: those are added up of a bounded number of rows.
 */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { invalidInput } from "../http/errors.ts";
import { cutPage } from "../http/pages.ts";
import type { ConversionStatus } from "../lib/enums.ts";
import { formatUsd } from "../lib/money.ts";
import { DAY_MS, isoTimeOrNull } from "../lib/time.ts";
import type { CLICK_REASONS } from "../lib/traffic-rules.ts";
import { COUNTED_CONVERSION, OTHER_CONVERSION } from "../reports/counted.ts";
import { readSum } from "../reports/exact-sum.ts";
import { HAS_ACTIVITY, SUMS, type SumsRow } from "../reports/sums.ts";
import type { Earnings, EarningsGroup, EarningsRow } from "./earnings-answer.ts";
import type { EarningsQuery } from "./earnings-request.ts";
import type { Viewer } from "./show-conversion.ts";
import { countRows, type RowCounts, type RowsSpan, requireRows, sourceRows } from "./source-rows.ts";
import { readViewer, viewerOf } from "./viewer.ts";

export type EarningsDeps = {
	db: Database;
	/** Up to when everything that came in is counted, Unix milliseconds; null where that is not known. */
	dataThrough: () => Promise<number | null>;
};

type Key = string | number;
type CountsRow = { reason: (typeof CLICK_REASONS)[number] | ""; clicks: number; approved: number; pending: number; cancelled: number };
type Row = SumsRow & Partial<Record<EarningsGroup, Key>>;

/** Names of the columns that a page is ordered by; what has no value sorts first. */
const GROUP_COLUMNS: Record<EarningsGroup, SQL> = {
	day: sql`s.date AS day`,
	source: sql`s.source_id AS source`,
	brand: sql`coalesce(b.domain, '') AS brand`,
	campaign: sql`coalesce(s.campaign_id, -1) AS campaign`,
	country: sql`coalesce(k.country, '') AS country`,
};
const NAMES: Record<EarningsGroup, SQL> = {
	day: sql`day`,
	source: sql`source`,
	brand: sql`brand`,
	campaign: sql`campaign`,
	country: sql`country`,
};

const COUNTS = sql`click_count, conversion_count, click_revenue_micros, conversion_revenue_micros, pending_revenue_micros, gross_micros, sales_micros`;

/** Amounts of the operator's are of no source and no campaign. */
function amountsOf(of: SQL, columns: SQL): SQL {
	return sql`SELECT date, ${columns}, 0, 0, 0, 0, 0, 0, 0, adjustment_micros FROM daily_publishers WHERE ${of} AND adjustment_micros <> 0`;
}

function sourceSums(of: SQL): SQL {
	return sql`SELECT date, source_id, ${COUNTS}, 0 AS adjustment_micros FROM daily_sources WHERE ${of}
		UNION ALL ${amountsOf(of, sql`''`)}`;
}

/**
 * The network's sums have every conversion on its day; reports have those of a publisher paid by clicks on the day of the click, if that was billed:
 * they are moved.
 */
function campaignSums(publisherId: string, of: SQL, fromAt: number, toAt: number): SQL {
	const isMoved = sql`v.publisher_id = ${publisherId} AND ${COUNTED_CONVERSION} AND v.pricing_model = 'CPC'
		AND v.campaign_id IS NOT NULL AND v.brand_id IS NOT NULL`;
	return sql`SELECT date, brand_id, campaign_id, click_count, approved_count + pending_count AS conversion_count, click_revenue_micros,
			conversion_revenue_micros, pending_revenue_micros, gross_micros, sales_micros, 0 AS adjustment_micros
		FROM daily_network WHERE ${of} AND reason = ''
		UNION ALL ${amountsOf(of, sql`NULL, NULL`)}
		UNION ALL
		SELECT date(v.event_at / 1000, 'unixepoch'), v.brand_id, v.campaign_id, 0, -1, 0, -coalesce(v.revenue_micros, 0),
			CASE WHEN v.status = 'pending' THEN -coalesce(v.revenue_micros, 0) ELSE 0 END, -coalesce(v.gross_micros, 0), -coalesce(v.sales_usd_micros, 0), 0
		FROM conversions v WHERE ${isMoved} AND v.event_at >= ${fromAt} AND v.event_at < ${toAt}
			AND ${OTHER_CONVERSION}
		UNION ALL
		SELECT date(v.clicked_at / 1000, 'unixepoch'), v.brand_id, v.campaign_id, 0, 1, 0, coalesce(v.revenue_micros, 0),
			CASE WHEN v.status = 'pending' THEN coalesce(v.revenue_micros, 0) ELSE 0 END, coalesce(v.gross_micros, 0), coalesce(v.sales_usd_micros, 0), 0
		FROM conversions v CROSS JOIN clicks c WHERE ${isMoved} AND v.clicked_at >= ${fromAt} AND v.clicked_at < ${toAt}
			AND c.id = v.click_id AND (c.reason IS NULL OR c.reason = 'voided')`;
}

/** Whether a group is one that no sums are kept of. */
function isOfRows(group: readonly EarningsGroup[]): boolean {
	return group.includes("source") && group.some((name) => name !== "source" && name !== "day");
}

function spanOf(publisherId: string, { from, to }: EarningsQuery): RowsSpan {
	return { publisherId, from, to, fromAt: Date.parse(from), toAt: Date.parse(to) + DAY_MS };
}

/** The rows of a page and one more, in the order of their group. */
export function earningsPage(publisherId: string, query: EarningsQuery): SQL {
	const { group, from, to, limit, after } = query;
	const of = sql`publisher_id = ${publisherId} AND date BETWEEN ${from} AND ${to}`;
	const isOf = (...names: EarningsGroup[]) => group.some((name) => names.includes(name));
	const list = (columns: Record<EarningsGroup, SQL>) =>
		sql.join(
			group.map((name) => columns[name]),
			sql`, `,
		);
	let sums = sql`SELECT date, ${COUNTS}, adjustment_micros FROM daily_publishers WHERE ${of}`;
	if (isOfRows(group)) {
		sums = sql`SELECT r.*, 0 AS adjustment_micros FROM (${sourceRows(spanOf(publisherId, query))}) r UNION ALL ${amountsOf(of, sql`'', NULL, NULL`)}`;
	} else if (isOf("source")) sums = sourceSums(of);
	else if (isOf("brand", "campaign", "country")) sums = campaignSums(publisherId, of, Date.parse(from), Date.parse(to) + DAY_MS);
	const brands = isOf("brand") ? sql`LEFT JOIN brands b ON b.id = s.brand_id` : sql``;
	const campaigns = isOf("country") ? sql`LEFT JOIN campaigns k ON k.campaign_id = s.campaign_id` : sql``;
	const names = list(NAMES);
	const isBehind =
		after === null
			? sql`true`
			: sql`(${names}) > (${sql.join(
					after.map((value) => sql`${value}`),
					sql`, `,
				)})`;
	return sql`SELECT ${names}, ${SUMS} FROM (SELECT ${list(GROUP_COLUMNS)}, ${COUNTS}, adjustment_micros FROM (${sums}) s ${brands} ${campaigns}) g
		WHERE ${isBehind} GROUP BY ${names} HAVING ${HAS_ACTIVITY} ORDER BY ${names} LIMIT ${limit + 1}`;
}

/**
 * Page and total of one moment; null where the publisher is no more.
 * @throws HttpError 422 where campaigns are not for this publisher's eyes, or sources would take too many rows, or rows that are gone
 */
export async function readEarnings({ db, dataThrough }: EarningsDeps, publisherId: string, query: EarningsQuery): Promise<Earnings | null> {
	const { group, from, to, limit } = query;
	const span = spanOf(publisherId, query);
	// Before any row is read.
	if (isOfRows(group)) requireRows((await db.all<RowCounts>(countRows(span, false)))[0]);
	const through = await dataThrough();
	const [owner, total, page, network, rows] = await runTransaction(db, [
		readViewer(publisherId),
		sql`SELECT ${SUMS} FROM daily_publishers WHERE publisher_id = ${publisherId} AND date BETWEEN ${from} AND ${to}`,
		earningsPage(publisherId, query),
		sql`SELECT reason, SUM(click_count) AS clicks, SUM(approved_count) AS approved, SUM(pending_count) AS pending, SUM(cancelled_count) AS cancelled
			FROM daily_network WHERE publisher_id = ${publisherId} AND date BETWEEN ${from} AND ${to} GROUP BY reason ORDER BY reason`,
		...(isOfRows(group) ? [countRows(span, true)] : []),
	]);
	const viewer = viewerOf(publisherId, owner);
	if (viewer === null) return null;
	if (group.includes("campaign") && !viewer.campaignIdEnabled) {
		throw invalidInput([{ path: "group", message: "campaign is not enabled for you" }]);
	}
	if (rows !== undefined) requireRows((rows.results as RowCounts[])[0]);
	const [sums] = (total?.results ?? []) as SumsRow[];
	const { shown, next } = cutPage((page?.results ?? []) as Row[], limit, (row) => group.map((name) => row[name] ?? ""));
	return {
		from,
		to,
		group: [...group],
		data: shown.map((row) => ({ ...showGroup(row, group), ...showSums(row, viewer) })),
		total: showSums(sums ?? NOTHING, viewer),
		...showCounts((network?.results ?? []) as CountsRow[]),
		data_through: isoTimeOrNull(through),
		limit,
		next_cursor: next,
	};
}

/** Conversions have no reason; what is unpaid has one. */
function showCounts(rows: readonly CountsRow[]): Pick<Earnings, "conversions" | "unpaid_clicks"> {
	const sum = (name: ConversionStatus) => rows.reduce((total, row) => total + row[name], 0);
	return {
		conversions: { approved: sum("approved"), pending: sum("pending"), cancelled: sum("cancelled") },
		unpaid_clicks: Object.fromEntries(rows.flatMap(({ reason, clicks }) => (reason === "" || clicks === 0 ? [] : [[reason, clicks]]))),
	};
}

const NOTHING: SumsRow = { clicks: 0, conversions: 0, revenue: null, pending: null, gross: null, sales: null };

function showGroup(row: Row, group: readonly EarningsGroup[]): Partial<EarningsRow> {
	const shown: Partial<EarningsRow> = {};
	for (const name of group) {
		const value = row[name] ?? "";
		if (name === "day") shown.day = String(value);
		else if (name === "source") shown.source_id = String(value);
		else if (name === "campaign") shown.campaign_id = value === -1 ? null : String(value);
		else shown[name] = value === "" ? null : String(value);
	}
	return shown;
}

function showSums(
	{ clicks, conversions, revenue, pending, gross, sales }: SumsRow,
	{ pricingModel, salesDataEnabled }: Viewer,
): Earnings["total"] {
	const [all, open] = [readSum(revenue), readSum(pending)];
	return {
		publisher_revenue: formatUsd(all),
		approved_revenue: formatUsd(all - open),
		pending_revenue: formatUsd(open),
		...(pricingModel === "CPA" && { gross_revenue: formatUsd(readSum(gross)) }),
		...(salesDataEnabled && { sales_amount: formatUsd(readSum(sales)) }),
		click_count: clicks ?? 0,
		conversion_count: conversions ?? 0,
	};
}
