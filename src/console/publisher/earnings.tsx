/** What a publisher has earned. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { invalidInput } from "../../http/errors.ts";
import { HttpError } from "../../lib/http.ts";
import { DAY_MS, utcDay } from "../../lib/time.ts";
import type { Earnings, EarningsGroup, EarningsRow } from "../../publisher-api/earnings-answer.ts";
import { readEarningsQuery } from "../../publisher-api/earnings-request.ts";
import { readEarnings } from "../../publisher-api/read-earnings.ts";
import { type ReportRecord, writeCsv } from "../../reports/csv.ts";
import { type PublisherRequest, page } from "../page.ts";
import { addressOf } from "../ui/address.ts";
import { Chart } from "../ui/chart/chart.tsx";
import { Filters, Pager, Periods, Tabs } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { type Column, Figures, Table } from "../ui/table.tsx";
import { Count, Money, Time } from "../ui/values.tsx";
import { CLICK_REASON_WORDS } from "../words.ts";

const PATH = "/console/earnings";
const CSV_PATH = `${PATH}.csv`;
/** Most rows that the verb gives at once. */
const MAX_ROWS = "1000";
/** A query each thousand, in one request. */
export const MAX_CSV_ROWS = 20_000;

const GROUPS = [
	{ value: "day", label: "By day" },
	{ value: "source", label: "By source" },
	{ value: "brand", label: "By brand" },
	{ value: "country", label: "By country" },
];

export const EARNINGS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst" },
		title: "Earnings",
		async handle(request) {
			const { query, now } = request;
			const group = query.group || "day";
			// Days are all on one page, which no period is too long for: the chart needs them, and the newest stand first.
			const earnings = await read(request, group === "day" ? { ...query, limit: MAX_ROWS } : query);
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						kept={["group"]}
						shown={{ from: earnings.from, to: earnings.to }}
						filters={[
							{ kind: "date", name: "from", label: "From" },
							{ kind: "date", name: "to", label: "To" },
						]}
					>
						<Periods path={PATH} query={query} now={now} shown={earnings} />
						<a href={addressOf(CSV_PATH, query, { cursor: null })}>As CSV</a>
					</Filters>
					<Through earnings={earnings} now={now} />
					<Totals earnings={earnings} />
					<Tabs label="Earnings by" path={PATH} query={query} name="group" tabs={GROUPS} />
					{group === "day" ? <Days earnings={earnings} now={now} /> : null}
					<Rows earnings={earnings} isSuspended={request.publisher.status === "suspended"} />
					<Pager path={PATH} query={query} next={earnings.next_cursor} />
					<Unpaid earnings={earnings} />
				</>
			);
		},
	}),
	page({
		method: "GET",
		path: CSV_PATH,
		needs: { publisher: "analyst" },
		title: "Earnings as CSV",
		isData: true,
		async handle(request) {
			const rows: EarningsRow[] = [];
			let columns: string[] = [];
			for (let cursor: string | null = ""; cursor !== null; ) {
				const earnings: Earnings = await read(request, { ...request.query, limit: MAX_ROWS, cursor });
				rows.push(...earnings.data);
				columns = [...earnings.group.map(columnOf), ...Object.keys(earnings.total)];
				cursor = earnings.next_cursor;
				if (cursor !== null && rows.length >= MAX_CSV_ROWS)
					throw invalidInput([{ path: "from", message: `gives more than ${MAX_CSV_ROWS} rows: ask for a shorter time` }]);
			}
			return new Response(writeCsv(columns, rows.map(toRecord)), {
				headers: {
					"content-type": "text/csv; charset=utf-8; header=present",
					"content-disposition": 'attachment; filename="earnings.csv"',
				},
			});
		},
	}),
];

/** What a row calls that by which it is grouped. */
function columnOf(group: EarningsGroup): keyof EarningsRow {
	return group === "source" || group === "campaign" ? `${group}_id` : group;
}

function toRecord(row: EarningsRow): ReportRecord {
	return Object.fromEntries(Object.entries(row).filter((entry): entry is [string, string | number | null] => entry[1] !== undefined));
}

async function read({ deps, publisher, now }: PublisherRequest, query: Record<string, string>): Promise<Earnings> {
	const earnings = await readEarnings(deps.publisherApi, publisher.id, readEarningsQuery(query, now));
	if (earnings === null) throw new HttpError(404, { error: "Not found" });
	return earnings;
}

function Through({ earnings: { data_through, to }, now }: { earnings: Earnings; now: number }): JSX.Element {
	return (
		<p class="note">
			{data_through === null ? (
				"How far the data reaches is not known at the moment."
			) : (
				<>
					Everything up to <Time at={data_through} /> is counted.
				</>
			)}{" "}
			{to >= utcDay(now) ? "Today is not over: its numbers still grow." : null}
		</p>
	);
}

