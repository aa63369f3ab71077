/** What changed the network: listed, looked at, undone; and whole network files, looked at before they are taken over. */
import { mayAct } from "../../http/actor.ts";
import { readQuery } from "../../http/read-input.ts";
import { HttpError } from "../../lib/http.ts";
import { segmentOf } from "../../lib/path-segment.ts";
import type { ListedImport } from "../../operator/network/imports-answer.ts";
import { findImport, importsQuerySchema, listImports } from "../../operator/network/read-imports.ts";
import { undoImport } from "../../operator/network/undo-import.ts";
import { page } from "../page.ts";
import { Do } from "../ui/actions.tsx";
import { Pager } from "../ui/filters.tsx";
import { Empty, Notice } from "../ui/messages.tsx";
import { type Column, Facts, Table } from "../ui/table.tsx";
import { State, Time } from "../ui/values.tsx";
import { Changes } from "./difference.tsx";
import { answerChange, answerImport, IMPORTS_PATH, ImportForm, MAX_BYTES, NEW_IMPORT_PATH } from "./take-import.tsx";

const KINDS: Readonly<Record<ListedImport["kind"], string>> = {
	import: "a file, or a new entry",
	patch: "a change of one entry",
	undo: "an undo",
	names: "a rotation of names",
};

export const IMPORTS_PAGES = [
	page({
		method: "GET",
		path: IMPORTS_PATH,
		needs: { staff: "viewer" },
		title: "Imports",
		async handle({ deps, query, person }) {
			const list = await listImports(deps.imports, readQuery(importsQuerySchema, query));
			return (
				<>
					{mayAct(person.role, "manager") ? (
						<p>
							<a class="button" href={NEW_IMPORT_PATH}>
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
					<Pager path={IMPORTS_PATH} query={query} next={list.next_cursor} />
				</>
			);
		},
	}),
	page({
		method: "GET",
		path: NEW_IMPORT_PATH,
		needs: { staff: "manager", fresh: true },
		title: "Import a network file",
		handle: () => <ImportForm text="" isComplete={false} faults={[]} />,
	}),
	page({
		method: "POST",
		path: NEW_IMPORT_PATH,
		needs: { staff: "manager", fresh: true },
		title: "Import a network file",
		maxBytes: MAX_BYTES,
		handle: answerImport,
	}),
	page({
		method: "GET",
		path: `${IMPORTS_PATH}/:id`,
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
							["Undoes", undoes === null ? null : <a href={`${IMPORTS_PATH}/${segmentOf(undoes)}`}>{undoes}</a>],
							["Undone by", undone_by === null ? null : <a href={`${IMPORTS_PATH}/${segmentOf(undone_by)}`}>{undone_by}</a>],
							["Id", <code>{id}</code>],
						]}
					/>
					{can_undo && mayAct(person.role, "manager") ? <Do action={`${IMPORTS_PATH}/${segmentOf(id)}/undo`} label="Undo it…" /> : null}
					<h2>What it changed</h2>
					<Changes entries={entries} all={entries.length + entries_left_out} />
				</>
			);
		},
	}),
	page({
		method: "POST",
		path: `${IMPORTS_PATH}/:id/undo`,
		needs: { staff: "manager", fresh: true },
		title: "Undo an import",
		async handle(request) {
			const { deps, form, param } = request;
			const id = param("id");
			const sent = (name: string) => form.get(name) ?? "";
			return answerChange(request, sent, (options) => undoImport(deps.imports, { import: id }, options), {
				action: `${IMPORTS_PATH}/${segmentOf(id)}/undo`,
				label: "Undo it",
				further: null,
			});
		},
	}),
];

const COLUMNS: readonly Column<ListedImport>[] = [
	{ head: "At", cell: ({ at }) => <Time at={at} /> },
	{ head: "What", namesRow: true, cell: ({ id, kind }) => <a href={`${IMPORTS_PATH}/${segmentOf(id)}`}>{KINDS[kind]}</a> },
	{ head: "Who", cell: ({ actor }) => actor },
	{ head: "State", cell: ({ undone_by }) => <State word={undone_by === null ? "done" : "undone"} /> },
];
