/** A campaign's prices over time, with what they were learned from. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { readInput } from "../../http/read-input.ts";
import { HttpError } from "../../lib/http.ts";
import { isoTime } from "../../lib/time.ts";
import type { Prices } from "../../operator/learning/learning-answers.ts";
import { pricesQuerySchema } from "../../operator/learning/learning-requests.ts";
import { showPrices } from "../../operator/learning/show-prices.ts";
import { page, view } from "../page.ts";
import { addressOf } from "../ui/address.ts";
import { Chart } from "../ui/chart/chart.tsx";
import { Pager } from "../ui/filters.tsx";
import { Empty, Notice } from "../ui/messages.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { Money, State, Time } from "../ui/values.tsx";
import { evidenceColumns, keywordWords, LEARNING_PATH, pricesPath } from "./learned-parts.tsx";
import { networkPath } from "./network-lists.tsx";

/** Changes of a page, and so of the chart. */
const LIMIT = "200";

export const CAMPAIGN_PRICES_PAGES = [
	page({
		method: "GET",
		path: "/console/operator/campaigns/:id/prices",
		needs: { staff: "viewer" },
		title: "Learned prices",
		async handle({ deps, query, param }) {
			const campaign = param("id");
			const { cursor } = query;
			const prices = await showPrices(
				deps.db,
				readInput(pricesQuerySchema, { campaign, limit: LIMIT, ...(cursor !== undefined && cursor !== "" && { cursor }) }),
				deps.now(),
			);
			if (prices === null) throw new HttpError(404, { error: "Not found" });
			const path = pricesPath(campaign);
			return view(
				{ title: `Learned prices of campaign ${campaign}` },
				<>
					<Standing prices={prices} />
					<OverTime prices={prices} chosen={query.keyword} path={path} now={cursor === undefined || cursor === "" ? deps.now() : null} />
					<Pager path={path} query={query} next={prices.next_cursor} />
				</>,
			);
		},
	}),
];

function Standing({ prices }: { prices: Prices }): JSX.Element {
	const { campaign_id, brand, mode, pinned, released_at, campaign, guards, last_break } = prices;
	return (
		<>
			<Facts
				facts={[
					["Campaign", <a href={networkPath("campaigns", String(campaign_id))}>{campaign_id}</a>],
					["Brand", <a href={networkPath("brands", brand)}>{brand}</a>],
					["Mode", <State word={pinned ? "pinned" : mode} tone="plain" />],
					...(released_at === null ? [] : [["Set out from the operator's numbers", <Time at={released_at} />] as const]),
					["Learned of clicks before", <Time at={prices.learned_until} date />],
					["Paid by click in 28 days", <Money usd={prices.paid} />],
					["What those clicks earn", <Money usd={prices.projected} />],
					["Guards", guards === null ? "none" : `caution × ${guards.caution}, overpaid × ${guards.overpaid}, creep × ${guards.creep}`],
				]}
			/>
			{last_break === null ? null : (
				<Notice tone="waiting" title={`Its worth changed at once by ${last_break.day}`}>
					{last_break.earned_conversions} conversions came where {last_break.expected_conversions} were expected: clicks before{" "}
					{last_break.forgotten_before} count little from then on.
				</Notice>
			)}
			{mode === "off" ? <Notice>Nothing is learned of it: epc_learning is off.</Notice> : null}
			<Table
				caption="Its numbers now"
				columns={[
					{ head: "Clicks", cell: ({ keyword }) => keywordWords(keyword) },
					{ head: "Operator's", kind: "money", cell: ({ operator_epc }) => <Money usd={operator_epc} /> },
					{ head: "In force", kind: "money", cell: ({ epc }) => <Money usd={epc} /> },
					{ head: "Learned", kind: "money", cell: ({ learned_epc }) => <Money usd={learned_epc} /> },
				]}
				rows={prices.numbers}
				empty={null}
			/>
			{mode === "advise" && campaign !== null ? (
				<p>
					<a href={addressOf(LEARNING_PATH, { campaign: String(campaign_id) })}>What is advised of it</a>
				</p>
			) : null}
			<Table
				caption="What the campaign's own factor is made of"
				columns={evidenceColumns((row: NonNullable<Prices["campaign"]>) => row)}
				rows={campaign === null ? [] : [campaign]}
				empty={<Empty title="Nothing was learned of it yet" />}
			/>
		</>
	);
}

type OverTimeProps = { prices: Prices; chosen: string | undefined; path: string; now: number | null };

/**
 * A page of changes, drawn for one class of keywords at a time: the newest up to now, since no change tells that an operator's number is
 * bid again. @param now null where the page is another
 */
function OverTime({ prices: { data, numbers }, chosen, path, now }: OverTimeProps): JSX.Element {
	const classes = [...new Set(data.map(({ keyword }) => keywordWords(keyword)))];
	const words = classes.find((name) => name === chosen) ?? classes[0];
	if (words === undefined) return <Empty title="No price of it was published yet" />;
	const shown = data.filter(({ keyword }) => keywordWords(keyword) === words).toReversed();
	const present = now === null ? undefined : numbers.find(({ keyword }) => keywordWords(keyword) === words);
	const drawn: { at: string; epc: string | null; operator_epc: string | null }[] = [
		...shown,
		...(now === null || present === undefined ? [] : [{ at: isoTime(now), ...present }]),
	];
	return (
		<>
			<h2>Prices over time</h2>
			{classes.length < 2 ? null : (
				<nav class="tabs" aria-label="Prices of">
					{classes.map((name) => (
						<a href={addressOf(path, { keyword: name })} aria-current={name === words ? "page" : undefined}>
							{name}
						</a>
					))}
				</nav>
			)}
			<Chart
				title={`USD a click, ${words}`}
				kind="lines"
				unit="money"
				of="Time"
				points={drawn.map(({ at }) => `${at.slice(0, 10)} ${at.slice(11, 16)}`)}
				series={[
					{ name: "In force", values: drawn.map(({ epc }) => epc) },
					{ name: "Operator's number", values: drawn.map(({ operator_epc }) => operator_epc) },
				]}
				hasTable
				isLevel
			/>
			<Table
				caption="What was published, the newest first"
				columns={[
					{ head: "Time", cell: ({ at }) => <Time at={at} /> },
					{ head: "Operator's", kind: "money", cell: ({ operator_epc }) => <Money usd={operator_epc} /> },
					{ head: "In force", kind: "money", cell: ({ epc }) => <Money usd={epc} /> },
					{ head: "Why", cell: ({ cause }) => (cause.why === "learned" ? `learned, on its way to × ${cause.target}` : "another number") },
					...evidenceColumns(({ cause }: Prices["data"][number]) => cause.evidence),
				]}
				rows={shown.toReversed()}
				empty={null}
			/>
		</>
	);
}
