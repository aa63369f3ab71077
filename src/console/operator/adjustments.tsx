/** What was paid wrongly is taken back, and what was taken wrongly given back. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { adjust, previewAdjustment } from "../../adjustments/adjust.ts";
import type { ListedAdjustment } from "../../adjustments/adjustment-answer.ts";
import { adjustmentSchema, listSchema } from "../../adjustments/adjustment-request.ts";
import { listAdjustments } from "../../adjustments/list-adjustments.ts";
import { mayAct } from "../../http/actor.ts";
import { readInput, readQuery } from "../../http/read-input.ts";
import { newTimeOrderedId } from "../../lib/ids.ts";
import { TRAFFIC_RULES } from "../../lib/traffic-rules.ts";
import { formFaults } from "../form-faults.ts";
import { page, seeOther, view } from "../page.ts";
import { Confirm } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Pager } from "../ui/filters.tsx";
import { Empty, Faults, Notice } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Count, inWords, Money, State, Time } from "../ui/values.tsx";
import { conversionAddress } from "./conversion-address.ts";
import { networkPath } from "./network-lists.tsx";
import { Changed, givenIn, isPreview, Preview } from "./preview.tsx";

const PATH = "/console/operator/adjustments";
const KINDS = { void_clicks: "Void clicks", amount: "Add or take an amount" } as const;
type FormKind = keyof typeof KINDS;

const LABELS = {
	publisher: "Publisher",
	source: "Source",
	address_prefix: "Network of the address",
	brand: "Brand",
	campaign: "Campaign",
	from: "Clicked from",
	to: "Clicked until",
	reason: "Flagged as",
	date: "Day",
	amount: "Amount",
	text: "Why",
};
const FIELDS = ["id", "adjustment", ...Object.keys(LABELS)];

export const ADJUSTMENTS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Adjustments",
		async handle({ deps, query, now, person }) {
			const { limit, cursor, done, ...prefilled } = query;
			const mayAdjust = mayAct(person.role, "finance");
			const list = await listAdjustments(deps.db, readQuery(listSchema, { ...(limit && { limit }), ...(cursor && { cursor }) }));
			return (
				<>
					{done === undefined ? null : <Notice tone="good">It is the first of the list.</Notice>}
					{mayAdjust ? <Forms fields={prefilled} now={now} /> : null}
					<h2>What was adjusted</h2>
					<Table
						caption="Adjustments, the latest first"
						quiet
						columns={mayAdjust ? [...COLUMNS, UNDO] : COLUMNS}
						rows={list.data}
						empty={
							<Empty title="Nothing was adjusted yet">
								<p>What people void, add, release or attach is listed here, with who did it and why, and can be undone from here.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={list.next_cursor} />
				</>
			);
		},
	}),
	page({
		method: "POST",
		path: PATH,
		needs: { staff: "finance" },
		title: "Adjustments",
		async handle({ deps, form, actor, now }) {
			const kind = form.get("kind") ?? "";
			const fields = givenIn(form, FIELDS);
			try {
				const request = readInput(adjustmentSchema, requestOf(kind, fields));
				const adjusting = { ...deps.adjusting, actor };
				if (isPreview(form)) {
					const adjusted = await previewAdjustment(adjusting, request);
					return view(
						{ mayReturn: true },
						<>
							<Preview action={PATH} label="Do it" fields={{ kind, ...fields }} now={now} adjusted={adjusted} />
							<Forms kind={kind} fields={fields} now={now} />
						</>,
					);
				}
				const adjusted = await adjust(adjusting, request);
				if (adjusted.complete) return seeOther(addressOf(PATH, { done: "1" }));
				return view(
					{ mayReturn: true },
					<>
						<Notice tone="waiting" title="Not all of it yet." isState={false}>
							There was more than is done at once.
						</Notice>
						<Changed adjusted={adjusted} />
						<Preview
							action={PATH}
							label="Go on"
							fields={{ kind, ...fields, id: adjusted.id ?? fields.id ?? "" }}
							now={now}
							adjusted={adjusted}
						/>
					</>,
				);
			} catch (error) {
				return view({ status: 422 }, <Forms kind={kind} fields={fields} faults={formFaults(error)} now={now} />);
			}
		},
	}),
];

/** A campaign is a number; all else is as it was typed. */
function requestOf(kind: string, { campaign, ...fields }: Record<string, string>): unknown {
	return { kind, ...fields, ...(campaign !== undefined && { campaign: /^\d+$/.test(campaign) ? Number(campaign) : campaign }) };
}

function Forms({
	kind = "",
	fields,
	faults = [],
	now,
}: {
	/** Of the form that was sent; empty where none was. */
	kind?: string;
	fields: Record<string, string>;
	faults?: readonly Fault[];
	now: number;
}): JSX.Element {
	return (
		<>
			<Faults title="Nothing was adjusted" faults={faults} labels={LABELS} of={kind} />
			{kind === "undo" ? <UndoForm fields={fields} faults={faults} /> : null}
			{(Object.keys(KINDS) as FormKind[]).map((name) => (
				<details open={kind === name || (kind === "" && name === "void_clicks" && Object.keys(fields).length > 0)}>
					<summary>{KINDS[name]}</summary>
					<AdjustmentForm
						kind={name}
						id={(kind === name ? fields.id : undefined) ?? newTimeOrderedId(now)}
						fields={fields}
						faults={kind === name ? faults : []}
					/>
				</details>
			))}
		</>
	);
}

