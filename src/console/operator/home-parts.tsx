/** Parts of the page on which operators begin. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { BidsPage } from "../../bid-counts/bids-answer.ts";
import { DAY_MS, utcDay } from "../../lib/time.ts";
import type { NetworkReport } from "../../network-reports/report-answer.ts";
import type { Problem, ProblemKind } from "../../operator/status/problems-answer.ts";
import type { Status } from "../../operator/status/status-answer.ts";
import { addressOf } from "../ui/address.ts";
import { Chart } from "../ui/chart/chart.tsx";
import { Notice } from "../ui/messages.tsx";
import { Figures, Table } from "../ui/table.tsx";
import { Count, inWords, Money, Percent, Time } from "../ui/values.tsx";
import { CLICK_REASON_WORDS } from "../words.ts";
import { clicksAddress } from "./clicks.tsx";
import { DIFFERENCES_ANCHOR } from "./ledger-differences.tsx";

const PATH = "/console/operator";

/** The page, or the part of this one, that mends a problem; null where there is none. */
const MENDED_AT: Readonly<Record<ProblemKind, string | null>> = {
	database_full: null,
	dead_letters_clicks: `${PATH}/dead-letters`,
	dead_letters_postbacks: `${PATH}/dead-letters`,
	dead_letters_callbacks: `${PATH}/dead-letters`,
	cron_late: null,
	book_stale: null,
	products_full: null,
	prices_stale: `${PATH}/learning`,
	queue_backlog_clicks: null,
	queue_backlog_postbacks: null,
	queue_backlog_callbacks: null,
	kept_in_kv: null,
	alerts_fail: null,
	sums_differ: null,
	ledger_differs: DIFFERENCES_ANCHOR,
	credited_without_rate: `${PATH}/conversions?reason=no_rate`,
	paid_twice: `${PATH}/claims?state=granted`,
	no_rate: `${PATH}/conversions?reason=no_rate`,
	above_ceiling: `${PATH}/conversions?reason=amount`,
	in_review: `${PATH}/conversions?reason=review`,
	postbacks_rejected: `${PATH}/postback-problems`,
	unmatched: `${PATH}/postback-problems`,
	waiting: `${PATH}/conversions?stage=waiting`,
	unknown_status: `${PATH}/postback-problems`,
	callbacks_exhausted: `${PATH}/callbacks?state=exhausted`,
	callback_addresses_paused: `${PATH}/callbacks?state=due`,
	claims_open: `${PATH}/claims?state=open`,
	publisher_suspended: `${PATH}/conversions?reason=publisher_suspended`,
	prices_broke: `${PATH}/learning`,
	database_filling: null,
	products_filling: null,
	campaigns_paused: `${PATH}/campaigns`,
};

export type Period = { from: string; to: string };

export function Problems({ problems }: { problems: readonly Problem[] }): JSX.Element {
	return (
		<Table
			caption="What needs a person, the most urgent first"
			quiet
			columns={[
				{
					head: "Problem",
					kind: "prose",
					cell: ({ kind, text }) => {
						const address = MENDED_AT[kind];
						return address === null ? text : <a href={address}>{text}</a>;
					},
				},
				{ head: "Since", cell: ({ since }) => <Time at={since} /> },
				{ head: "How many", kind: "number", cell: ({ count }) => <Count of={count} /> },
				{ head: "Keeps back", kind: "money", cell: ({ cost }) => <Money usd={cost} /> },
				{ head: "Or by command", cell: ({ command }) => (command === null ? "none" : <code>{command}</code>) },
			]}
			rows={problems}
			empty={
				<Notice tone="good" title="Nothing needs a person." isState>
					What is below goes by itself.
				</Notice>
			}
		/>
	);
}

export function Now({ status: { clicks, callbacks, conversions, book } }: { status: Status }): JSX.Element {
	const unpaid = clicks.unpaid.reduce((sum, { count }) => sum + count, 0);
	return (
		<Figures
			figures={[
				{ name: "Paid clicks, 24 hours", value: <Count of={clicks.paid} /> },
				{ name: "Unpaid clicks, 24 hours", value: <Count of={unpaid} /> },
				{ name: "Conversions waiting", value: <Count of={conversions.waiting} />, at: `${PATH}/conversions?stage=waiting` },
				{ name: "Conversions quarantined", value: <Count of={conversions.quarantined} />, at: `${PATH}/conversions?stage=quarantined` },
				{ name: "Callbacks not confirmed yet", value: <Count of={callbacks.undelivered.count} />, at: `${PATH}/callbacks?state=due` },
				{
					name: "Bids' book",
					value: book === null ? "none yet" : `version ${book.version}`,
					note: book === null ? null : <Time at={book.published_at} />,
				},
			]}
		/>
	);
}

function daysOf(from: string, to: string): string[] {
	return Array.from({ length: (Date.parse(to) - Date.parse(from)) / DAY_MS + 1 }, (_, at) => utcDay(Date.parse(from) + at * DAY_MS));
}

type Report = Omit<NetworkReport, "data_through">;

