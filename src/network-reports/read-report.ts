/**
 * What the network earns, by groups: of daily sums, so that the cost does not grow with clicks. Sources have no sums by anything but day and
 * publisher: else they are added up of a bounded number of rows.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { cutPage } from "../http/pages.ts";
import { CLICK_REASONS } from "../lib/traffic-rules.ts";
import { isNotZero, sumApart, sumOfParts } from "../reports/exact-sum.ts";
import type { NetworkReport, ReportGroup } from "./report-answer.ts";
import { hasDetails, isOfRows, type NetworkReportQuery } from "./report-request.ts";
import { NO_SUMS, type ReportSums, showGroup, showSums, showTotal } from "./show-report.ts";
import { publishersOf, requireFewRows, sourceRows } from "./source-rows.ts";

type Key = string | number;
type Row = ReportSums & Partial<Record<ReportGroup, Key>>;

/** Names of the columns that a page is ordered by; what has no value sorts first. */
const GROUP_COLUMNS: Record<ReportGroup, SQL> = {
	day: sql`s.date AS day`,
	publisher: sql`s.publisher_id AS publisher`,
	brand: sql`coalesce(b.domain, '') AS brand`,
	campaign: sql`s.campaign_id AS campaign`,
	platform: sql`s.platform`,
	country: sql`s.country`,
	// An empty source is one, too.
	source: sql`CASE WHEN s.source_id IS NULL THEN '' ELSE '=' || s.source_id END AS source`,
	kind: sql`s.kind`,
};
const NAMES: Record<ReportGroup, SQL> = {
	day: sql`day`,
	publisher: sql`publisher`,
	brand: sql`brand`,
	campaign: sql`campaign`,
	platform: sql`platform`,
	country: sql`country`,
	source: sql`source`,
	kind: sql`kind`,
};

/** Sums of money, each in whole dollars and the rest. */
const CLICK_GROSS = { dollars: sql`click_gross_usd`, rest: sql`click_gross_rest` };
const REVENUE = { dollars: sql`revenue_usd`, rest: sql`revenue_rest` };
const PENDING_REVENUE = { dollars: sql`pending_usd`, rest: sql`pending_rest` };
const GROSS = { dollars: sql`gross_usd`, rest: sql`gross_rest` };
const PENDING_GROSS = { dollars: sql`pending_gross_usd`, rest: sql`pending_gross_rest` };
const SALES = { dollars: sql`sales_usd`, rest: sql`sales_rest` };

/** What is added up first, of the columns that each part of {@link rowsOf} gives: so what has some reason or other is told apart once a group. */
const BY_REASON = sql`SUM(click_count) AS clicks, SUM(conversion_count) AS conversions, SUM(approved_count) AS approved,
	SUM(pending_count) AS pending, SUM(cancelled_count) AS cancelled, ${sumApart(sql`click_gross_micros`, CLICK_GROSS)},
	${sumApart(sql`revenue_micros`, REVENUE)}, ${sumApart(sql`pending_revenue_micros`, PENDING_REVENUE)},
	${sumApart(sql`gross_micros`, GROSS)}, ${sumApart(sql`pending_gross_micros`, PENDING_GROSS)}, ${sumApart(sql`sales_micros`, SALES)}`;

const reasons = sql.join(
	CLICK_REASONS.map((reason) => sql`SUM(CASE WHEN reason = ${reason} THEN clicks ELSE 0 END)`),
	sql` || ' ' || `,
);

const SUMS = sql`SUM(CASE WHEN reason = '' THEN clicks ELSE 0 END) AS paid, ${reasons} AS unpaid, SUM(conversions) AS conversions,
	SUM(approved) AS approved, SUM(pending) AS pending, SUM(cancelled) AS cancelled, ${sumOfParts(CLICK_GROSS)} AS "clickGross",
	${sumOfParts(REVENUE)} AS revenue, ${sumOfParts(PENDING_REVENUE)} AS "pendingRevenue", ${sumOfParts(GROSS)} AS gross,
	${sumOfParts(PENDING_GROSS)} AS "pendingGross",
	${sumOfParts(SALES)} AS sales`;

const HAS_SOMETHING = sql`SUM(clicks) <> 0 OR SUM(conversions) <> 0 OR SUM(cancelled) <> 0 OR ${isNotZero(REVENUE)} OR ${isNotZero(PENDING_REVENUE)}
	OR ${isNotZero(GROSS)} OR ${isNotZero(SALES)}`;

/** In the place of a name, in the row of the total. */
const NOTHING: Record<ReportGroup, SQL> = {
	day: sql`''`,
	publisher: sql`''`,
	brand: sql`''`,
	campaign: sql`-1`,
	platform: sql`''`,
	country: sql`''`,
	source: sql`''`,
	kind: sql`''`,
};

