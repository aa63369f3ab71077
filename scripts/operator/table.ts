/** Prints rows under their names: texts to the left, numbers and amounts to the right. */
export function printTable(names: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
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
