/** One box for whatever somebody names: its page, or what is known of it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import * as v from "valibot";
import { traceConversion } from "../../conversions/trace.ts";
import type { Trace } from "../../conversions/trace-answer.ts";
import { readInput } from "../../http/read-input.ts";
import { MAX_CLICK_ID_LENGTH } from "../../lib/click-id.ts";
import { ID_LENGTH, listKeys } from "../../operator/keys/manage-keys.ts";
import { ENTRY_SECTIONS } from "../../operator/network/entry-answers.ts";
import { findEntry } from "../../operator/network/read-entries.ts";
import type { ConsoleDeps } from "../deps.ts";
import { page, seeOther } from "../page.ts";
import { StaffStanding } from "../standing.tsx";
import { addressOf } from "../ui/address.ts";
import { Filters } from "../ui/filters.tsx";
import { Empty, Notice } from "../ui/messages.tsx";
import { Table } from "../ui/table.tsx";
import { inWords, Money, Time } from "../ui/values.tsx";
import { CLICK_COLUMNS } from "./click-columns.tsx";
import { conversionAddress, earnedOf } from "./conversion-address.ts";
import { networkPath } from "./network-lists.tsx";
import { Postbacks } from "./postbacks.tsx";

const PATH = "/console/operator/find";
const querySchema = v.object({
	id: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(MAX_CLICK_ID_LENGTH, `must have at most ${MAX_CLICK_ID_LENGTH} characters`)), ""),
});

export const FIND_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Find",
		async handle({ deps, query }) {
			const { id } = readInput(querySchema, query);
			const form = (
				<Filters
					path={PATH}
					query={query}
					submit="Find"
					filters={[
						{
							kind: "text",
							name: "id",
							label: "Any id",
							hint: "A click hash, a transaction, a publisher's click id, a publisher, brand, campaign, platform or key",
						},
					]}
				/>
			);
			if (id === "") return form;
			const [pages, trace] = await Promise.all([pagesOf(deps, id), traceConversion(deps.db, id)]);
			const isTraced = trace.clicks.length + trace.postbacks.length + trace.conversions.length > 0;
			const [only] = pages;
			if (!isTraced && only !== undefined && pages.length === 1) return seeOther(only.address);
			return (
				<>
					{form}
					{pages.length === 0 ? null : (
						<ul>
							{pages.map(({ address, label }) => (
								<li>
									<a href={address}>{label}</a>
								</li>
							))}
						</ul>
					)}
					{isTraced ? <Traced trace={trace} /> : null}
					{isTraced || pages.length > 0 ? null : (
						<Empty title="Nothing of this id is known">
							<p>
								A click or postback that has just come in may still be queued: try again in a few seconds. Clicks are removed after their
								time.
							</p>
						</Empty>
					)}
				</>
			);
		},
	}),
];

/** Entries of the network, and keys, that have this id. */
async function pagesOf({ db, issuing }: ConsoleDeps, id: string): Promise<{ address: string; label: string }[]> {
	const entries = await Promise.all(
		ENTRY_SECTIONS.map(async (section) =>
			(await findEntry(db, section, id)) === null ? [] : [{ address: networkPath(section, id), label: `${section.slice(0, -1)} ${id}` }],
		),
	);
	const isKeyId = new RegExp(`^[0-9a-f]{${ID_LENGTH}}$`).test(id);
	const keys = (isKeyId ? await listKeys(issuing, { id }) : []).map(({ kind, owner }) => ({
		address: addressOf("/console/operator/keys", { owner, kind }),
		label: `${inWords(kind)} ${id} of ${owner}`,
	}));
	return [...entries.flat(), ...keys];
}

function Traced({ trace: { clicks, conversions, postbacks, truncated } }: { trace: Trace }): JSX.Element {
	return (
		<>
			{truncated ? <Notice title="There is more">than is shown here.</Notice> : null}
			<Table caption="Clicks" columns={CLICK_COLUMNS} rows={clicks} empty={<p>No click has this id.</p>} />
			<Table
				caption="Conversions"
				columns={[
					{ head: "Happened at", cell: ({ event_at }) => <Time at={event_at} /> },
					{
						head: "Transaction",
						namesRow: true,
						cell: ({ platform, txnid }) => (
							<a href={conversionAddress({ platform, txnid })}>
								{platform} <code>{txnid}</code>
							</a>
						),
					},
					{ head: "State", cell: ({ stage, status }) => <StaffStanding stage={stage} status={status} /> },
					{ head: "Why", cell: ({ why }) => inWords(why), isGiven: ({ why }) => Boolean(why) },
					{ head: "Publisher", cell: ({ publisher }) => publisher },
					{ head: "Payout", kind: "number", cell: ({ payout, currency }) => `${payout} ${currency}` },
					{
						head: "Publisher's",
						kind: "money",
						cell: ({ status, publisher_revenue }) => <Money usd={earnedOf(status, publisher_revenue)} />,
					},
				]}
				rows={conversions}
				empty={<p>No conversion has this id.</p>}
			/>
			<Postbacks caption="Postbacks" rows={postbacks} />
		</>
	);
}
