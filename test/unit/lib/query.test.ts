import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Query } from "../../../src/lib/query.ts";

/** Every parameter that the standard finds, as Query gives it. */
function read(search: string): Record<string, string | null> {
	const query = new Query(search);
	return Object.fromEntries(Object.keys(standard(search)).map((name) => [name, query.get(name)]));
}

/** What no endpoint calls a parameter, and Query does not look for. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them
const OF_NO_NAME = /[^\u0000-\u007f]|%/;

/** What the standard's parser makes of a query, the first of a repeated parameter counting. */
function standard(search: string): Record<string, string> {
	const first: [string, string][] = [];
	for (const [name, value] of new URLSearchParams(`&${search}`)) {
		if (!OF_NO_NAME.test(name) && !first.some(([known]) => known === name)) first.push([name, value]);
	}
	return Object.fromEntries(first);
}

describe("unit: Query", () => {
	it.each([
		"",
		"a=1",
		"a=1&b=2",
		"a",
		"a=",
		"=a",
		"=",
		"&&a=1&",
		"a=1&a=2",
		"a=b=c",
		"a+b=c+d",
		"a=%20%2B",
		"a=%",
		"a=%zz&b=%4",
		"%61=1",
		"a=%E2%82",
		"a=\ud800",
	])("%j is read as the standard does", (search) => {
		expect(read(search)).toEqual(standard(search));
	});

	it("reads anything as the standard does", () => {
		const piece = fc.oneof(
			fc.constantFrom("&", "=", "+", "%", "%2", "%20", "%C3%A9", "%C3", "a", "?", "#"),
			fc.string({ unit: "binary", maxLength: 3 }),
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
				const search = pieces.join("");
				expect(read(search)).toEqual(standard(search));
			}),
			{ numRuns: 3_000 },
		);
	});

	it.each(["+", "%", "%zz", "%61+", "ü", "\ud800"])("reads long values of %j as the standard does", (unit) => {
		const search = `a=${unit.repeat(5_000)}&b=1`;
		expect(read(search)).toEqual(standard(search));
	});

	it("looks at 100 parameters, empty ones not counted, and at no more", () => {
		const query = (before: number) => new Query(`${"&".repeat(500)}${"&%=x".repeat(before)}&a=1`);
		expect([query(99).get("a"), query(100).get("a")]).toEqual(["1", null]);
	});

	it("has no parameter that is not there", () => {
		expect(new Query("a=1&b").get("c")).toBeNull();
		expect(new Query("").get("")).toBeNull();
	});
});
