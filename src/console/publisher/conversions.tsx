/** A publisher's conversions: found by any id, each with its history. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { CONVERSION_STATUSES } from "../../lib/enums.ts";
import { segmentOf } from "../../lib/path-segment.ts";
import type { PublisherConversion } from "../../publisher-api/conversions-answer.ts";
import { readConversionsQuery } from "../../publisher-api/conversions-request.ts";
import { readConversions } from "../../publisher-api/read-conversions.ts";
import { page, view } from "../page.ts";
import { Standing } from "../standing.tsx";
import { addressOf } from "../ui/address.ts";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty, Notice } from "../ui/messages.tsx";
import { type Column, Facts, Table } from "../ui/table.tsx";
import { Code, Money, Time } from "../ui/values.tsx";
import { CAUSE_WORDS, HOLD_WORDS } from "../words.ts";
import { newestFirst, ORDER_FILTER } from "./list-order.ts";
import { found } from "./own-publisher.ts";

const PATH = "/console/conversions";

function detailOf(transactionId: string): string {
	return `${PATH}/${segmentOf(transactionId)}`;
}

const COLUMNS: readonly Column<PublisherConversion>[] = [
	{ head: "Happened at", cell: ({ at }) => <Time at={at} /> },
	{
		head: "Transaction id",
		namesRow: true,
		cell: ({ transaction_id }) => (
			<a href={detailOf(transaction_id)}>
				<code>{transaction_id}</code>
			</a>
		),
	},
	{ head: "State", cell: ({ status, held }) => <Standing status={status} held={held} /> },
	{ head: "Why", cell: ({ held }) => (held === null ? null : HOLD_WORDS[held]), isGiven: ({ held }) => held !== null },
	{ head: "Earned", kind: "money", cell: ({ revenue }) => <Money usd={revenue} /> },
	{ head: "Brand", cell: ({ brand }) => brand },
	{ head: "Source", cell: ({ source_id }) => source_id },
	{ head: "Your click id", cell: ({ click_id }) => <Code>{click_id}</Code> },
];

export const CONVERSIONS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst" },
		title: "Conversions",
		async handle({ deps, publisher, query, now }) {
			const { data, next_cursor } = found(
				await readConversions(deps.db, publisher.id, readConversionsQuery(newestFirst(query), now), "without"),
			);
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						filters={[
							{ kind: "text", name: "id", label: "Any id", hint: "A transaction id, or an id of its click" },
							{ kind: "date", name: "from", label: "From" },
							{ kind: "date", name: "to", label: "To" },
							{ kind: "text", name: "brand", label: "Brand" },
							{ kind: "text", name: "source", label: "Source" },
							{
								kind: "choice",
								name: "status",
								label: "State",
								choices: [...CONVERSION_STATUSES.map((value) => ({ value, label: value })), { value: "held", label: "waiting" }],
							},
							ORDER_FILTER,
						]}
					/>
					<Table
						caption={`Conversions, the ${newestFirst(query).order} first${query.id || query.from || query.to ? "" : "; of the last 31 days"}`}
						columns={COLUMNS}
						rows={data}
						empty={
							<Empty title="No conversion was found">
								<p>
									Is a sale missing? <a href={addressOf("/console/claims", {})}>Say so</a>: its click is looked up at once.
								</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
				</>
			);
		},
	}),
	page({
		method: "GET",
		path: `${PATH}/:id`,
		needs: { publisher: "analyst" },
		title: "Conversion",
		async handle({ deps, publisher, param, now }) {
			const { data } = found(await readConversions(deps.db, publisher.id, readConversionsQuery({ id: param("id") }, now)));
			const conversions = found(data.length === 0 ? null : data);
			return view(
				{ title: `Conversion ${param("id")}` },
				// biome-ignore lint/complexity/noUselessFragments: a page is one element, not a list
				<>
					{conversions.map((conversion, index) => (
						<Conversion conversion={conversion} nth={conversions.length === 1 ? "" : ` (${index + 1} of ${conversions.length})`} />
					))}
				</>,
			);
		},
	}),
];

/** @param nth tells it from the others of its page: two platforms may have the same transaction id */
function Conversion({ conversion, nth }: { conversion: PublisherConversion; nth: string }): JSX.Element {
	const { transaction_id, click_id, clicked_at, at, brand, source_id, status, held, revenue, reported_at, history } = conversion;
	return (
		<section>
			<h2>
				<code>{transaction_id}</code>
			</h2>
			<Facts
				facts={[
					["State", <Standing status={status} held={held} />],
					["Why", held === null ? null : HOLD_WORDS[held]],
					["Earned", <Money usd={revenue} />],
					["Before your share", conversion.gross_revenue === undefined ? null : <Money usd={conversion.gross_revenue} />],
					["Sale", conversion.sales_amount === undefined ? null : <Money usd={conversion.sales_amount} />],
					["Brand", brand],
					["Campaign", conversion.campaign_id],
					["Source", source_id],
					["Happened at", <Time at={at} />],
					["Clicked at", clicked_at === null ? null : <Time at={clicked_at} />],
					["First reported at", <Time at={reported_at} />],
					["Your click id", click_id === null ? null : <a href={addressOf("/console/clicks", { id: click_id })}>{click_id}</a>],
					["Callbacks", <a href={addressOf("/console/callbacks", { txnid: transaction_id })}>what you were told of it</a>],
					["Not right?", <a href={addressOf("/console/claims", { id: transaction_id })}>claim</a>],
				]}
			/>
			{conversion.history_truncated ? (
				<Notice title="More has happened">than its history here tells, which has the first of it.</Notice>
			) : null}
			<Table
				caption={`History of ${transaction_id}${nth}`}
				columns={[
					{ head: "At", cell: (event) => <Time at={event.at} /> },
					{ head: "What happened", cell: ({ cause }) => CAUSE_WORDS[cause] },
					{ head: "State", cell: (event) => <Standing status={event.status} held={event.held} /> },
					{ head: "Why", cell: (event) => (event.held === null ? null : HOLD_WORDS[event.held]) },
					{ head: "Earned", kind: "money", cell: (event) => <Money usd={event.revenue} /> },
				]}
				rows={history}
				empty={<p>Nothing is kept of what happened to it.</p>}
			/>
		</section>
	);
}
