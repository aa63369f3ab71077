/** Publishers and sources by how much of their traffic is not paid, and by what they and the network earn. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { invalidInput } from "../../http/errors.ts";
import { MAX_ROWS } from "../../lib/page-cursor.ts";
import { readNetworkReport } from "../../network-reports/read-report.ts";
import { REPORT_GROUPS, type ReportRow, type ReportTotal } from "../../network-reports/report-answer.ts";
import { hasDetails, readNetworkReportQuery } from "../../network-reports/report-request.ts";
import { writeReportCsv } from "../../network-reports/write-report-csv.ts";
import { page } from "../page.ts";
import { addressOf, type Query } from "../ui/address.ts";
import { Filters, Pager, Periods, Tabs } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Count, Money, Percent } from "../ui/values.tsx";
import { CLICK_REASON_WORDS } from "../words.ts";
import { clicksAddress, VoidThese } from "./clicks.tsx";
import { networkPath } from "./network-lists.tsx";

const PATH = "/console/operator/traffic";
const CSV_PATH = `${PATH}.csv`;
/** All of one moment, and in one reading. */
const MAX_CSV_ROWS = 20_000;
const GROUPS = [
	{ value: "publisher", label: "By publisher" },
	{ value: "publisher,source", label: "By source" },
	{ value: "brand", label: "By brand" },
	{ value: "campaign", label: "By campaign" },
	{ value: "platform", label: "By platform" },
	{ value: "country", label: "By country" },
	{ value: "kind", label: "By kind of link" },
	{ value: "day", label: "By day" },
];

export const TRAFFIC_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Traffic",
		async handle({ deps, query, now }) {
			const isByDay = query.group === "day";
			// Days are all on one page.
			const asked = { ...query, group: query.group || "publisher", ...(isByDay && { limit: String(MAX_ROWS) }) };
			const report = readNetworkReportQuery(asked, now);
			const { data, total, next_cursor, group, from, to } = await readNetworkReport(deps.db, report);
			const isDetailed = hasDetails(report);
			const period = { from, to, publisher: query.publisher ?? "" };
			const isByShare = isDetailed && !isByDay;
			const rows = isByDay
				? data.toReversed()
				: isByShare
					? data.toSorted((one, other) => (unpaidShare(other) ?? 0) - (unpaidShare(one) ?? 0))
					: data;
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						kept={["group"]}
						shown={{ from, to }}
						filters={[
							{ kind: "date", name: "from", label: "From" },
							{ kind: "date", name: "to", label: "To" },
							{ kind: "text", name: "publisher", label: "Publisher" },
						]}
					>
						<Periods path={PATH} query={query} now={now} shown={{ from, to }} />
						<a href={addressOf(CSV_PATH, query, { cursor: null })}>As CSV</a>
					</Filters>
					<Tabs label="Traffic by" path={PATH} query={query} name="group" tabs={GROUPS} />
					<Table
						caption={`Traffic from ${from} to ${to}, UTC${isByDay ? ", the newest day first" : isByShare ? ", the largest unpaid part of this page first" : ""}`}
						columns={[...group.map(columnOf), ...(isDetailed ? detailsOf(period, total) : []), ...sumsOf(period, total, isDetailed)]}
						rows={rows}
						empty={
							<Empty title="There was no traffic in this time">
								<p>Ask for another time.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
					<VoidThese query={period} />
				</>
			);
		},
	}),
	page({
		method: "GET",
		path: CSV_PATH,
		needs: { staff: "viewer" },
		title: "Traffic as CSV",
		isData: true,
		async handle({ deps, query, now }) {
			const asked = readNetworkReportQuery({ ...query, group: query.group || "publisher", cursor: "" }, now);
			const report = await readNetworkReport(deps.db, { ...asked, limit: MAX_CSV_ROWS });
			if (report.next_cursor !== null)
				throw invalidInput([{ path: "from", message: `gives more than ${MAX_CSV_ROWS} rows: ask for a shorter time` }]);
			return writeReportCsv(report, hasDetails(asked));
		},
	}),
];

