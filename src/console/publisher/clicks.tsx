/** A publisher's clicks: found by any id, and why one was not paid. */
import type { PublisherClick } from "../../publisher-api/clicks-answer.ts";
import { readClicksQuery } from "../../publisher-api/clicks-request.ts";
import { readClicks } from "../../publisher-api/read-clicks.ts";
import { CLICK_REASON_FILTER } from "../click-parts.tsx";
import { page } from "../page.ts";
import { addressOf } from "../ui/address.ts";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Code, Money, State, Time } from "../ui/values.tsx";
import { CLICK_REASON_WORDS } from "../words.ts";
import { newestFirst, ORDER_FILTER } from "./list-order.ts";
import { found } from "./own-publisher.ts";

const PATH = "/console/clicks";

const COLUMNS: readonly Column<PublisherClick>[] = [
	{ head: "Clicked at", cell: ({ at }) => <Time at={at} /> },
	{ head: "Brand", cell: ({ brand }) => brand },
	{ head: "State", cell: ({ reason }) => <State word={reason === null ? "paid" : "unpaid"} /> },
	{ head: "Why", cell: ({ reason }) => (reason === null ? null : CLICK_REASON_WORDS[reason]), isGiven: ({ reason }) => reason !== null },
	{ head: "Price", kind: "money", cell: ({ price }) => <Money usd={price} /> },
	{ head: "Earned", kind: "money", cell: ({ revenue }) => <Money usd={revenue} /> },
	{ head: "Your click id", cell: ({ click_id }) => <Code>{click_id}</Code> },
	{ head: "Source", cell: ({ source_id }) => source_id },
	{ head: "Country", cell: ({ country }) => country },
	{ head: "Keyword", cell: ({ keyword }) => keyword, isGiven: ({ keyword }) => Boolean(keyword) },
	{ head: "From", cell: ({ kind }) => kind },
	{
		head: "Transaction id",
		cell: ({ transaction_id }) => (
			<a href={addressOf("/console/conversions", { id: transaction_id })}>
				<code>{transaction_id}</code>
			</a>
		),
	},
];

export const CLICKS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst" },
		title: "Clicks",
		async handle({ deps, publisher, query, now }) {
			const { data, next_cursor } = found(await readClicks(deps.db, publisher.id, readClicksQuery(newestFirst(query), now)));
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						filters={[
							{ kind: "text", name: "id", label: "Any id", hint: "Your click id, or a transaction id" },
							{ kind: "date", name: "from", label: "From" },
							{ kind: "date", name: "to", label: "To" },
							{ kind: "text", name: "brand", label: "Brand" },
							{ kind: "text", name: "source", label: "Source" },
							CLICK_REASON_FILTER,
							ORDER_FILTER,
						]}
					/>
					<p class="note">
						What a click earns is what it earns itself, where clicks are paid for: what sales of it earn is among the{" "}
						<a href="/console/conversions">conversions</a>.
					</p>
					<Table
						caption={`Clicks, the ${newestFirst(query).order} first${query.id || query.from || query.to ? "" : "; of the last 24 hours"}`}
						columns={COLUMNS}
						rows={data}
						empty={
							<Empty title="No click was found">
								<p>Ask for an earlier time, or for fewer conditions at once. An id is looked for in all time.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
				</>
			);
		},
	}),
];
