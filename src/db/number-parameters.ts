/** Parameters as SQLite writes them (`?`, `?1`), as PostgreSQL wants them (`$1`). */

/** What a parameter may stand in, and what it may not: literals, quoted names and comments go as they are. */
const PARTS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?(\d+)?/g;

/** @param text with numbered parameters, or with unnumbered ones, not both */
export function numberParameters(text: string): string {
	let last = 0;
	return text.replace(PARTS, (part: string, number: string | undefined) => {
		if (!part.startsWith("?")) return part;
		last += 1;
		return `$${number ?? last}`;
	});
}
