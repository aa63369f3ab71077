/** What changed the network: listed, looked at, undone; and whole network files, looked at before they are taken over. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { mayAct } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { readQuery } from "../../http/read-input.ts";
import { sha256 } from "../../lib/bytes.ts";
import { HttpError } from "../../lib/http.ts";
import { segmentOf } from "../../lib/path-segment.ts";
import { utf8 } from "../../lib/utf8.ts";
import type { ImportReport } from "../../operator/network/import-answer.ts";
import { type ImportOptions, importNetwork } from "../../operator/network/import-network.ts";
import type { ListedImport } from "../../operator/network/imports-answer.ts";
import { findImport, importsQuerySchema, listImports } from "../../operator/network/read-imports.ts";
import { undoImport } from "../../operator/network/undo-import.ts";
import { formFaults } from "../form-faults.ts";
import { type PersonRequest, page, type Shown, seeOther, view } from "../page.ts";
import { CopyText, Do } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Pager } from "../ui/filters.tsx";
import { Empty, Faults, Look, Notice } from "../ui/messages.tsx";
import { type Column, Facts, Table } from "../ui/table.tsx";
import { inWords, State, Time } from "../ui/values.tsx";
import { Changes, Difference, NEEDS_A_YES } from "./difference.tsx";

const PATH = "/console/operator/imports";
const NEW = `${PATH}/new`;
/** Of a form; it is held in memory as it came, and as its parts. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A preview hands a network of this many bytes back for the button that takes it over. A larger file is chosen again there. */
const MAX_HANDED_BACK_BYTES = 2 * 1024 * 1024;
const KINDS: Readonly<Record<ListedImport["kind"], string>> = {
	import: "a file, or a new entry",
	patch: "a change of one entry",
	undo: "an undo",
	names: "a rotation of names",
};
const LABELS = { network: "Network file", file: "Or a file", yes: "Yes" };

