/** No file of code is longer than one reads in a sitting: what is longer has two jobs. Tables of data are as long as they are. */
import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const MOST_LINES = 300;
const TABLES = ["scripts/checks/parts/map.ts", "scripts/mutate/faults/*.ts"];

/** Of a text, which ends with a line feed. */
function countLines(text: string): number {
	return text.split("\n").length - 1;
}

describe("unit: files of src/ and scripts/", () => {
	it(`have at most ${MOST_LINES} lines`, () => {
		const files = globSync("{src,scripts}/**/*.{ts,tsx,mjs,css}", { exclude: TABLES });
		const lines = files.map((file) => ({ file, lines: countLines(readFileSync(file, "utf8")) }));
		expect(lines.filter((each) => each.lines > MOST_LINES)).toEqual([]);
		expect(lines.length).toBeGreaterThan(1_000);
	});
});
