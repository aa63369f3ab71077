import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalKeyword } from "../../../src/lib/keyword.ts";

describe("unit: canonicalKeyword", () => {
	test.each([
		["running shoes", "running shoes"],
		["  Running   SHOES ", "running shoes"],
		["running\tshoes\n", "running shoes"],
		["running\u00a0shoes", "running shoes"],
		["running\u0000shoes", "running shoes"],
		["ＲＵＮＮＩＮＧ shoes", "running shoes"],
		["Cafe\u0301", "café"],
		["CAFÉ", "café"],
		["ﬁne", "fine"],
		["42", "42"],
		["c++ & c#", "c++ & c#"],
	])("%j is looked up as %j", (input, keyword) => {
		expect(canonicalKeyword(input)).toBe(keyword);
	});

	test.each(["", " ", "\t\n", "\u0000", "\u00a0\u3000"])("%j is no keyword", (input) => {
		expect(canonicalKeyword(input)).toBeNull();
	});

	test("a keyword of any length is one: it prices a domain's bid like any other", () => {
		expect(canonicalKeyword(` ${"K".repeat(1_000)}  `)).toBe("k".repeat(1_000));
	});

	test("one of thousands of marks that combine is no work: it is not normalised", () => {
		const text = `a${"\u0301\u0316".repeat(130_000)}`;
		expect(canonicalKeyword(` ${text} `)).toBe(text);
		expect(canonicalKeyword(`Running${" ".repeat(5_000)}shoes`)).toBe("running shoes");
	});

	test("more marks in a row than any script has are no work either", () => {
		const text = `A${"\u0301\u0316".repeat(500)}`;
		expect(canonicalKeyword(` ${text} `)).toBe(text);
		expect(canonicalKeyword(`${"e\u0301".repeat(30)} x`)).toBe(`${"é".repeat(30)} x`);
		expect(canonicalKeyword(`E${"\u0316".repeat(29)}\u0301`)).toBe(`é${"\u0316".repeat(29)}`);
	});

	test("blanks are looked for around one of any length, but not within it", () => {
		expect(canonicalKeyword(`${" ".repeat(100_000)}Boots${" ".repeat(100_000)}`)).toBe("boots");
		const text = `a${" \u3000b".repeat(50_000)}`;
		expect(canonicalKeyword(` ${text} `)).toBe(text);
	});

	test("lone surrogates do not break it", () => {
		expect(canonicalKeyword("a\ud800b")).toBe("a\ufffdb");
	});

	test("is canonical: once more changes nothing, and neither do case and spaces", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), (text) => {
				const keyword = canonicalKeyword(text);
				if (keyword === null) return;
				expect(canonicalKeyword(keyword)).toBe(keyword);
				expect(canonicalKeyword(`  ${text.replaceAll(" ", "   ")} `)).toBe(keyword);
			}),
			{ numRuns: 2_000 },
		);
	});

	test.each(["İ\u3099", "İ\u0323x", "ŉ\u0345", "ΑΣ Σ"])("is canonical where the lower case composes anew: %j", (text) => {
		const keyword = canonicalKeyword(text) ?? "";
		expect(canonicalKeyword(keyword)).toBe(keyword);
	});

	test("is canonical for every single character", () => {
		const unstable: string[] = [];
		for (let code = 0; code <= 0x10ffff; code++) {
			const text = `a${String.fromCodePoint(code)}b`;
			const once = canonicalKeyword(text);
			if (once !== null && once !== text && canonicalKeyword(once) !== once) unstable.push(code.toString(16));
		}
		expect(unstable).toEqual([]);
	});

	test("holds no character that could end or split an entry of the campaign book", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), (text) => {
				// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
				expect(canonicalKeyword(text) ?? "").not.toMatch(/[\u0000-\u001f\u007f-\u009f\ud800-\udfff]/u);
			}),
			{ numRuns: 1_000 },
		);
	});
});
