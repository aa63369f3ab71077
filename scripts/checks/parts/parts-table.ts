/** The tables of parts in docs/architecture.md, as the map has them. */
import { type Part, REACHES, SCRIPT_PARTS, SOURCE_PARTS } from "./map.ts";

export const PAGE = "docs/architecture.md";
export const COMMAND = "node scripts/run.mjs scripts/checks/print-parts.ts";

const BEGIN = `<!-- Printed by \`${COMMAND}\` -->`;
const END = "<!-- End of what is printed -->";

/** What stands between the markers of a page; null where it has none. */
export function printedIn(page: string): string | null {
	const [, rest] = page.split(BEGIN);
	const [printed] = rest?.split(END) ?? [];
	return rest === undefined || printed === undefined || printed === rest ? null : printed.trim();
}

/** The page with what stands between its markers replaced. @throws Error where it has no markers */
export function printInto(page: string): string {
	const present = printedIn(page);
	if (present === null) throw new Error(`${PAGE} lacks the lines ${BEGIN} and ${END}`);
	const [before] = page.split(BEGIN);
	const [, after] = page.split(END);
	return `${before}${BEGIN}\n\n${printParts()}\n\n${END}${after}`;
}

/** A table of the Workers' parts and one of the commands', with what may be reached from where. */
export function printParts(): string {
	const reaches = REACHES.map(
		({ entry, parts, packages }) =>
			`From \`${entry}\`, nothing may be reached, over however many imports, but ${names(parts, true)}, and of packages ${names(packages)}.`,
	);
	return [table(SOURCE_PARTS, true), ...reaches, table(SCRIPT_PARTS, false)].join("\n\n");
}

function table(parts: readonly Part[], isSource: boolean): string {
	return [
		"| part | job | may import | of packages |",
		"|---|---|---|---|",
		...parts.map(
			({ path, files = [], job, imports, packages }) =>
				`| ${[path, ...files].map(code).join(", ")} | ${job} | ${names(imports, isSource) || "nothing"} | ${names(packages)} |`,
		),
	].join("\n");
}

/** Among the parts of src/, that is left out. */
function names(paths: readonly string[], withoutSource = false): string {
	return paths.map((path) => code(withoutSource ? path.replace(/^src\//, "") : path)).join(", ");
}

function code(text: string): string {
	return `\`${text}\``;
}
