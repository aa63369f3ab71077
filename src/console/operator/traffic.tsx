/** Publishers and sources by how much of their traffic is not paid. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { MAX_ROWS } from "../../lib/page-cursor.ts";
import { readNetworkReport } from "../../network-reports/read-report.ts";
import { REPORT_GROUPS, type ReportRow } from "../../network-reports/report-answer.ts";
import { hasDetails, readNetworkReportQuery } from "../../network-reports/report-request.ts";
import { page } from "../page.ts";
import type { Query } from "../ui/address.ts";
import { Filters, Pager, Periods, Tabs } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Count, Money, Percent } from "../ui/values.tsx";
import { CLICK_REASON_WORDS } from "../words.ts";
import { clicksAddress, VoidThese } from "./clicks.tsx";
import { networkPath } from "./network-lists.tsx";

const PATH = "/console/operator/traffic";
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
			const { data, next_cursor, group, from, to } = await readNetworkReport(deps.db, report);
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
					</Filters>
					<Tabs label="Traffic by" path={PATH} query={query} name="group" tabs={GROUPS} />
					<Table
						caption={`Traffic from ${from} to ${to}, UTC${isByDay ? ", the newest day first" : isByShare ? ", the largest unpaid part of this page first" : ""}`}
						columns={[...group.map(columnOf), ...(isDetailed ? detailsOf(period) : []), ...sumsOf(period)]}
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
];

function unpaidShare({ clicks_paid, clicks_unpaid }: ReportRow): number | null {
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

const detailsOf = (period: Query): readonly Column<ReportRow>[] => [
	{ head: "Unpaid part", kind: "number", cell: (row) => <Percent of={unpaidShare(row)} /> },
	{ head: "Unpaid clicks", kind: "number", cell: (row) => <ClickCount of={row.clicks_unpaid} at={clicksOf(row, "unpaid", period)} /> },
	{
		head: "Mostly since",
		cell: ({ unpaid = {} }) => {
			const [most] = (Object.entries(unpaid) as [keyof typeof CLICK_REASON_WORDS, number][]).sort(([, a], [, b]) => b - a);
			return most === undefined ? null : CLICK_REASON_WORDS[most[0]];
		},
	},
	{ head: "Reversed", kind: "number", cell: ({ reversal_rate }) => <Percent of={reversal_rate} /> },
	{ head: "EPC bid", kind: "money", cell: ({ epc_bid }) => <Money usd={epc_bid} /> },
];

const sumsOf = (period: Query): readonly Column<ReportRow>[] => [
	{ head: "Paid clicks", kind: "number", cell: (row) => <ClickCount of={row.clicks_paid} at={clicksOf(row, "paid", period)} /> },
	{ head: "Conversions", kind: "number", cell: ({ conversion_count }) => <Count of={conversion_count} /> },
	{ head: "EPC earned", kind: "money", cell: ({ epc_earned }) => <Money usd={epc_earned} /> },
	{ head: "Gross", kind: "money", cell: ({ gross_revenue }) => <Money usd={gross_revenue} /> },
	{ head: "Publishers'", kind: "money", cell: ({ publisher_revenue }) => <Money usd={publisher_revenue} /> },
	{ head: "Margin", kind: "money", cell: ({ margin }) => <Money usd={margin} /> },
];