export const IMPORTS_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Imports",
		async handle({ deps, query, person }) {
			const list = await listImports(deps.imports, readQuery(importsQuerySchema, query));
			return (
				<>
					{mayAct(person.role, "manager") ? (
						<p>
							<a class="button" href={NEW}>
								Import a network file
							</a>
						</p>
					) : null}
					<Table
						caption="What changed the network, the latest first"
						columns={COLUMNS}
						rows={list.data}
						empty={
							<Empty title="Nothing has changed the network yet">
								<p>Import a network file: what it changes is shown first.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={list.next_cursor} />
				</>
			);
		},
	}),
	page({
		method: "GET",
		path: NEW,
		needs: { staff: "manager", fresh: true },
		title: "Import a network file",
		handle: () => <ImportForm text="" isComplete={false} faults={[]} />,
	}),
	page({
		method: "POST",
		path: NEW,
		needs: { staff: "manager", fresh: true },
		title: "Import a network file",
		maxBytes: MAX_BYTES,
		handle: answerImport,
	}),
	page({
		method: "GET",
		path: `${PATH}/:id`,
		needs: { staff: "viewer" },
		title: "Import",
		async handle({ deps, param, person, query }) {
			const found = await findImport(deps.imports, param("id"), person.role);
			if (found === null) throw new HttpError(404, { error: "Not found" });
			const { id, kind, at, actor, file_hash, undoes, undone_by, can_undo, entries, entries_left_out } = found;
			return (
				<>
					{query.done === undefined ? null : (
						<Notice tone="good" title="It is taken over.">
							{query.done === "late" ? "Bids could not be told at once: they follow within a minute." : "The next bid knows of it."}
						</Notice>
					)}
					<Facts
						facts={[
							["What", KINDS[kind]],
							["At", <Time at={at} />],
							["Who", actor],
							["SHA-256 of the file", file_hash === null ? null : <code>{file_hash}</code>],
							["Undoes", undoes === null ? null : <a href={`${PATH}/${segmentOf(undoes)}`}>{undoes}</a>],
							["Undone by", undone_by === null ? null : <a href={`${PATH}/${segmentOf(undone_by)}`}>{undone_by}</a>],
							["Id", <code>{id}</code>],
						]}
					/>
					{can_undo && mayAct(person.role, "manager") ? <Do action={`${PATH}/${segmentOf(id)}/undo`} label="Undo it…" /> : null}
					<h2>What it changed</h2>
					<Changes entries={entries} all={entries.length + entries_left_out} />
				</>
			);
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/:id/undo`,
		needs: { staff: "manager", fresh: true },
		title: "Undo an import",
		async handle(request) {
			const { deps, form, param } = request;
			const id = param("id");
			const sent = (name: string) => form.get(name) ?? "";
			return answer(request, sent, (options) => undoImport(deps.imports, { import: id }, options), {
				action: `${PATH}/${segmentOf(id)}/undo`,
				label: "Undo it",
				further: null,
			});
		},
	}),
];

/** A form with a file in it comes in parts. */
async function answerImport(request: PersonRequest): Promise<Shown> {
	const { deps, c, body } = request;
	const { sent, network } = await readParts(body, c.req.header("content-type") ?? "");
	const isComplete = sent("complete") === "true";
	const isHandedBack = network.size <= MAX_HANDED_BACK_BYTES;
	const text = isHandedBack ? await network.text() : "";
	const seen = sent("sha256");
	const hash = isHandedBack ? "" : await hashOf(network);
	const importIt = async (options: ImportOptions) => {
		if (!options.isDryRun && seen !== hash) throw invalidInput([{ path: "file", message: "is not the one that was looked at" }]);
		return importNetwork(deps.imports, network.stream(), { ...options, isComplete });
	};
	try {
		return await answer(request, sent, importIt, {
			action: NEW,
			label: "Take it over",
			further: (
				<>
					{isHandedBack ? (
						<textarea name="network" hidden readonly>
							{text}
						</textarea>
					) : (
						<>
							<input type="hidden" name="sha256" value={hash} />
							<Field
								kind="file"
								name="file"
								label="The same file again"
								hint="It is too large to be kept meanwhile: another one is refused"
								accept="application/json,.json"
								required
							/>
						</>
					)}
					{isComplete ? <input type="hidden" name="complete" value="true" /> : null}
				</>
			),
		});
	} catch (error) {
		return view({ status: 422 }, <ImportForm text={text} isComplete={isComplete} faults={formFaults(error)} />);
	}
}

/** SHA-256, lower-case hex. */
async function hashOf(file: Blob): Promise<string> {
	return (await sha256(new Uint8Array(await file.arrayBuffer()))).toHex();
}

type Parts = { sent: (name: string) => string; network: Blob };

/** The fields of a form of parts, and the network: a text, or else a file. @throws HttpError 422 */
async function readParts(body: Uint8Array<ArrayBuffer>, type: string): Promise<Parts> {
	let parts: FormData;
	try {
		parts = await new Response(body, { headers: { "content-type": type } }).formData();
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		throw invalidInput([{ path: "", message: "The form has come incomplete: open its page again" }]);
	}
	const sent = (name: string) => {
		const part = parts.get(name);
		return typeof part === "string" ? part : "";
	};
	const text = sent("network");
	const file = parts.get("file");
	return { sent, network: text.trim() === "" && file instanceof File ? file : new Blob([utf8(text)]) };
}

type Way = { action: string; label: string; further: JSX.Element | null };

/** Looks at it, or does it where the form says so, as of the version that was looked at. */
async function answer(
	request: PersonRequest,
	sent: (name: string) => string,
	change: (options: ImportOptions) => Promise<ImportReport>,
	way: Way,
): Promise<Shown> {
	const isDone = sent("step") === "do";
	const version = /^\d{1,15}$/.test(sent("version")) ? Number(sent("version")) : null;
	const options = { isComplete: false, isConfirmed: sent("yes") === "true", actor: request.actor };
	const look = async (status: number, faults: readonly Fault[]) => {
		const report = await change({ ...options, isDryRun: true, ifMatch: null });
		return view({ status, mayReturn: true }, <Preview way={way} report={report} faults={faults} />);
	};
	if (!isDone) return look(200, []);
	// A form that lost its version would overwrite what nobody has seen.
	if (version === null) return look(422, [{ path: "", message: "The form has come incomplete: look at it, and send it again" }]);
	try {
		const report = await change({ ...options, isDryRun: false, ifMatch: version });
		if (report.issued.length > 0) return <Issued report={report} />;
		const done = report.book.version === null ? "late" : "1";
		return seeOther(report.id === null ? PATH : addressOf(`${PATH}/${report.id}`, { done }));
	} catch (error) {
		if (!(error instanceof HttpError)) throw error;
		if (error.status === 409) return look(422, [{ path: "yes", message: "is to be said first" }]);
		if (error.status === 412)
			return look(412, [{ path: "", message: "Someone has changed the network meanwhile: look at it, and send it again" }]);
		throw error;
	}
}

const COLUMNS: readonly Column<ListedImport>[] = [
	{ head: "At", cell: ({ at }) => <Time at={at} /> },
	{ head: "What", namesRow: true, cell: ({ id, kind }) => <a href={`${PATH}/${segmentOf(id)}`}>{KINDS[kind]}</a> },
	{ head: "Who", cell: ({ actor }) => actor },
	{ head: "State", cell: ({ undone_by }) => <State word={undone_by === null ? "done" : "undone"} /> },
];

function ImportForm({ text, isComplete, faults }: { text: string; isComplete: boolean; faults: readonly Fault[] }): JSX.Element {
	return (
		<form method="post" action={NEW} enctype="multipart/form-data" class="stack">
			<Faults title="Nothing was changed" faults={faults} labels={LABELS} />
			<p>
				What the file names is added or changed, what it leaves out stays as it is. Up to {MAX_BYTES / 1024 / 1024} MiB; larger ones come in
				by <code>npm run operator -- import FILE</code>.
			</p>
			<Field kind="long" name="network" label={LABELS.network} hint="JSON, as /network.schema.json describes it" value={text} rows={12} />
			<Field kind="file" name="file" label={LABELS.file} accept="application/json,.json" />
			<Field kind="check" name="complete" label="Remove campaigns that a brand of the file does not name" checked={isComplete} />
			<div class="buttons">
				<button type="submit">Show what changes</button>
			</div>
		</form>
	);
}

function Preview({ way, report, faults }: { way: Way; report: ImportReport; faults: readonly Fault[] }): JSX.Element {
	const { difference, needs_confirmation, version } = report;
	const isEmpty = difference.added + difference.changed + difference.removed === 0;
	const asksYes = needs_confirmation || faults.some(({ path }) => path === "yes");
	return (
		<Look title="What changes" faults={faults}>
			<Faults title="Nothing was changed" faults={faults} labels={LABELS} />
			<Difference report={report} />
			{isEmpty ? null : (
				<form method="post" action={way.action} class="stack" {...(way.further !== null && { enctype: "multipart/form-data" })}>
					<input type="hidden" name="step" value="do" />
					<input type="hidden" name="version" value={String(version)} />
					{way.further}
					{asksYes ? (
						<Field kind="check" name="yes" label={`Yes, although it ${NEEDS_A_YES}, or overwrites what came later`} faults={faults} />
					) : null}
					<div class="buttons">
						<button type="submit">{way.label}</button>
					</div>
				</form>
			)}
			<p>
				<a href={PATH}>Back to the imports</a>
			</p>
		</Look>
	);
}

/** The only time that keys are seen. */
function Issued({ report: { issued } }: { report: ImportReport }): JSX.Element {
	return (
		<>
			<Notice tone="good" title="It is taken over.">
				Keys that were made for what is new are shown here, and never again.
			</Notice>
			<Facts
				facts={issued.map(({ owner, kind, value }) => [
					`${inWords(kind)} of ${owner}`,
					<CopyText text={value} label={`the ${inWords(kind)} of ${owner}`} />,
				])}
			/>
			<p>
				<a href={PATH}>To the imports</a>
			</p>
		</>
	);
}
