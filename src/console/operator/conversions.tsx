/** Conversions: those that need a person are found. */
import { CONVERSION_STAGES, CONVERSION_STATUSES } from "../../lib/enums.ts";
import { listConversions } from "../../operator/conversions/list-conversions.ts";
import { LISTED_BY, LISTED_REASONS, readListQuery } from "../../operator/conversions/list-request.ts";
import { page } from "../page.ts";
import { StaffStanding } from "../standing.tsx";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { inWords, Money, Time } from "../ui/values.tsx";
import { conversionAddress, earnedOf } from "./conversion-address.ts";

const PATH = "/console/operator/conversions";

type Listed = Awaited<ReturnType<typeof listConversions>>["data"][number];

const choices = (words: readonly string[]) => words.map((value) => ({ value, label: inWords(value) }));

const COLUMNS: readonly Column<Listed>[] = [
	{ head: "First reported at", cell: ({ first_received_at }) => <Time at={first_received_at} /> },
	{
		head: "Transaction",
		namesRow: true,
		cell: (conversion) => (
			<a href={conversionAddress(conversion)}>
				{conversion.platform} <code>{conversion.txnid}</code>
			</a>
		),
	},
	{ head: "Happened at", cell: ({ event_at }) => <Time at={event_at} /> },
	{ head: "State", cell: ({ stage, status }) => <StaffStanding stage={stage} status={status} /> },
	{
		head: "Once it counts",
		cell: ({ stage, status }) => (stage === "settled" ? null : status),
		isGiven: ({ stage }) => stage !== "settled",
	},
	{
		head: "Why",
		cell: ({ why, status_unknown, network_status }) => (status_unknown ? `unknown word: ${network_status}` : inWords(why)),
		isGiven: ({ why, status_unknown }) => status_unknown || Boolean(why),
	},
	{ head: "Payout", kind: "number", cell: ({ payout, currency }) => `${payout} ${currency}` },
	{ head: "Gross", kind: "money", cell: ({ status, gross_usd }) => <Money usd={earnedOf(status, gross_usd)} /> },
	{ head: "Publisher's", kind: "money", cell: ({ status, publisher_revenue }) => <Money usd={earnedOf(status, publisher_revenue)} /> },
	{ head: "Publisher", cell: ({ publisher }) => publisher },
	{ head: "Brand", cell: ({ brand }) => brand },
];

export const OPERATOR_CONVERSIONS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Conversions",
		async handle({ deps, query }) {
			const { data, next_cursor } = await listConversions(deps.db, readListQuery(query));
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						filters={[
							{ kind: "choice", name: "stage", label: "State", choices: choices(CONVERSION_STAGES) },
							{ kind: "choice", name: "status", label: "Once it counts", choices: choices(CONVERSION_STATUSES) },
							{ kind: "choice", name: "reason", label: "Why", choices: choices(LISTED_REASONS) },
							{ kind: "text", name: "platform", label: "Platform" },
							{ kind: "text", name: "publisher", label: "Publisher" },
							{ kind: "text", name: "brand", label: "Brand" },
							{ kind: "choice", name: "by", label: "Dates of", choices: choices(LISTED_BY) },
							{ kind: "date", name: "from", label: "From" },
							{ kind: "date", name: "to", label: "Until" },
							{ kind: "text", name: "min_amount", label: "At least", hint: "USD" },
						]}
					/>
					<Table
						caption="Conversions, the latest first"
						columns={COLUMNS}
						rows={data}
						empty={
							<Empty title="No conversion was found">
								<p>
									{next_cursor === null
										? "Ask for fewer conditions at once."
										: "None among those that were looked at: the next page goes on."}
								</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
				</>
			);
		},
	}),
];
