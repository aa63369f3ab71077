import { describe, expect, it } from "vitest";
import { findLookAlike, foldName, isDisguised } from "../../../src/lib/names.ts";

describe("unit: names that look like another's", () => {
	it.each([
		"ada\u200b",
		"a\u202eda",
		"ada\ufeff",
		"a\u00adda",
		"ada\u3164",
		"\u115fada",
		"a\u0000da",
		"\u0430da",
		"oper\u03b1tor",
		"Ivan \u0418van",
		"ad1\u0430",
	])("%j is disguised", (name) => {
		expect(isDisguised(name)).toBe(true);
	});

	it.each(["Ada L.", "Zoë O'Brien", "Иван Ivan", "Ада", "Άννα", "李小龍", "أحمد", "김철수", "ada@example.com", "ci-bot_2"])(
		"%j is none",
		(name) => {
			expect(isDisguised(name)).toBe(false);
		},
	);

	it.each([
		["ADA", "ada"],
		["ａｄａ", "ada"],
		["Ada  L.", "ada l."],
		["O’Brien", "o'brien"],
		["Straße", "strasse"],
		["ﬁn", "FIN"],
		["e\u0301va", "éva"],
	])("%j and %j are the same to look at", (one, other) => {
		expect(foldName(one)).toBe(foldName(other));
		expect(findLookAlike(one, ["bob", other])).toBe(other);
	});

	it("a name that is there itself is no look-alike, and another name is none", () => {
		expect(findLookAlike("Ada", ["ada", "Ada"])).toBeUndefined();
		expect(findLookAlike("Ada M.", ["ada"])).toBeUndefined();
	});
});