/** @param id under which it is made, also where the browser goes back and sends the form again */
function AdjustmentForm({
	kind,
	id,
	fields,
	faults,
}: {
	kind: FormKind;
	id: string;
	fields: Record<string, string>;
	faults: readonly Fault[];
}): JSX.Element {
	const field = (name: keyof typeof LABELS, hint?: string, required = false) => (
		<Field
			of={kind}
			name={name}
			label={LABELS[name]}
			value={fields[name]}
			faults={faults}
			required={required}
			{...(hint !== undefined && { hint })}
		/>
	);
	return (
		<form method="post" action={PATH} class="stack">
			<input type="hidden" name="kind" value={kind} />
			<input type="hidden" name="id" value={id} />
			{kind === "void_clicks" ? (
				<>
					{field("publisher", "Its id")}
					{field("source")}
					{field("address_prefix", "Such as 203.0.113.0/24")}
					{field("brand", "Its domain")}
					{field("campaign", "Its number")}
					{field("from", "UTC: a day, or a time such as 2026-11-21T09:00:00Z")}
					{field("to", "UTC; a day is included")}
					<Field
						of={kind}
						kind="choice"
						name="reason"
						label={LABELS.reason}
						value={fields.reason}
						faults={faults}
						choices={[{ value: "", label: "any" }, ...TRAFFIC_RULES.map((value) => ({ value, label: inWords(value) }))]}
					/>
				</>
			) : (
				<>
					{field("publisher", "Its id", true)}
					{field("date", "UTC day, such as 2026-11-21", true)}
					{field("amount", "USD, such as 12.50; -12.50 takes it", true)}
				</>
			)}
			{field("text", "Kept with the adjustment; the publisher sees the amount", true)}
			<div class="buttons">
				<button type="submit">See what it comes to</button>
			</div>
		</form>
	);
}

/** Once more, where undoing one was refused. */
function UndoForm({ fields, faults }: { fields: Record<string, string>; faults: readonly Fault[] }): JSX.Element {
	const { text, ...adjustment } = fields;
	return (
		<form method="post" action={PATH} class="stack">
			{Object.entries({ ...adjustment, kind: "undo" }).map(([name, value]) => (
				<input type="hidden" name={name} value={value} />
			))}
			<Field of="undo" name="text" label={LABELS.text} value={text} faults={faults} required />
			<div class="buttons">
				<button type="submit">See what it comes to</button>
			</div>
		</form>
	);
}

/** What was asked for, name by name; a publisher and a conversion lead to their pages. */
function Asked({ request }: Pick<ListedAdjustment, "request">): JSX.Element {
	// How it stood before is for its undoing.
	const { platform, txnid, was: _, was_released_micros: _1, ...others } = request;
	const isConversion = typeof platform === "string" && typeof txnid === "string";
	const named = Object.entries(isConversion ? others : { platform, ...others }).filter(
		([, value]) => value !== null && value !== undefined,
	);
	return (
		<>
			{isConversion ? (
				<a href={conversionAddress({ platform, txnid })}>
					{platform} <code>{txnid}</code>
				</a>
			) : null}
			{named.map(([name, value], at) => (
				<>
					{at > 0 || isConversion ? ", " : null}
					{inWords(name)}{" "}
					{name === "publisher" ? <a href={networkPath("publishers", String(value))}>{String(value)}</a> : String(value) || "none"}
				</>
			))}
		</>
	);
}

const COLUMNS: readonly Column<ListedAdjustment>[] = [
	{ head: "At", cell: ({ at }) => <Time at={at} /> },
	{ head: "What", cell: ({ kind }) => inWords(kind) },
	{ head: "Of what", cell: ({ request }) => <Asked request={request} /> },
	{ head: "Who", cell: ({ actor }) => actor },
	{ head: "Why", cell: ({ text }) => text },
	{ head: "Clicks", kind: "number", cell: ({ clicks }) => <Count of={clicks} /> },
	{ head: "Conversions", kind: "number", cell: ({ conversions }) => <Count of={conversions} /> },
	{ head: "Publishers'", kind: "money", cell: ({ publisher_revenue }) => <Money usd={publisher_revenue} /> },
	{ head: "Gross", kind: "money", cell: ({ gross_revenue }) => <Money usd={gross_revenue} /> },
	{ head: "State", cell: ({ complete, undone_by }) => <State word={undone_by !== null ? "undone" : complete ? "done" : "partial"} /> },
];

/** Kinds that no adjustment undoes: a revaluation is by another one, at the rates of before. */
const NOT_UNDONE: ReadonlySet<ListedAdjustment["kind"]> = new Set(["undo", "revalue"]);

const UNDO: Column<ListedAdjustment> = {
	head: "Undo",
	cell: ({ id, kind, undone_by, text }) =>
		undone_by !== null || NOT_UNDONE.has(kind) ? null : (
			<Confirm
				action={PATH}
				label="Undo"
				of={text}
				question="See first what undoing it comes to."
				send="See what it comes to"
				fields={{ kind: "undo", adjustment: id }}
			>
				<Field of={id} name="text" label={LABELS.text} required />
			</Confirm>
		),
};