/** All there is, and amounts of the operator's, which are of a publisher and of nothing else. */
function rowsOf({ from, to, publisher }: NetworkReportQuery): SQL {
	const isPublisher = publisher === null ? sql`true` : sql`p.id = ${publisher}`;
	return sql`SELECT n.date, n.publisher_id, n.brand_id, n.campaign_id, n.platform, n.country, n.kind, CAST(NULL AS TEXT) AS source_id,
			n.reason, n.click_count, n.approved_count + n.pending_count AS conversion_count, n.approved_count, n.pending_count, n.cancelled_count,
			n.click_gross_micros, n.click_revenue_micros + n.conversion_revenue_micros AS revenue_micros, n.pending_revenue_micros, n.gross_micros,
			n.pending_gross_micros, n.sales_micros
		FROM ${publishersOf(publisher)} k CROSS JOIN daily_network n WHERE n.publisher_id = k.id AND n.date BETWEEN ${from} AND ${to}
		UNION ALL
		SELECT a.date, a.publisher_id, -1, -1, '', '', '', CAST(NULL AS TEXT), '', 0, 0, 0, 0, 0, 0, a.adjustment_micros, 0, 0, 0, 0
		FROM publishers p CROSS JOIN daily_publishers a
		WHERE ${isPublisher} AND a.publisher_id = p.id AND a.date BETWEEN ${from} AND ${to} AND a.adjustment_micros <> 0`;
}

/**
 * Sums of sources as publishers' reports have them, each taken out of what is of no source: so rows add up to the same total as any others.
 * @param sign 1 for the sources, -1 for what they take out
 */
function sourceSums({ from, to, publisher }: NetworkReportQuery, sign: 1 | -1): SQL {
	const isPublisher = publisher === null ? sql`true` : sql`p.id = ${publisher}`;
	const source = sign === 1 ? sql`d.source_id` : sql`CAST(NULL AS TEXT)`;
	const by = sql`CAST(${sign} AS BIGINT)`;
	return sql`SELECT d.date, d.publisher_id, -1, -1, '', '', '', ${source}, '', ${by} * d.click_count, ${by} * d.conversion_count, 0, 0, 0, 0,
			${by} * (d.click_revenue_micros + d.conversion_revenue_micros), ${by} * d.pending_revenue_micros, ${by} * d.gross_micros, 0, ${by} * d.sales_micros
		FROM publishers p CROSS JOIN daily_sources d WHERE ${isPublisher} AND d.publisher_id = p.id AND d.date BETWEEN ${from} AND ${to}`;
}

/** The rows of a page and one more, in the order of their group, and the total behind them: all of it is read once. */
function reportQuery(query: NetworkReportQuery): SQL {
	const { group, limit, after } = query;
	const list = (parts: readonly SQL[]) => sql.join([...parts], sql`, `);
	const names = list(group.map((name) => NAMES[name]));
	const rows = rowsOf(query);
	let all = rows;
	if (isOfRows(query)) all = sql`${rows} UNION ALL SELECT k.* FROM (${sourceRows(query)}) k`;
	else if (group.includes("source")) all = sql`${rows} UNION ALL ${sourceSums(query, 1)} UNION ALL ${sourceSums(query, -1)}`;
	const brands = group.includes("brand") ? sql`LEFT JOIN brands b ON b.id = s.brand_id` : sql``;
	const key = after === null ? null : list(after.map((value) => sql`${value}`));
	const isBehind = key === null ? sql`true` : sql`(${names}) > (${key})`;
	return sql`WITH g AS MATERIALIZED (SELECT ${names}, reason, ${BY_REASON} FROM (
			SELECT ${list(group.map((name) => GROUP_COLUMNS[name]))}, s.reason, s.click_count,
				s.conversion_count, s.approved_count, s.pending_count, s.cancelled_count, s.click_gross_micros, s.revenue_micros,
				s.pending_revenue_micros, s.gross_micros, s.pending_gross_micros, s.sales_micros FROM (${all}) s ${brands}) r
			GROUP BY ${names}, reason)
		SELECT * FROM (SELECT 0 AS "isTotal", ${names}, ${SUMS} FROM g WHERE ${isBehind} GROUP BY ${names} HAVING ${HAS_SOMETHING}
			ORDER BY ${names} LIMIT ${limit + 1}) page
		UNION ALL SELECT 1, ${list(group.map((name) => NOTHING[name]))}, ${SUMS} FROM g
		ORDER BY "isTotal", ${names}`;
}

/**
 * Page and total of one moment.
 * @throws HttpError 422 where sources would take too many rows
 */
export async function readNetworkReport(db: Database, query: NetworkReportQuery): Promise<Omit<NetworkReport, "data_through">> {
	const { group, from, to, limit } = query;
	await requireFewRows(db, query);
	const read = await db.all<Row & { isTotal: number }>(reportQuery(query));
	const sums = read.find(({ isTotal }) => isTotal === 1) ?? NO_SUMS;
	const rows = read.filter(({ isTotal }) => isTotal === 0);
	const { shown, next } = cutPage(rows, limit, (row) => group.map((name) => row[name] ?? ""));
	const show = hasDetails(query) ? showTotal : showSums;
	return {
		from,
		to,
		group: [...group],
		data: shown.map((row) => ({ ...showGroup(row, group), ...show(row) })),
		total: showTotal(sums),
		limit,
		next_cursor: next,
	};
}
