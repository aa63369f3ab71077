import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPathAt, pathStartOf, searchAt } from "../../../src/lib/request-url.ts";

/** Whether a URL's path is `/click`, or with `below` lies under it. */
function isClick(url: string, below: boolean): boolean {
	return isPathAt(url, pathStartOf(url), "/click", below);
}

describe("unit: the path of a request before any router", () => {
	it("the path begins behind the host, with a port or without", () => {
		for (const url of ["https://a.example/x/y?z=/", "http://a.example:8787/", "http://[::1]:80/x"]) {
			expect(url.slice(pathStartOf(url)).startsWith(new URL(url).pathname)).toBe(true);
		}
	});

	it.each(["/click", "/click?a=b", "/click#a"])("%s is the path, whether what is below counts or not", (rest) => {
		expect(isClick(`https://a.example${rest}`, false)).toBe(true);
		expect(isClick(`https://a.example${rest}`, true)).toBe(true);
	});

	it.each(["/click/", "/click/a?b"])("%s is below it", (rest) => {
		expect(isClick(`https://a.example${rest}`, false)).toBe(false);
		expect(isClick(`https://a.example${rest}`, true)).toBe(true);
	});

	it.each(["/clicks", "/a/click", "/?/click", "/"])("%s is another's", (rest) => {
		expect(isClick(`https://a.example${rest}`, true)).toBe(false);
	});

	it("a query goes from its mark to the fragment or the end", () => {
		fc.assert(
			fc.property(fc.webQueryParameters(), fc.option(fc.webFragments()), (query, fragment) => {
				const url = `https://a.example/click?${query}${fragment === null ? "" : `#${fragment}`}`;
				expect(searchAt(url, url.indexOf("?"))).toBe(query);
			}),
		);
	});

	it("where a fragment stands in the mark's place there is no query", () => {
		expect(searchAt("https://a.example/click#a?b=c", "https://a.example/click".length)).toBe("");
	});
});
