/** How a publisher is set up: its names, keys, callback address and people. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { listCredentials } from "../../operator/keys/run-key-verbs.ts";
import type { Account } from "../../publisher-api/account-answer.ts";
import { readAccount } from "../../publisher-api/read-account.ts";
import { page } from "../page.ts";
import { DONE_TO_PERSON } from "../person-parts.tsx";
import { listPasskeysOf } from "../session/passkeys.ts";
import { listPeople } from "../session/people.ts";
import { CopyText } from "../ui/actions.tsx";
import { Notice } from "../ui/messages.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { inWords, Share, State, Time } from "../ui/values.tsx";
import { found, mayChange } from "./own-publisher.ts";
import { KeysTable } from "./settings-keys.tsx";
import { MembersTable, PasskeysTable } from "./settings-members.tsx";

const PATH = "/console/settings";

const DONE: Readonly<Record<string, string>> = {
	revoked: "The key is revoked.",
	address: "The callback address is changed.",
	...DONE_TO_PERSON,
};

export const SETTINGS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst" },
		title: "Settings",
		async handle({ deps, publisher, person, query, now }) {
			const account = found(await readAccount(deps.db, publisher.id, now));
			const credentials = await listCredentials(deps.issuing, { owner: publisher.id });
			const people = await listPeople(deps.db, publisher.id);
			const passkeys = await listPasskeysOf(deps.db, publisher.id);
			const isOwner = person.role === "owner";
			const done = DONE[query.done ?? ""];
			return (
				<>
					{done === undefined ? null : <Notice tone="good">{done}</Notice>}
					<SetUp account={account} />
					<h2>Names</h2>
					<Table
						caption="Names that your requests carry; to have one replaced, ask your account manager"
						columns={[
							{ head: "Kind", cell: ({ kind }) => (kind === "publisher_id" ? "Publisher Id" : "Publisher Identity") },
							{ head: "Name", cell: ({ kind, value }) => <CopyText text={value} label={`the ${inWords(kind)}`} /> },
							{ head: "State", cell: ({ expires_at }) => <State word={expires_at === null ? "active" : "ending"} /> },
							{ head: "Ends at", cell: ({ expires_at }) => <Time at={expires_at} /> },
						]}
						rows={account.names}
						empty={<p>You have none.</p>}
					/>
					<h2>Keys</h2>
					<KeysTable credentials={credentials} isOwner={isOwner} isSuspended={publisher.status === "suspended"} />
					<h2>Callbacks</h2>
					<Facts
						facts={[
							["Address", account.callback === null ? "none" : <span class="address">{account.callback.url}</span>],
							["Log and tests", <a href="/console/callbacks">callbacks</a>],
							["Change", mayChange({ person, publisher }) ? <a href={`${PATH}/callback-address`}>another address</a> : null],
						]}
					/>
					<h2>People</h2>
					<MembersTable people={people} own={person} isSuspended={publisher.status === "suspended"} />
					<PasskeysTable passkeys={isOwner ? passkeys : passkeys.filter(({ personId }) => personId === person.id)} own={person} />
				</>
			);
		},
	}),
];

function SetUp({ account }: { account: Account }): JSX.Element {
	const { id, name, status, pricing_model, revenue_share, bid_pay_minutes, endpoints, seat, marketplace_tag, permissions } = account;
	const served = [endpoints.openrtb ? "OpenRTB" : "", endpoints.serving_engine ? "Serving Engine" : ""].filter(Boolean).join(", ");
	const shown = [
		permissions.flat_fees ? "flat fees" : "",
		permissions.sales_amounts ? "sales amounts" : "",
		permissions.campaign_ids ? "campaign ids" : "",
	].filter(Boolean);
	return (
		<Facts
			facts={[
				["Name", name],
				["Id", <code>{id}</code>],
				["State", <State word={status} />],
				["You are paid for", pricing_model === "CPA" ? "conversions (CPA)" : "clicks (CPC)"],
				["Your share", revenue_share === undefined ? null : <Share of={revenue_share} />],
				["A click on a bid is paid for", `${bid_pay_minutes} minutes`],
				["Bids by", served === "" ? "none" : served],
				["Seat", seat],
				["Marketplace tag", marketplace_tag],
				["You also see", shown.join(", ")],
			]}
		/>
	);
}