function unpaidShare({ clicks_paid, clicks_unpaid }: ReportRow | ReportTotal): number | null {
	const all = clicks_paid + (clicks_unpaid ?? 0);
	return all <= 0 || clicks_unpaid === undefined ? null : clicks_unpaid / all;
}

function columnOf(name: keyof ReportRow & string): Column<ReportRow> {
	return {
		head: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
		cell: (row) => {
			const value = row[name];
			if (value === null || value === undefined) return <span class="none">none</span>;
			if (name === "publisher") return <a href={networkPath("publishers", String(value))}>{String(value)}</a>;
			return value === "" ? <span class="none">none</span> : String(value);
		},
	};
}

/** The clicks that a row counts; null where their list cannot be narrowed down to them: to those without a source or a brand. */
function clicksOf(row: ReportRow, reason: "paid" | "unpaid", period: Query): string | null {
	const narrowed: Record<string, string> = { ...period };
	for (const name of REPORT_GROUPS) {
		const value = row[name];
		if (value === undefined) continue;
		if (value === null || value === "") return null;
		if (name === "day") Object.assign(narrowed, { from: String(value), to: String(value) });
		else narrowed[name] = String(value);
	}
	return clicksAddress({ ...narrowed, reason });
}

function ClickCount({ of, at }: { of: number | undefined; at: string | null }): JSX.Element {
	return of === undefined || of <= 0 || at === null ? (
		<Count of={of} />
	) : (
		<a href={at}>
			<Count of={of} />
		</a>
	);
}

const detailsOf = (period: Query, total: ReportTotal): readonly Column<ReportRow>[] => [
	{ head: "Unpaid part", kind: "number", cell: (row) => <Percent of={unpaidShare(row)} />, total: <Percent of={unpaidShare(total)} /> },
	{
		head: "Unpaid clicks",
		kind: "number",
		cell: (row) => <ClickCount of={row.clicks_unpaid} at={clicksOf(row, "unpaid", period)} />,
		total: <Count of={total.clicks_unpaid} />,
	},
	{
		head: "Mostly since",
		cell: ({ unpaid = {} }) => {
			const [most] = (Object.entries(unpaid) as [keyof typeof CLICK_REASON_WORDS, number][]).sort(([, a], [, b]) => b - a);
			return most === undefined ? null : CLICK_REASON_WORDS[most[0]];
		},
	},
	{
		head: "Reversed",
		kind: "number",
		cell: ({ reversal_rate }) => <Percent of={reversal_rate} />,
		total: <Percent of={total.reversal_rate} />,
	},
	{ head: "EPC bid", kind: "money", cell: ({ epc_bid }) => <Money usd={epc_bid} />, total: <Money usd={total.epc_bid} /> },
];

/** The total is of all pages. */
const sumsOf = (period: Query, total: ReportTotal, isDetailed: boolean): readonly Column<ReportRow>[] => {
	type Name = "epc_earned" | "gross_revenue" | "pending_gross_revenue" | "publisher_revenue" | "pending_revenue" | "margin";
	const money = (head: string, name: Name) => ({
		head,
		kind: "money" as const,
		cell: (row: ReportRow) => <Money usd={row[name]} />,
		total: <Money usd={total[name]} />,
	});
	return [
		{
			head: "Paid clicks",
			kind: "number",
			cell: (row) => <ClickCount of={row.clicks_paid} at={clicksOf(row, "paid", period)} />,
			total: <Count of={total.clicks_paid} />,
		},
		{
			head: "Conversions",
			kind: "number",
			cell: ({ conversion_count }) => <Count of={conversion_count} />,
			total: <Count of={total.conversion_count} />,
		},
		money("EPC earned", "epc_earned"),
		money("Gross", "gross_revenue"),
		...(isDetailed ? [money("Of it pending", "pending_gross_revenue")] : []),
		money("Publishers'", "publisher_revenue"),
		money("Of it pending", "pending_revenue"),
		money("Margin", "margin"),
	];
};
