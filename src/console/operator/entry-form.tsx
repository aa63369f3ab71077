/** The form over an entry, what it would do, and what is told where others were faster. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { isObject, parseJson } from "../../lib/json.ts";
import type { EntrySection } from "../../operator/network/entry-answers.ts";
import { type FileEntry, sameValue } from "../../operator/network/export-entry.ts";
import type { ImportReport } from "../../operator/network/import-answer.ts";
import type { FoundEntry } from "../../operator/network/read-entries.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Faults, Look, Notice } from "../ui/messages.tsx";
import { Table } from "../ui/table.tsx";
import { Difference, NEEDS_A_YES, Value } from "./difference.tsx";
import { type EntryField, fieldsOf, labelOf, textOf, USD_FIELDS } from "./entry-fields.ts";
import { networkPath, SECTION_WORDS } from "./network-lists.tsx";

const HINTS: Readonly<Partial<Record<EntryField["kind"], string>>> = {
	lines: "Each on a line",
	numbers: "With commas between them; empty for none that are named",
	json: "JSON, as in the network file",
};

const FIELD_HINTS: Readonly<Record<string, string>> = {
	...Object.fromEntries([...USD_FIELDS].map((name) => [name, "USD, such as 0.25"])),
	allowed_hours: "0 to 23, with commas between them, on the clocks of the time zone; empty for all",
	keyword_epc: 'JSON of keyword and amount, such as {"red shoes": "0.50"}',
	blocked_brands: 'JSON, such as [{"domain": "shoes.example", "country": "US"}]; without a country it is blocked everywhere',
	status_map: 'JSON of the platform\'s own words, such as {"locked": "approved"}',
	revenue_share: "Such as 0.8",
	callback_url: "Changes only within ten minutes of a passkey or a link",
	publisher_id: "Changes only within ten minutes of a passkey or a link, and by an admin",
	publisher_identity: "Changes only within ten minutes of a passkey or a link, and by an admin",
};

/**
 * @param action where it is sent to
 * @param found what it is filled in over; null for a new entry
 * @param texts typed before, over those
 */
export function EntryForm(props: {
	section: EntrySection;
	action: string;
	found: FoundEntry | null;
	texts?: Readonly<Record<string, string>>;
	faults?: readonly Fault[];
}): JSX.Element {
	const { section, action, found, texts = {}, faults = [] } = props;
	const fields = fieldsOf(section).filter(({ name, isKey }) => found === null || !(isKey || name === "brand"));
	return (
		<form method="post" action={action} class="stack">
			<Faults title="Nothing was changed" faults={faults} labels={Object.fromEntries(fields.map(({ name, label }) => [name, label]))} />
			{found === null ? null : <Read found={found} />}
			{fields.map((field) => (
				<EntryControl
					field={field}
					value={texts[field.name] ?? textOf(field, found === null ? field.fallback : found.entry[field.name])}
					faults={faults}
				/>
			))}
			<div class="buttons">
				<button type="submit">Show what changes</button>
			</div>
		</form>
	);
}

function EntryControl({ field, value, faults }: { field: EntryField; value: string; faults: readonly Fault[] }): JSX.Element {
	const { name, label, kind, choices, isRequired } = field;
	const hint = FIELD_HINTS[name] ?? HINTS[kind];
	const shared = { name, label, value, faults, required: isRequired, ...(hint !== undefined && { hint }) };
	if (kind === "flag" || kind === "choice") return <Field {...shared} kind="choice" choices={choices} required />;
	if (kind === "lines" || kind === "json") return <Field {...shared} kind="long" rows={value.length > 80 ? 8 : 3} />;
	return <Field {...shared} kind={kind === "date" ? "date" : "text"} />;
}

/** The state that was read: what is sent on with a form, so that nothing is changed that nobody has seen. */
function Read({ found }: { found: FoundEntry }): JSX.Element {
	return (
		<>
			{Object.entries(stateFields(found)).map(([name, value]) => (
				<input type="hidden" name={name} value={value} />
			))}
		</>
	);
}

/** Hidden fields of a form about an entry. */
export function stateFields({ entry, etag }: FoundEntry): Record<string, string> {
	const { campaigns: _, ...was } = entry;
	return { etag, was: JSON.stringify(was) };
}

/** What a change comes to, and the button that makes it. @param fields those that change */
export function EntryPreview(props: {
	section: EntrySection;
	action: string;
	found: FoundEntry | null;
	fields: Readonly<Record<string, unknown>>;
	report: ImportReport;
	faults?: readonly Fault[];
}): JSX.Element {
	const { section, action, found, fields, report, faults = [] } = props;
	const { added, changed, removed } = report.difference;
	return (
		<Look title="What changes" faults={faults}>
			<Faults title="Nothing was changed" faults={faults} labels={{ yes: "Yes" }} />
			<Difference report={report} />
			{added + changed + removed === 0 ? null : (
				<form method="post" action={action} class="stack">
					{found === null ? null : <Read found={found} />}
					<input type="hidden" name="fields" value={JSON.stringify(fields)} />
					<input type="hidden" name="step" value="do" />
					{report.needs_confirmation ? (
						<Field kind="check" name="yes" label={`Yes, although it ${NEEDS_A_YES}`} faults={faults} required />
					) : null}
					<div class="buttons">
						<button type="submit">{found === null ? `Add the ${SECTION_WORDS[section].one}` : "Change it"}</button>
					</div>
				</form>
			)}
		</Look>
	);
}

/**
 * Where the entry is another by now: what others have changed, beside what was sent, and the form over it as it is. What was sent is laid
 * over what nobody else has changed.
 */
export function Conflict(props: {
	section: EntrySection;
	action: string;
	found: FoundEntry;
	/** The entry as it was read, as the form had it. */
	was: string | null;
	/** As they were typed, of those that were to change. */
	texts: Readonly<Record<string, string>>;
}): JSX.Element {
	const { section, action, found, texts } = props;
	const read = parseJson(props.was ?? "");
	const was: FileEntry = isObject(read) ? read : found.entry;
	const others = fieldsOf(section).filter(({ name }) => !sameValue(was[name] ?? null, found.entry[name] ?? null));
	const taken = new Set(others.map(({ name }) => name));
	const own = Object.fromEntries(Object.entries(texts).filter(([name]) => !taken.has(name)));
	return (
		<>
			<Notice tone="bad" title="Someone else has changed this meanwhile.">
				Nothing was changed. {others.length === 0 ? "What they changed is not among these fields: its campaigns, or a secret. " : ""}
				<a href={`/console/operator/audit?${new URLSearchParams({ subject_kind: SECTION_WORDS[section].one })}`}>Who changed what</a>
			</Notice>
			<Table
				caption="Changed meanwhile"
				columns={[
					{ head: "Field", cell: ({ name }) => labelOf(name) },
					{ head: "When you read it", cell: ({ name }) => <Value of={was[name]} /> },
					{ head: "Now", cell: ({ name }) => <Value of={found.entry[name]} /> },
					{ head: "You sent", cell: ({ name }) => <Value of={texts[name] ?? "no change"} /> },
				]}
				rows={others}
				empty={null}
			/>
			<h2>As it is now</h2>
			<p>
				{Object.keys(own).length === 0 ? "" : "What you changed, and nobody else, is filled in already. "}Look at it, and send it again.
			</p>
			<EntryForm section={section} action={action} found={found} texts={own} />
			<p>
				<a href={networkPath(section)}>Back to the list</a>
			</p>
		</>
	);
}
