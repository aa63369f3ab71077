import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPlaceholder } from "../../../src/lib/placeholder.ts";

const wraps: [open: string, close: string][] = [
	["{", "}"],
	["{{", "}}"],
	["${", "}"],
	["#{", "}"],
	["%{", "}"],
	["[", "]"],
	["[[[", "]]]"],
	["<", ">"],
	["##", "##"],
	["#", "#"],
	["%", "%"],
	["%%", "%%"],
	["__", "__"],
	["!!!", "!!!"],
	["$", "$"],
	["@@", "@@"],
	["@", "@"],
	["~", "~"],
	["*|", "|*"],
	["$$", "$$"],
	["$(", ")"],
	["$[", "]"],
	["%(", ")s"],
	["{$", "}"],
	["{%", "%}"],
	["{!", "}"],
	["{[", "]}"],
	["[%", "%]"],
	["<%", "%>"],
	["<%=", "%>"],
];
const names = ["x", "clickid", "CLICK_ID", "click-id", "aff_sub.1", "affid", "decade", "sub id 1", "ext:sub1"];

describe("unit: unfilled placeholders", () => {
	for (const [open, close] of wraps) {
		test(`${open}x${close} is one, raw and percent-encoded once or twice`, () => {
			for (const name of names) {
				const text = `${open}${name}${close}`;
				expect([text, isPlaceholder(text)]).toEqual([text, true]);
				expect([text, isPlaceholder(` ${text} `)]).toEqual([text, true]);
				const encoded = encodeURIComponent(text);
				expect([encoded, isPlaceholder(encoded)]).toEqual([encoded, true]);
				expect([encoded, isPlaceholder(encoded.toLowerCase())]).toEqual([encoded, true]);
				expect([encoded, isPlaceholder(encodeURIComponent(encoded))]).toEqual([encoded, true]);
			}
		});
	}

	test("spaces inside the braces are allowed", () => {
		expect(isPlaceholder("{{ clickid }}")).toBe(true);
	});

	test.each([
		"",
		"abc",
		"0",
		"click_id",
		"{",
		"{}",
		"[]",
		"%%",
		"____",
		"$5",
		"$5$",
		"#1",
		"[123]",
		"(none)",
		"(not set)",
		"~5~",
		"~",
		"~/shop",
		"*",
		"@shop",
		"$(5)",
		"{5}",
		"%20",
		"%2",
		"a{x}",
		"{x}b",
		"_abc_",
		"x__y",
		'{"a":1}',
		"{3F2504E0-4F89-11D3-9A0C-0305E82C3301}",
		"{af2504e0-4f89-11d3-9a0c-0305e82c3301}",
		"<x",
		"%D0%B0%D0%B1",
	])("%j is a value", (text) => {
		expect(isPlaceholder(text)).toBe(false);
	});

	test("property: letters and digits are never one, and nothing makes it throw or take long", () => {
		fc.assert(fc.property(fc.stringMatching(/^[A-Za-z0-9-]*$/), (text) => !isPlaceholder(text)));
		fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => typeof isPlaceholder(text) === "boolean"));
		for (const wall of ["{".repeat(100_000), "%25".repeat(50_000), "__".repeat(140), `[${"a ".repeat(149)}`])
			expect(isPlaceholder(wall)).toBe(false);
	});
});
