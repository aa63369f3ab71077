/** Entries changed and added: looked at first, then done. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Fault } from "../../http/errors.ts";
import { HttpError } from "../../lib/http.ts";
import { isObject, parseJson } from "../../lib/json.ts";
import { addEntry, changeEntry } from "../../operator/network/change-entry.ts";
import { ENTRY_SECTIONS, type EntrySection } from "../../operator/network/entry-answers.ts";
import type { FileEntry } from "../../operator/network/export-entry.ts";
import type { ImportReport } from "../../operator/network/import-answer.ts";
import type { ImportOptions } from "../../operator/network/import-network.ts";
import { type FoundEntry, findEntry } from "../../operator/network/read-entries.ts";
import { formFaults } from "../form-faults.ts";
import { type PersonRequest, page, type Shown, seeOther, view } from "../page.ts";
import { isFresh } from "../session/sessions.ts";
import { CopyText } from "../ui/actions.tsx";
import { Notice } from "../ui/messages.tsx";
import { Facts } from "../ui/table.tsx";
import { inWords } from "../ui/values.tsx";
import { fieldsOf, GUARDED_FIELDS, readSent, type SentFields, textOf } from "./entry-fields.ts";
import { Conflict, EntryForm, EntryPreview } from "./entry-form.tsx";
import { networkPath, newPath, SECTION_WORDS } from "./network-lists.tsx";

/** A campaign has up to 2 000 keywords, which a form sends with what they were. */
const MAX_BYTES = 4 * 1024 * 1024;

const CONFIRM_FIRST =
	"asks for a passkey or a link that was used in the last ten minutes: confirm that it is you at /console/confirm, in another tab, and send this again";

/** @throws HttpError 404 */
export async function requireEntry({ deps }: Pick<PersonRequest, "deps">, section: EntrySection, id: string): Promise<FoundEntry> {
	const found = await findEntry(deps.db, section, id);
	if (found === null) throw new HttpError(404, { error: "Not found", message: `There is no ${SECTION_WORDS[section].one} of this id.` });
	return found;
}

/** A form's fields by their names, or as a page before it has put them together. */
function sentIn(section: EntrySection, form: URLSearchParams, entry: FileEntry | null): SentFields {
	const together = form.get("fields");
	if (together === null) return readSent(section, form, entry);
	const fields = parseJson(together);
	if (!isObject(fields)) return { fields: {}, texts: {}, faults: [{ path: "", message: "The form has come incomplete" }] };
	return { fields, texts: textsOf(section, fields), faults: [] };
}

function textsOf(section: EntrySection, fields: Readonly<Record<string, unknown>>): Record<string, string> {
	return Object.fromEntries(
		fieldsOf(section)
			.filter(({ name }) => Object.hasOwn(fields, name))
			.map((field) => [field.name, textOf(field, fields[field.name])]),
	);
}

type Doing = { isDone: boolean; report: ImportReport; faults: Fault[] };

/** Looks at a change, or makes it where the form says so; where it asks a question that was not answered, it is looked at. */
async function run({ form, actor }: PersonRequest, change: (options: ImportOptions) => Promise<ImportReport>): Promise<Doing> {
	const options: ImportOptions = {
		isDryRun: form.get("step") !== "do",
		isConfirmed: form.get("yes") === "true",
		isComplete: false,
		ifMatch: null,
		actor,
	};
	try {
		return { isDone: !options.isDryRun, report: await change(options), faults: [] };
	} catch (error) {
		if (!(error instanceof HttpError) || error.status !== 409) throw error;
		const report = await change({ ...options, isDryRun: true });
		return { isDone: false, report, faults: [{ path: "yes", message: "is to be said first" }] };
	}
}

/** Faults of what only someone may change who has just shown that it is they. */
function guardFaults({ session, now }: PersonRequest, fields: Readonly<Record<string, unknown>>): Fault[] {
	if (isFresh(session, now)) return [];
	return Object.keys(fields)
		.filter((name) => GUARDED_FIELDS.has(name))
		.map((path) => ({ path, message: CONFIRM_FIRST }));
}

/**
 * Answers a form about an entry: the difference, then the change, or what stands against it.
 * @param of the entry, and its state that was read: those of the address and the form, unless the form is on another entry's page
 * @param formAgain the form once more, with its faults, where it is not the one over all of the entry
 */
