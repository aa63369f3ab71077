/** A publisher's callbacks: what was sent and answered, sent again, tested. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { readInput } from "../../http/read-input.ts";
import { counted } from "../../lib/counted.ts";
import { CALLBACK_STATES } from "../../lib/enums.ts";
import { HttpError } from "../../lib/http.ts";
import { segmentOf } from "../../lib/path-segment.ts";
import { DAY_MS, utcDay } from "../../lib/time.ts";
import type { Account } from "../../publisher-api/account-answer.ts";
import type { PublisherCallbacks } from "../../publisher-api/callbacks-answer.ts";
import {
	listOwnCallbacks,
	replayOwnCallback,
	replayOwnCallbacks,
	replayOwnSchema,
	testOwnCallback,
} from "../../publisher-api/own-callbacks.ts";
import { readAccount } from "../../publisher-api/read-account.ts";
import { againColumn, callbackColumns, countOf, TestReport } from "../callback-columns.tsx";
import type { ConsoleDeps } from "../deps.ts";
import { page, seeOther, view } from "../page.ts";
import { Do } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { Field } from "../ui/field.tsx";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty, Notice } from "../ui/messages.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { State, Time } from "../ui/values.tsx";
import { found, mayChange } from "./own-publisher.ts";

const PATH = "/console/callbacks";
const REPLAY_DAYS = 7;

type Listed = PublisherCallbacks["data"][number];

const COLUMNS = callbackColumns<Listed>(({ txnid }) => `/console/conversions/${segmentOf(txnid)}`);
const AGAIN = againColumn<Listed>(PATH);

/** What is done with a callback stands where it is seen without scrolling. */
const OWNER_COLUMNS = COLUMNS.toSpliced(
	COLUMNS.findIndex(({ head }) => head === "Click id"),
	0,
	AGAIN,
);

export const CALLBACKS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { publisher: "analyst" },
		title: "Callbacks",
		async handle({ deps, publisher, person, query: { replayed, ...query }, now }) {
			const account = found(await readAccount(deps.db, publisher.id, now));
			const { data, next_cursor } = await listOwnCallbacks(deps, publisher.id, query);
			const isOwner = mayChange({ person, publisher });
			const sent = countOf(replayed);
			return (
				<>
					{sent === null ? null : <Notice tone="good">Sent again: {sent}. Reload this page to see the answers.</Notice>}
					<Address callback={account.callback} isOwner={isOwner} />
					<Filters
						path={PATH}
						query={query}
						filters={[
							{ kind: "text", name: "txnid", label: "Transaction id" },
							{ kind: "choice", name: "state", label: "State", choices: CALLBACK_STATES.map((value) => ({ value, label: value })) },
							{ kind: "date", name: "from", label: "From" },
							{ kind: "date", name: "to", label: "To" },
						]}
					/>
					<Table
						caption="Callbacks, the latest first"
						columns={isOwner ? OWNER_COLUMNS : COLUMNS}
						rows={data}
						empty={
							<Empty title={next_cursor === null ? "No callback was found" : "None on this page"}>
								<p>One is sent for each conversion that is credited or cancelled while you have a callback address.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
					{isOwner ? <ReplayForm from={utcDay(now - REPLAY_DAYS * DAY_MS)} /> : null}
				</>
			);
		},
	}),
	page({
		method: "GET",
		path: `${PATH}/replay`,
		needs: { publisher: "owner", active: true },
		title: "Send callbacks again",
		list: PATH,
		async handle({ deps, publisher, query, actor }) {
			const { from, to } = query;
			const wanted = readInput(replayOwnSchema, { ...wantedOf(from, to), dry_run: true });
			const { replayed } = await replayOwnCallbacks(deps.publisherApi.callbacks(), publisher.id, wanted, actor);
			return (
				<div class="panel">
					<p>
						{counted(replayed, "callback")} that failed since {from}
						{to ? ` and until ${to}` : ""}, UTC, would be sent again, later ones of their transactions included.
					</p>
					{replayed === 0 ? null : (
						<Do action={`${PATH}/replay`} label={`Send ${replayed} again`} fields={{ ...(from && { from }), ...(to && { to }) }} />
					)}
					<p>
						<a href={PATH}>Back to callbacks</a>
					</p>
				</div>
			);
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/replay`,
		needs: { publisher: "owner" },
		title: "Callbacks",
		async handle({ deps, publisher, form, actor }) {
			const id = form.get("id");
			const wanted = id === null ? readInput(replayOwnSchema, wantedOf(form.get("from"), form.get("to"))) : null;
			await takeCall(deps, publisher.id);
			const callbacks = deps.publisherApi.callbacks();
			const { replayed } =
				wanted === null
					? await replayOwnCallback(callbacks, publisher.id, id ?? "", actor)
					: await replayOwnCallbacks(callbacks, publisher.id, wanted, actor);
			return seeOther(addressOf(PATH, { replayed: String(replayed), ...(id !== null && { id }) }));
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/test`,
		needs: { publisher: "owner" },
		title: "Test of your callback address",
		async handle({ deps, publisher, actor }) {
			await takeCall(deps, publisher.id);
			const report = await testOwnCallback(deps.publisherApi.callbacks(), publisher.id, actor);
			return view({ mayReturn: true }, <TestReport report={report} path={PATH} />);
		},
	}),
];

function wantedOf(from: string | null | undefined, to: string | null | undefined) {
	return { ...(from && { from }), ...(to && { to }) };
}

/** What makes us call the publisher's address counts as such calls of its keys do. @throws HttpError 429 */
async function takeCall({ publisherApi }: ConsoleDeps, publisherId: string): Promise<void> {
	const { refused } = await publisherApi.limit.take(publisherId, "calling");
	if (refused !== null) throw new HttpError(429, { error: "Too many requests" });
}

function Address({ callback, isOwner }: { callback: Account["callback"]; isOwner: boolean }): JSX.Element {
	if (callback === null) {
		return (
			<Notice tone="waiting" title="You have no callback address.">
				Set one in your <a href="/console/settings">settings</a> to be told of each conversion.
			</Notice>
		);
	}
	const { url, failures_in_a_row, paused_since, amendments } = callback;
	return (
		<>
			{paused_since === null ? null : (
				<Notice tone="bad" title="Your address is paused.">
					It failed {failures_in_a_row} times in a row. One callback is tried every few minutes; when it is answered, all others follow.
				</Notice>
			)}
			<Facts
				facts={[
					["Address", <span class="address">{url}</span>],
					["State", <State word={paused_since === null ? "active" : "paused"} />],
					["Paused since", paused_since === null ? null : <Time at={paused_since} />],
					["Failures in a row", String(failures_in_a_row)],
					["Other amounts", amendments === "pair" ? "a cancellation and a new credit" : "are not told"],
					["Signatures", <a href="/docs/publishers/callbacks#signatures">how to verify them</a>],
				]}
			/>
			{isOwner ? <Do action={`${PATH}/test`} label="Send a test" /> : null}
		</>
	);
}

function ReplayForm({ from }: { from: string }): JSX.Element {
	return (
		<form method="get" action={`${PATH}/replay`} class="stack">
			<h2>Send again what failed</h2>
			<Field
				kind="date"
				name="from"
				label="Failed since"
				value={from}
				hint="Those created from this day on, UTC, that nobody confirmed"
				required
			/>
			<Field kind="date" name="to" label="Until" hint="That day included" />
			<div class="buttons">
				<button type="submit">Count them first</button>
			</div>
		</form>
	);
}
