/** Callbacks of all publishers: what was sent and answered, a selection sent again, an address tested. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { listCallbacks } from "../../callbacks/list-callbacks.ts";
import type { ListedCallback } from "../../callbacks/operator-answers.ts";
import { replayCallbacks } from "../../callbacks/replay-callbacks.ts";
import { listSchema, replaySchema, testSchema } from "../../callbacks/requests.ts";
import { testCallbackFor } from "../../callbacks/test-callback.ts";
import { mayAct } from "../../http/actor.ts";
import { readInput, readQuery } from "../../http/read-input.ts";
import { counted } from "../../lib/counted.ts";
import { CALLBACK_STATES } from "../../lib/enums.ts";
import { againColumn, callbackColumns, countOf, TestReport } from "../callback-columns.tsx";
import { formFaults } from "../form-faults.ts";
import { page, seeOther, view } from "../page.ts";
import { Do } from "../ui/actions.tsx";
import { addressOf, type Query } from "../ui/address.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { type Filter, Filters, Pager } from "../ui/filters.tsx";
import { Empty, Faults, Notice } from "../ui/messages.tsx";
import { type Column, Facts, Table } from "../ui/table.tsx";
import { conversionAddress } from "./conversion-address.ts";
import { networkPath } from "./network-lists.tsx";

const PATH = "/console/operator/callbacks";

/** Of the form of a test. */
const LABELS = { publisher: "Publisher's id" };

const FILTERS: readonly Filter[] = [
	{ kind: "text", name: "publisher", label: "Publisher" },
	{ kind: "text", name: "platform", label: "Platform" },
	{ kind: "text", name: "txnid", label: "Transaction id" },
	{ kind: "choice", name: "state", label: "State", choices: CALLBACK_STATES.map((value) => ({ value, label: value })) },
	{ kind: "date", name: "from", label: "From" },
	{ kind: "date", name: "to", label: "To" },
];
/** What narrows a list, and so a replay. */
const SELECTION = ["id", ...FILTERS.map(({ name }) => name)];

const COLUMNS: readonly Column<ListedCallback>[] = [
	...callbackColumns<ListedCallback>(conversionAddress),
	{ head: "Publisher", cell: ({ publisher }) => <a href={networkPath("publishers", publisher)}>{publisher}</a> },
	{ head: "Platform", cell: ({ platform }) => platform },
];

const AGAIN = againColumn<ListedCallback>(PATH);

export const OPERATOR_CALLBACKS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Callbacks",
		async handle({ deps, query: { replayed, ...query }, person }) {
			const { data, next_cursor } = await listCallbacks(deps, readQuery(listSchema, query));
			const mayChange = mayAct(person.role, "manager");
			const sent = countOf(replayed);
			const selection = selectionOf((name) => query[name]);
			const { state: _, ...named } = selection;
			return (
				<>
					{sent === null ? null : <Notice tone="good">Sent again: {sent}. Reload this page to see the answers.</Notice>}
					<Filters path={PATH} query={query} filters={FILTERS} />
					<Table
						caption="Callbacks, the latest first"
						columns={mayChange ? [...COLUMNS, AGAIN] : COLUMNS}
						rows={data}
						empty={
							<Empty title="No callback was found">
								<p>Ask for another state, publisher or time.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
					{!mayChange ? null : Object.keys(named).length === 0 ? (
						<p>To send many again, narrow them down first: by publisher, platform, transaction or time.</p>
					) : (
						<p>
							<a href={addressOf(`${PATH}/replay`, selection)}>Send all of these again: count them first</a>
						</p>
					)}
					{mayChange ? <TestForm publisher={query.publisher ?? ""} /> : null}
				</>
			);
		},
	}),
	page({
		method: "GET",
		path: `${PATH}/replay`,
		needs: { staff: "manager" },
		title: "Send callbacks again",
		list: PATH,
		async handle({ deps, query, actor }) {
			const selection = selectionOf((name) => query[name]);
			const wanted = readInput(replaySchema, { ...selection, dry_run: true });
			const { replayed } = await replayCallbacks(deps.publisherApi.callbacks(), wanted, actor);
			return (
				<div class="panel">
					<p>{counted(replayed, "callback")} would be sent again, later ones of the same transactions included:</p>
					<Facts facts={Object.entries(selection)} />
					{replayed === 0 ? null : <Do action={`${PATH}/replay`} label={`Send ${replayed} again`} fields={selection} />}
					<p>
						<a href={addressOf(PATH, selection)}>Back to callbacks</a>
					</p>
				</div>
			);
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/replay`,
		needs: { staff: "manager" },
		title: "Callbacks",
		async handle({ deps, form, actor }) {
			const selection = selectionOf((name) => form.get(name));
			const { replayed } = await replayCallbacks(deps.publisherApi.callbacks(), readInput(replaySchema, selection), actor);
			return seeOther(addressOf(PATH, { ...selection, replayed: String(replayed) }));
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/test`,
		needs: { staff: "manager" },
		title: "Test of a callback address",
		async handle({ deps, form, actor }) {
			const publisher = (form.get("publisher") ?? "").trim();
			try {
				const report = await testCallbackFor(deps.publisherApi.callbacks(), actor, readInput(testSchema, { publisher }));
				return view({ mayReturn: true }, <TestReport report={report} path={PATH} />);
			} catch (error) {
				return view({ status: 422 }, <TestForm publisher={publisher} faults={formFaults(error)} />);
			}
		},
	}),
];

function selectionOf(get: (name: string) => string | null | undefined): Query {
	return Object.fromEntries(SELECTION.flatMap((name) => (get(name) ? [[name, get(name) ?? ""]] : [])));
}

function TestForm({ publisher, faults = [] }: { publisher: string; faults?: readonly Fault[] }): JSX.Element {
	return (
		<form method="post" action={`${PATH}/test`} class="stack">
			<h2>Test an address</h2>
			<Faults title="Nothing was sent" faults={faults} labels={LABELS} />
			<Field
				name="publisher"
				label={LABELS.publisher}
				value={publisher}
				faults={faults}
				hint="Its address is called once, with nothing that could be taken for money"
				required
			/>
			<div class="buttons">
				<button type="submit">Send a test</button>
			</div>
		</form>
	);
}