/** From which point on numbers still grow. */
function partialFrom(days: readonly string[], now: number): { partialFrom?: number } {
	const today = days.indexOf(utcDay(now));
	return today < 0 ? {} : { partialFrom: today };
}

export function Earned({ report: { data, total, from, to }, now }: { report: Report; now: number }): JSX.Element {
	const days = daysOf(from, to);
	const byDay = new Map(data.map((row) => [row.day, row]));
	const values = (name: "gross_revenue" | "publisher_revenue" | "margin") => days.map((day) => byDay.get(day)?.[name] ?? "0");
	return (
		<>
			<Figures
				figures={[
					{
						name: "Gross revenue",
						value: <Money usd={total.gross_revenue} />,
						note: (
							<>
								<Money usd={total.pending_gross_revenue} /> of it pending; {from} to {to}, UTC
							</>
						),
					},
					{
						name: "Publishers' revenue",
						value: <Money usd={total.publisher_revenue} />,
						note: (
							<>
								<Money usd={total.pending_revenue} /> of it pending
							</>
						),
					},
					{ name: "Margin", value: <Money usd={total.margin} />, note: <Percent of={total.margin_rate} /> },
					{ name: "Approved conversions", value: <Count of={total.conversions.approved} /> },
					{ name: "Pending conversions", value: <Count of={total.conversions.pending} /> },
					{ name: "Cancelled conversions", value: <Count of={total.conversions.cancelled} />, note: <Percent of={total.reversal_rate} /> },
				]}
			/>
			<Chart
				title="Revenue by day"
				kind="lines"
				unit="money"
				of="Day"
				points={days}
				series={[
					{ name: "Gross", values: values("gross_revenue") },
					{ name: "Publishers'", values: values("publisher_revenue") },
					{ name: "Margin", values: values("margin") },
				]}
				{...partialFrom(days, now)}
			/>
		</>
	);
}

export function Bids({ bids, noBids, period, now }: { bids: BidsPage; noBids: BidsPage; period: Period; now: number }): JSX.Element {
	const days = daysOf(period.from, period.to);
	const byDay = new Map(bids.data.map((row) => [row.day, row]));
	const { requests, bids: made } = bids.total;
	const reasons = noBids.data.filter(({ reason }) => reason !== null && reason !== undefined);
	return (
		<>
			<Figures
				figures={[
					{ name: "Requests", value: <Count of={requests} /> },
					{ name: "Bids", value: <Count of={made} /> },
					{ name: "Fill", value: <Percent of={requests === 0 ? null : made / requests} /> },
				]}
			/>
			<Chart
				title="Requests by day"
				kind="bars"
				unit="count"
				of="Day"
				points={days}
				series={[
					{ name: "Bids", values: days.map((day) => byDay.get(day)?.bids ?? 0) },
					{ name: "No bids", values: days.map((day) => byDay.get(day)?.no_bids ?? 0) },
				]}
				{...partialFrom(days, now)}
			/>
			<Table
				caption="Why there was no bid"
				columns={[
					{ head: "Why", cell: ({ reason }) => inWords(reason ?? "") },
					{ head: "Requests", kind: "number", cell: ({ no_bids }) => <Count of={no_bids} /> },
					{
						head: "Part of all",
						kind: "number",
						cell: ({ no_bids }) => <Percent of={requests === 0 ? null : no_bids / requests} />,
					},
				]}
				rows={reasons.toSorted((one, other) => other.no_bids - one.no_bids)}
				empty={<p>{requests === 0 ? "There was no request in this time." : "Every request of this time got a bid."}</p>}
			/>
		</>
	);
}

export function Unpaid({ report: { data, total, from, to }, report, now }: { report: Report; now: number }): JSX.Element {
	const days = daysOf(from, to);
	const byDay = new Map(data.map((row) => [row.day, row]));
	const rows = (Object.entries(total.unpaid) as [keyof typeof CLICK_REASON_WORDS, number][]).sort(([, a], [, b]) => b - a);
	return (
		<>
			<Chart
				title="Clicks by day"
				kind="bars"
				unit="count"
				of="Day"
				points={days}
				series={[
					{ name: "Paid", values: days.map((day) => byDay.get(day)?.clicks_paid ?? 0) },
					{ name: "Unpaid", values: days.map((day) => byDay.get(day)?.clicks_unpaid ?? 0) },
				]}
				{...partialFrom(days, now)}
			/>
			<Table
				caption="Unpaid clicks by reason"
				columns={[
					{ head: "Why", cell: ([reason]) => <a href={clicksAddress({ reason, from, to })}>{CLICK_REASON_WORDS[reason]}</a> },
					{ head: "Clicks", kind: "number", cell: ([, count]) => <Count of={count} /> },
				]}
				rows={rows}
				empty={<p>{total.clicks_paid === 0 ? "There was no click in this time." : "All clicks of this time are paid."}</p>}
			/>
			<p>
				<a href={addressOf(`${PATH}/traffic`, { from: report.from, to: report.to })}>By publisher and source</a>
			</p>
		</>
	);
}
