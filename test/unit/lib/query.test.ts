import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseQuery } from "../../../src/lib/query.ts";

/** What the standard's parser makes of a query, the first of a repeated parameter counting. */
function standard(search: string): Record<string, string> {
	const first: [string, string][] = [];
	for (const [name, value] of new URLSearchParams(`&${search}`)) if (!first.some(([known]) => known === name)) first.push([name, value]);
	return Object.fromEntries(first);
}

describe("unit: parseQuery", () => {
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
		expect(Object.fromEntries(parseQuery(search))).toEqual(standard(search));
	});

	it("reads anything as the standard does", () => {
		const piece = fc.oneof(
			fc.constantFrom("&", "=", "+", "%", "%2", "%20", "%C3%A9", "%C3", "a", "?", "#"),
			fc.string({ unit: "binary", maxLength: 3 }),
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
				const search = pieces.join("");
				expect(Object.fromEntries(parseQuery(search))).toEqual(standard(search));
			}),
			{ numRuns: 3_000 },
		);
	});
});
