/** Prints rows under their names: texts to the left, numbers and amounts to the right. */
function printTable(names: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
	const texts = rows.map((row) => row.map(String));
	const widths = names.map((name, at) => Math.max(name.length, ...texts.map((row) => (row[at] ?? "").length)));
	const isNumber = names.map((_, at) => texts.length > 0 && texts.every((row) => /^(?:-?[\d.]+ ?%?|)$/.test(row[at] ?? "")));
	const line = (cells: readonly string[]) =>
		cells
			.map((cell, at) => (isNumber[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
			.join("  ")
			.trimEnd();
	console.log([line(names), ...texts.map(line)].join("\n"));
}

/** What a row has by the names that a report is grouped by. */
type Cells<Name extends string> = { readonly [Column in Name]?: string | number | null | undefined };

/**
 * Prints the rows of a report with their figures, and the total below them.
 * @param nothing what is shown where a row has nothing by that name
 */
export function printGroups<Name extends string, Row extends Cells<Name>, Total>(
	{ group, data, total }: { group: readonly Name[]; data: readonly Row[]; total: Total },
	figures: readonly (readonly [name: string, of: (row: Row | Total) => string | number])[],
	nothing: (name: Name) => string,
): void {
	const cellsOf = (row: Cells<Name>) => group.map((name) => row[name] ?? nothing(name));
	const rows = data.map((row) => [...cellsOf(row), ...figures.map(([, of]) => of(row))]);
	const last = [...group.map((_, at) => (at === 0 ? "total" : "")), ...figures.map(([, of]) => of(total))];
	printTable([...group, ...figures.map(([name]) => name)], [...rows, last]);
}
