/** The network's clicks: found by any id, and why one is not paid. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { TOKEN_KINDS } from "../../lib/enums.ts";
import type { ListedClick } from "../../operator/clicks/clicks-answer.ts";
import { readClicksQuery } from "../../operator/clicks/clicks-request.ts";
import { listClicks } from "../../operator/clicks/list-clicks.ts";
import { CLICK_REASON_FILTER } from "../click-parts.tsx";
import { page } from "../page.ts";
import { addressOf, type Query } from "../ui/address.ts";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { CLICK_COLUMNS } from "./click-columns.tsx";

const PATH = "/console/operator/clicks";

const COLUMNS: readonly Column<ListedClick>[] = [
	...CLICK_COLUMNS,
	{ head: "Country", cell: ({ country }) => country },
	{ head: "Keyword", cell: ({ keyword }) => keyword, isGiven: ({ keyword }) => Boolean(keyword) },
	{ head: "Network", cell: ({ address_prefix }) => address_prefix, isGiven: ({ address_prefix }) => address_prefix !== null },
	{ head: "Bid asked from", cell: ({ asked_from }) => asked_from, isGiven: ({ asked_from }) => asked_from !== null },
];

/** @param query as `GET /operator/clicks` takes it */
export function clicksAddress(query: Query): string {
	return addressOf(PATH, query);
}

export const OPERATOR_CLICKS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Clicks",
		async handle({ deps, query }) {
			const { data, next_cursor } = await listClicks(deps.db, readClicksQuery(query));
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						filters={[
							{ kind: "text", name: "id", label: "Any id", hint: "Of the click, its hash, or the publisher's click id" },
							{ kind: "date", name: "from", label: "From" },
							{ kind: "date", name: "to", label: "To" },
							{ kind: "text", name: "publisher", label: "Publisher" },
							{ kind: "text", name: "source", label: "Source" },
							{ kind: "text", name: "brand", label: "Brand" },
							{ kind: "text", name: "campaign", label: "Campaign" },
							{ kind: "text", name: "platform", label: "Platform" },
							{ kind: "text", name: "country", label: "Country" },
							{ kind: "choice", name: "kind", label: "Came from", choices: TOKEN_KINDS.map((value) => ({ value, label: value })) },
							CLICK_REASON_FILTER,
						]}
					/>
					<p class="note">
						What a click earns is what it earns itself, where clicks are paid for: what sales of it earn is among the{" "}
						<a href="/console/operator/conversions">conversions</a>.
					</p>
					<Table
						caption="Clicks, the latest first"
						columns={COLUMNS}
						rows={data}
						empty={
							<Empty title="No click was found">
								<p>
									{next_cursor === null
										? "Ask for fewer conditions at once. Clicks are removed after their time."
										: "None among those that were looked at: the next page goes on."}
								</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
					<VoidThese query={query} />
				</>
			);
		},
	}),
];

/** What a list and the taking back of clicks are both narrowed down by. */
const OF_BOTH = ["publisher", "source", "brand", "campaign", "from", "to"] as const;

/**
 * Leads on to taking back the paid clicks of a list.
 * @param query of the list
 * @returns null where other clicks would be taken back than are listed
 */
export function VoidThese({ query }: { query: Query }): JSX.Element | null {
	const { reason = "", cursor: _, limit: __, ...filters } = query;
	const given = Object.entries(filters).filter(([, value]) => value !== "");
	const isOfBoth = given.every(([name]) => OF_BOTH.some((known) => known === name));
	if (!isOfBoth || given.length === 0 || (reason !== "" && reason !== "paid")) return null;
	return (
		<p>
			<a href={addressOf("/console/operator/adjustments", Object.fromEntries(given))}>Void the paid ones of these</a>
		</p>
	);
}