export async function answerChange(
	request: PersonRequest,
	section: EntrySection,
	found: FoundEntry,
	sentFields?: SentFields,
	of: { id: string; etag: string } = { id: request.param("id"), etag: request.form.get("etag") ?? "" },
	formAgain?: (faults: readonly Fault[]) => JSX.Element,
): Promise<Shown> {
	const { deps, form } = request;
	const { id, etag } = of;
	const action = networkPath(section, id);
	const sent = sentFields ?? sentIn(section, form, found.entry);
	const conflict = async () =>
		view(
			{ status: 412, title: "Changed meanwhile" },
			<Conflict
				section={section}
				action={action}
				found={await requireEntry(request, section, id)}
				was={form.get("was")}
				texts={changedTexts(section, sent, form.get("was"))}
			/>,
		);
	const again = (faults: readonly Fault[]) =>
		view(
			{ status: 422 },
			formAgain?.(faults) ?? <EntryForm section={section} action={action} found={found} texts={sent.texts} faults={faults} />,
		);
	if (etag !== found.etag) return conflict();
	const faults = [...sent.faults, ...guardFaults(request, sent.fields)];
	if (faults.length > 0) return again(faults);
	try {
		const {
			isDone,
			report,
			faults: open,
		} = await run(request, (options) => changeEntry(deps.imports, { section, id, fields: sent.fields, etags: [etag] }, options));
		if (isDone) return seeOther(`${action}?${new URLSearchParams({ changed: report.book.version === null ? "late" : "1" })}`);
		return view(
			{ status: open.length > 0 ? 422 : 200, mayReturn: true },
			<>
				<EntryPreview section={section} action={action} found={found} fields={sent.fields} report={report} faults={open} />
				<h2>Change it further</h2>
				<EntryForm section={section} action={action} found={found} texts={sent.texts} />
			</>,
		);
	} catch (error) {
		if (error instanceof HttpError && error.status === 412) return conflict();
		return again(formFaults(error));
	}
}

/** The texts of fields that were to change: those that differ from what was read. */
function changedTexts(section: EntrySection, { texts }: SentFields, was: string | null): Record<string, string> {
	const read = parseJson(was ?? "");
	if (!isObject(read)) return texts;
	return Object.fromEntries(
		fieldsOf(section)
			.filter((field) => texts[field.name] !== undefined && texts[field.name]?.trim() !== textOf(field, read[field.name]).trim())
			.map(({ name }) => [name, texts[name] ?? ""]),
	);
}

/** Answers the form of a new entry. What is issued for it is shown here, once. */
async function answerNew(request: PersonRequest, section: EntrySection): Promise<Shown> {
	const { deps, form, session, now } = request;
	const { one } = SECTION_WORDS[section];
	const action = newPath(section);
	const { fields, texts, faults } = sentIn(section, form, null);
	const again = (found: readonly Fault[]) =>
		view({ status: 422 }, <EntryForm section={section} action={action} found={null} texts={texts} faults={found} />);
	const takesKeys = section === "publishers" || section === "platforms";
	if (takesKeys && !isFresh(session, now)) faults.push({ path: "", message: `A ${one} is given keys, which ${CONFIRM_FIRST}` });
	if (faults.length > 0) return again(faults);
	try {
		const { isDone, report, faults: open } = await run(request, (options) => addEntry(deps.imports, { section, fields }, options));
		if (!isDone) {
			return view(
				{ status: open.length > 0 ? 422 : 200, mayReturn: true },
				<>
					<EntryPreview section={section} action={action} found={null} fields={fields} report={report} faults={open} />
					<h2>Change it first</h2>
					<EntryForm section={section} action={action} found={null} texts={texts} />
				</>,
			);
		}
		const id = report.difference.entries.find((entry) => entry.section === section)?.id;
		const path = id === undefined ? networkPath(section) : networkPath(section, id);
		if (report.issued.length === 0) return seeOther(`${path}?changed=1`);
		return (
			<>
				<Notice tone="good" title={`The ${one} is there.`}>
					What was made for it is shown here, and keys never again. <a href={path}>To the {one}</a>
				</Notice>
				<Facts facts={report.issued.map(({ kind, value }) => [inWords(kind), <CopyText text={value} label={`the ${inWords(kind)}`} />])} />
			</>
		);
	} catch (error) {
		if (error instanceof HttpError && error.status === 412)
			return again([{ path: "", message: "Someone else has added the same meanwhile: look at it first" }]);
		return again(formFaults(error));
	}
}

export const CHANGE_ENTRY_PAGES = ENTRY_SECTIONS.flatMap((section) => {
	const title = `New ${SECTION_WORDS[section].one}`;
	const path = newPath(section);
	return [
		page({
			method: "POST",
			path: `${networkPath(section)}/:id`,
			needs: { staff: "manager" },
			title: SECTION_WORDS[section].title,
			maxBytes: MAX_BYTES,
			async handle(request) {
				return answerChange(request, section, await requireEntry(request, section, request.param("id")));
			},
		}),
		page({
			method: "GET",
			path,
			needs: { staff: "manager" },
			title,
			handle: ({ query }) => <EntryForm section={section} action={path} found={null} texts={query} />,
		}),
		page({
			method: "POST",
			path,
			needs: { staff: "manager" },
			title,
			maxBytes: MAX_BYTES,
			handle: (request) => answerNew(request, section),
		}),
	];
});
