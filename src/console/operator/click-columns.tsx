/** A click of the network as a row: on the list of clicks, and where one was found. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Trace } from "../../conversions/trace-answer.ts";
import { addressOf } from "../ui/address.ts";
import type { Column } from "../ui/table.tsx";
import { Code, inWords, Money, State, Time } from "../ui/values.tsx";
import { CLICK_REASON_WORDS } from "../words.ts";
import { networkPath } from "./network-lists.tsx";

type TracedClick = Trace["clicks"][number];

/** Leads to all that is known of a click. */
export function ClickLink({ click: { id, click_hash } }: { click: Pick<TracedClick, "id" | "click_hash"> }): JSX.Element {
	return (
		<a href={addressOf("/console/operator/find", { id })}>
			<code>{click_hash}</code>
		</a>
	);
}

export const CLICK_COLUMNS: readonly Column<TracedClick>[] = [
	{ head: "Clicked at", cell: ({ clicked_at }) => <Time at={clicked_at} /> },
	{ head: "Click hash", namesRow: true, cell: (click) => <ClickLink click={click} /> },
	{ head: "State", cell: ({ reason }) => <State word={reason === null ? "paid" : "unpaid"} /> },
	{
		head: "Why",
		cell: ({ reason }) => (reason === null ? null : CLICK_REASON_WORDS[reason]),
		isGiven: ({ reason }) => reason !== null,
	},
	{
		head: "Flagged",
		cell: ({ flags }) => flags.map((flag) => inWords(flag)).join(", "),
		isGiven: ({ flags }) => flags.length > 0,
	},
	{ head: "Bid", kind: "money", cell: ({ bid }) => <Money usd={bid} /> },
	{ head: "Earned", kind: "money", cell: ({ revenue }) => <Money usd={revenue} /> },
	{
		head: "Publisher",
		cell: ({ publisher }) => (publisher === null ? null : <a href={networkPath("publishers", publisher)}>{publisher}</a>),
	},
	{ head: "Its click id", cell: ({ publisher_click_id }) => <Code>{publisher_click_id}</Code> },
	{ head: "Source", cell: ({ source_id }) => source_id },
	{ head: "Brand", cell: ({ brand }) => (brand === null ? null : <a href={networkPath("brands", brand)}>{brand}</a>) },
	{ head: "Campaign", cell: ({ campaign_id }) => <a href={networkPath("campaigns", String(campaign_id))}>{campaign_id}</a> },
	{ head: "Platform", cell: ({ platform }) => platform },
	{ head: "From", cell: ({ kind }) => kind },
];