function Totals({ earnings: { total, conversions, unpaid_clicks, from, to } }: { earnings: Earnings }): JSX.Element {
	const unpaid = Object.values(unpaid_clicks).reduce((sum, count) => sum + count, 0);
	return (
		<Figures
			figures={[
				{ name: "Earned", value: <Money usd={total.publisher_revenue} />, note: `${from} to ${to}, UTC` },
				{ name: "Approved", value: <Money usd={total.approved_revenue} /> },
				{ name: "Pending", value: <Money usd={total.pending_revenue} />, note: "may still be cancelled" },
				{ name: "Paid clicks", value: <Count of={total.click_count} /> },
				{ name: "Unpaid clicks", value: <Count of={unpaid} />, note: unpaid === 0 ? undefined : <a href="#unpaid">why</a> },
				{ name: "Approved conversions", value: <Count of={conversions.approved} /> },
				{ name: "Pending conversions", value: <Count of={conversions.pending} /> },
				{ name: "Cancelled conversions", value: <Count of={conversions.cancelled} /> },
			]}
		/>
	);
}

function Days({ earnings: { data, from, to, next_cursor }, now }: { earnings: Earnings; now: number }): JSX.Element | null {
	if (next_cursor !== null || data.length === 0) return null;
	const days = Array.from({ length: (Date.parse(to) - Date.parse(from)) / DAY_MS + 1 }, (_, at) => utcDay(Date.parse(from) + at * DAY_MS));
	const byDay = new Map(data.map((row) => [row.day, row]));
	const values = (name: "approved_revenue" | "pending_revenue") => days.map((day) => Number(byDay.get(day)?.[name] ?? 0));
	const today = days.indexOf(utcDay(now));
	return (
		<Chart
			title="Earned by day"
			kind="bars"
			unit="money"
			of="Day"
			points={days}
			series={[
				{ name: "Approved", values: values("approved_revenue") },
				{ name: "Pending", values: values("pending_revenue") },
			]}
			{...(today >= 0 && { partialFrom: today })}
			hasTable
		/>
	);
}

const NOBODY = <span class="none">none</span>;

function Rows({ earnings: { data, group, total }, isSuspended }: { earnings: Earnings; isSuspended: boolean }): JSX.Element {
	const names: Record<Earnings["group"][number], Column<EarningsRow>> = {
		day: { head: "Day (UTC)", cell: ({ day }) => <time datetime={day}>{day}</time> },
		source: { head: "Source", cell: ({ source_id }) => source_id || NOBODY },
		brand: { head: "Brand", cell: ({ brand }) => brand ?? "Amounts of the operator's" },
		campaign: { head: "Campaign", cell: ({ campaign_id }) => campaign_id ?? "Amounts of the operator's" },
		country: { head: "Country", cell: ({ country }) => country ?? NOBODY },
	};
	const money = (head: string, name: keyof EarningsRow & keyof typeof total): Column<EarningsRow> => ({
		head,
		kind: "money",
		cell: (row) => <Money usd={row[name] as string} />,
		total: <Money usd={total[name] as string} />,
	});
	const columns: Column<EarningsRow>[] = [
		...group.map((name) => names[name]),
		{ head: "Paid clicks", kind: "number", cell: ({ click_count }) => <Count of={click_count} />, total: <Count of={total.click_count} /> },
		{
			head: "Conversions",
			kind: "number",
			cell: ({ conversion_count }) => <Count of={conversion_count} />,
			total: <Count of={total.conversion_count} />,
		},
		money("Approved", "approved_revenue"),
		money("Pending", "pending_revenue"),
		money("Earned", "publisher_revenue"),
		...(total.gross_revenue === undefined ? [] : [money("Before your share", "gross_revenue")]),
		...(total.sales_amount === undefined ? [] : [money("Sales", "sales_amount")]),
	];
	const isByDay = group.join() === "day";
	return (
		<Table
			caption={`Earnings by ${group.join(" and ")}${isByDay ? ", the newest first" : ""}`}
			columns={columns}
			rows={isByDay ? data.toReversed() : data}
			empty={
				<Empty title="Nothing was earned in this time">
					<p>
						{isSuspended ? null : (
							<>
								<a href="/console/links">Make a tracking link</a>, or see{" "}
							</>
						)}
						<a href="/console/no-bids">{isSuspended ? "Why requests get no bid" : "why requests get no bid"}</a>.
					</p>
				</Empty>
			}
		/>
	);
}

function Unpaid({ earnings: { unpaid_clicks, total, from, to } }: { earnings: Earnings }): JSX.Element {
	const rows = (Object.entries(unpaid_clicks) as [keyof typeof CLICK_REASON_WORDS, number][]).sort(([, a], [, b]) => b - a);
	return (
		<section id="unpaid">
			<h2>Unpaid clicks</h2>
			<Table
				caption="Unpaid clicks by reason"
				quiet
				columns={[
					{ head: "Why", cell: ([reason]) => CLICK_REASON_WORDS[reason] },
					{
						head: "Clicks",
						kind: "number",
						cell: ([reason, count]) => (
							<a href={addressOf("/console/clicks", { reason, from, to })}>
								<Count of={count} />
								<span class="unseen"> clicks: {CLICK_REASON_WORDS[reason]}</span>
							</a>
						),
					},
				]}
				rows={rows}
				empty={total.click_count === 0 ? <p>There was no click in this time.</p> : <p>All clicks of this time are paid.</p>}
			/>
		</section>
	);
}
