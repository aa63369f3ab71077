/** Puts the tables into docs/scale.md, each between its markers. */
import { TABLE_NAMES, type TableName } from "./tables.ts";

export const PAGE = "docs/scale.md";
export const COMMAND = "npm run scale";

const END = "<!-- End of what is printed -->";

function beginOf(name: TableName): string {
	return `<!-- Printed by \`${COMMAND}\`: ${name} -->`;
}

/** The page with its tables replaced. @throws Error where it lacks the markers of one */
export function printInto(page: string, tables: Readonly<Record<TableName, string>>): string {
	return TABLE_NAMES.reduce((text, name) => {
		const start = text.indexOf(beginOf(name));
		const end = text.indexOf(END, start);
		if (start === -1 || end === -1) throw new Error(`${PAGE} lacks the lines ${beginOf(name)} and ${END}`);
		return `${text.slice(0, start)}${beginOf(name)}\n\n${tables[name]}\n\n${text.slice(end)}`;
	}, page);
}
