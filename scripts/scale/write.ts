/** How figures and tables of the page are written. */

/** Three significant digits below a thousand, whole numbers of three above: what is computed from assumptions is no more exact. */
export function writeNumber(value: number): string {
	if (value === Number.POSITIVE_INFINITY) return "never";
	if (value === 0) return "0";
	return Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/** What is not computed, as it stands in the assumptions. */
export function writeExactly(value: number): string {
	return value.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/** Cents below ten dollars, whole dollars of three digits above. */
export function writeDollars(value: number): string {
	if (value < 10) return value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
	return Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** A Markdown table. A heading that begins with `>` is of a column of figures. */
export function writeTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
	return [
		line(headings.map((heading) => heading.replace(/^>/, ""))),
		`|${headings.map((heading) => (heading.startsWith(">") ? "---:" : "---")).join("|")}|`,
		...rows.map(line),
	].join("\n");
}
