/** CSV of reports: RFC 4180, nothing that a spreadsheet would run, and read back as docs/reports.md tells publishers. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import Papa from "papaparse";
import { describe, expect, it } from "vitest";
import { writeCsv } from "../../../src/reports/csv.ts";

/** As RFC 4180 has it: by commas, and not by whatever the text has most of. */
const cellOf = (text: string) => (Papa.parse<string[]>(writeCsv(["a", "b"], [{ a: "x", b: text }]), { delimiter: "," }).data[1] ?? [])[1];

const [, code = ""] = /```js\n([\s\S]*?)```/.exec(readFileSync("docs/reports.md", "utf8")) ?? [];
const { textOf } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { textOf: (cell: string) => string };

describe("unit: reports as CSV", () => {
	it("has a header, a line a record, and CRLF behind each", () => {
		const records = [
			{ date: "2026-11-01", click_count: 3, revenue: "1.5000" },
			{ date: "2026-11-02", user_id: null, click_count: 0 },
		];
		expect(writeCsv(["date", "user_id", "click_count", "revenue"], records)).toBe(
			"date,user_id,click_count,revenue\r\n2026-11-01,,3,1.5000\r\n2026-11-02,,0,\r\n",
		);
	});

	it("without records is the header alone", () => {
		expect(writeCsv(["a", "b"], [])).toBe("a,b\r\n");
	});

	it("quotes commas, quotes and line breaks", () => {
		expect(writeCsv(["a"], [{ a: 'x,"y"\r\nz' }])).toBe('a\r\n"x,""y""\r\nz"\r\n');
	});

	it("quotes what another separator would cut in two", () => {
		expect(writeCsv(["a", "b"], [{ a: "ok;=1+1", b: "ok\t=1+1" }])).toBe('a,b\r\n"ok;=1+1","ok\t=1+1"\r\n');
	});

	it.each([
		"=1+1",
		"+1+1",
		"-1+1",
		"@SUM(A1)",
		"\t=1",
		"\r=1",
		"\n=1",
		"  =1",
		"＝1+1",
		"－2+3",
		'=HYPERLINK("https://evil.example","x")',
		"-",
		"-1.5.2",
	])("makes text of %j", (text) => {
		expect(cellOf(text)).toBe(`'${text}`);
	});

	it.each(["-12.5000", "-3", "12.5000", "a=b", "2026-11-01", "x-y", ""])("leaves %j as it is", (text) => {
		expect(cellOf(text)).toBe(text);
	});

	it.each(["\t\t", ";;;", "a\tb;c|d"])("%j comes back, though other separators are in it", (text) => {
		expect([text, `'${text}`]).toContain(cellOf(text));
	});

	it("any text comes back as it was, or behind an apostrophe", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), (text) => {
				expect([text, `'${text}`]).toContain(cellOf(text));
				expect(/^[=+@\t\r\n]/.test(cellOf(text) ?? "")).toBe(false);
			}),
		);
	});

	it("the guide's code takes the apostrophe off, and no other", () => {
		const sign = fc.constantFrom(..."=+-@＝＋－＠ \t\r\n\u00a0'1.a");
		const text = fc.oneof(
			fc.string({ unit: "binary" }),
			fc.array(sign, { maxLength: 6 }).map((signs) => signs.join("")),
		);
		fc.assert(
			fc.property(text, (text) => {
				const isLikeOurs = text.startsWith("'") && cellOf(text.slice(1)) === text;
				expect(textOf(cellOf(text) ?? "")).toBe(isLikeOurs ? text.slice(1) : text);
			}),
			{ numRuns: 2_000 },
		);
		for (const number of ["-12.5000", "'-12.5000"]) expect(textOf(cellOf(number) ?? "")).toBe(number);
	});
});
