import type { Figure } from "./figure.ts";

const VERDICTS = new Map<boolean | null, string>([
	[true, "holds"],
	[false, "DOES NOT HOLD"],
	[null, ""],
]);

/** The figures as a Markdown table with aligned columns, which reads as well on a screen. */
export function writeTable(figures: readonly Figure[]): string {
	const rows = [
		["figure", "value", "unit", "bar", ""],
		...figures.map(({ name, value, unit, bar, holds }) => [name, writeNumber(value), unit, bar ?? "", VERDICTS.get(holds) ?? ""]),
	];
	const widths = rows[0]?.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0))) ?? [];
	const write = (cells: readonly string[]) =>
		`| ${cells.map((cell, at) => (at === 1 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join(" | ")} |`;
	const rule = `|${widths.map((width, at) => (at === 1 ? `${"-".repeat(width + 1)}:` : "-".repeat(width + 2))).join("|")}|`;
	const [head = [], ...body] = rows;
	return [write(head), rule, ...body.map(write)].join("\n");
}

function writeNumber(value: number): string {
	return value.toLocaleString("en-US", { maximumFractionDigits: Math.abs(value) < 10 ? 4 : 2 });
}
