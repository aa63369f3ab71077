import { importPageSchema, type ListedImport, shownImportSchema } from "../../../src/operator/network/imports-answer.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { describeEntry } from "../describe-difference.ts";
import { readPage } from "../read-page.ts";

const PAGING = ["limit", "cursor"] as const;

type Options = ServerOptions & Partial<Record<(typeof PAGING)[number], string>>;

/** `imports [ID]`: what changed the network. */
export const command: OperatorCommand = {
	name: "imports",
	add(program) {
		withServerOptions(program.command("imports"))
			.description("list what changed the network in the last 30 days, the newest first, or show what one of them changed")
			.argument("[id]", "as the import named it; `undo` takes it back")
			.option("--limit <count>", "imports a page, at most 1000", "100")
			.option("--cursor <cursor>", "where the page before ended")
			.action((id: string | undefined, options: Options) => (id === undefined ? list(options) : show(id, options)));
	},
};

async function list(options: Options): Promise<void> {
	const page = await readPage(options, "/operator/network/imports", PAGING, importPageSchema);
	if (options.json) return console.log(JSON.stringify(page, null, 2));
	if (page.data.length === 0) return console.log("Nothing has changed the network.");
	for (const listed of page.data) console.log(describe(listed));
	if (page.next_cursor !== null) console.log(`There are more: --cursor ${page.next_cursor}`);
}

async function show(id: string, options: ServerOptions): Promise<void> {
	const shown = await readPage(options, `/operator/network/imports/${encodeURIComponent(id)}`, [], shownImportSchema);
	if (options.json) return console.log(JSON.stringify(shown, null, 2));
	const { added, changed, removed, entries, entries_left_out: left } = shown;
	const head = `${describe(shown)}: ${added} added, ${changed} changed, ${removed} removed`;
	const more = left === 0 ? [] : [`  … and ${left} more`];
	console.log([head, ...entries.flatMap((entry) => describeEntry(entry, true)), ...more].join("\n"));
}

function describe({ at, actor, kind, id, undoes, undone_by }: ListedImport): string {
	return `${at}  ${actor}  ${kind}  ${id}${undoes === null ? "" : `, undoes ${undoes}`}${undone_by === null ? "" : `, undone by ${undone_by}`}`;
}
