import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expressionsOf, facetOf, matchOf, titleOf, wordsOf } from "../../../src/products/search-terms.ts";

describe("unit: words of a search", () => {
	it("are runs of letters and digits of any script, each once, at most 32", () => {
		expect(wordsOf("T-Shirt, t SHIRT (blue) 😀")).toEqual(["t", "shirt", "blue"]);
		expect(wordsOf("日本語 обувь हिन्दी e\u0301")).toEqual(["日本語", "обувь", "हिन्दी", "e\u0301"]);
		expect(wordsOf(' "!* \u0000')).toEqual([]);
		expect(wordsOf("Women's BOSS'S men’s M&M's 's")).toEqual(["womens", "boss", "mens", "m", "s"]);
		expect(wordsOf(Array.from({ length: 50 }, (_, at) => `w${at}`).join(" "))).toHaveLength(32);
	});
});

describe("unit: expressions of a search", () => {
	it("ask for all words with the last as a beginning, then spelt otherwise, then looser, then for any", () => {
		expect(expressionsOf(["blue", "runn"])).toEqual([
			'"blue" AND ("runn" OR "runn" *)',
			'("blue" OR "b lue" OR "bl ue" OR "blu e" OR "bluerunn") AND (("runn" OR "runn" *) OR "r unn" OR "ru nn" OR "run n" OR "bluerunn")',
			'"blue" AND (("runn" OR "runn" *) OR "run")',
			'("blue" OR ("runn" OR "runn" *))',
		]);
	});

	it("ask for no filler, which counts where it is, but where there is nothing else", () => {
		expect(expressionsOf(["gown", "for", "x"]).slice(0, 1)).toEqual(['"gown" AND "x" AND ("gown" OR "for")']);
		expect(expressionsOf(["gown", "for", "x"]).at(-1)).toBe('("gown" OR "x")');
		expect(expressionsOf(["the", "headph"])[0]).toBe('("headph" OR "headph" *) AND (("headph" OR "headph" *) OR "the")');
		expect(expressionsOf(["hair", "con"])[0]).toBe('("hair" OR "hair" *) AND (("hair" OR "hair" *) OR ("con" OR "con" *))');
		expect(expressionsOf(["the", "for"])[0]).toBe('"the" AND ("for" OR "for" *)');
	});

	it("take a word for two between its letters, marks and all, where it is not too long", () => {
		expect(expressionsOf(["a\u0301b9"])[1]).toBe('(("a\u0301b9" OR "a\u0301b9" *) OR "a\u0301 b9" OR "a\u0301b 9")');
		expect(expressionsOf(["b".repeat(25)])).toHaveLength(2);
	});

	it("do not take a word with an ending for a beginning at first", () => {
		expect(expressionsOf(["bus"])[0]).toBe('"bus"');
		expect(expressionsOf(["glass"])[0]).toBe('("glass" OR "glass" * OR "glaß" OR "glaß" *)');
		expect(expressionsOf(["b"])[0]).toBe('"b"');
	});

	it("spell `ß` as `ss`, and the other way round: letter case would tell them apart", () => {
		expect(expressionsOf(["größe", "grösse", "x"])[0]).toBe('("größe" OR "grösse") AND ("grösse" OR "größe") AND "x"');
		expect(expressionsOf(["weiß"])[0]).toBe('("weiß" OR "weiß" * OR "weiss" OR "weiss" *)');
	});

	it("hold nothing of the text but quoted words", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary", maxLength: 80 }), (text) => {
				for (const expression of expressionsOf(wordsOf(text))) {
					const outside = expression.replaceAll(/"[\p{L}\p{N}\p{M}\p{Co}]+(?: [\p{L}\p{N}\p{M}\p{Co}]+)?"/gu, "");
					expect(outside).toMatch(/^(?:[ ()*]|AND|OR)*$/);
				}
				expect(titleOf(text)?.begins ?? '^ ""').toMatch(/^\^ "[\p{L}\p{N}\p{M}\p{Co} ]*"$/u);
			}),
		);
	});
});

describe("unit: title of a search", () => {
	it("is all of its words, repeated ones too, and hardly more than its length", () => {
		expect(titleOf(" New York, new york! ")).toEqual({ begins: '^ "New York new york"', maxLength: 21 });
		expect(titleOf("!")).toBeNull();
	});
});

describe("unit: facets", () => {
	it("are one word whatever the value, without the letter case of ASCII", () => {
		expect(facetOf("domain", "a.b")).toBe('"d612E620"');
		expect(facetOf("seller_name", "ABÉ")).toBe('"n6162C3890"');
		fc.assert(fc.property(fc.string({ unit: "grapheme" }), (value) => /^"i[0-9A-F]*0"$/.test(facetOf("seller_id", value))));
	});

	it("stand beside the text, which is looked for in text columns alone", () => {
		expect(matchOf(["name", "brand"], '"x"', [['"d1"', '"d2"']])).toBe('{name brand} : ("x") AND facets : ("d1" OR "d2")');
		expect(matchOf(["name"], null, [['"i1"']])).toBe('facets : ("i1")');
	});
});
