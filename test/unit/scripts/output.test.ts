import { describe, expect, it } from "vitest";
import { escapeControls } from "../../../scripts/local/output.ts";

describe("unit: what commands print", () => {
	it.each([
		["an escape sequence", "a\u001b[2J", "a\\u001b[2J"],
		["its form of one character", "a\u009b31m", "a\\u009b31m"],
		["a return, which overwrites a line", "paid\rfree", "paid\\u000dfree"],
		["an order of letters turned around", "a\u202eb", "a\\u202eb"],
	])("%s is shown, not obeyed", (_, text, shown) => {
		expect(escapeControls(text)).toBe(shown);
	});

	it("lines, tabs and letters of any script stay", () => {
		const text = "a\n\tbé ¥ 日本 שלום 👍";
		expect(escapeControls(text)).toBe(text);
	});

	it("JSON means the same", () => {
		const value = { text: "\u0000\u001b\u007f\u009b\u202e\n" };
		expect(JSON.parse(escapeControls(JSON.stringify(value, null, "\t")))).toEqual(value);
	});
});
