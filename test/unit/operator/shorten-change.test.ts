import { describe, expect, it } from "vitest";
import { shortenBeside } from "../../../src/operator/network/shorten-change.ts";

const MOST = 500;
const keywords = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`keyword ${String(at).padStart(3, "0")}`, "0.1000"]));

function both(before: unknown, after: unknown): [before: unknown, after: unknown] {
	return [shortenBeside(before, after, MOST), shortenBeside(after, before, MOST)];
}

describe("unit: a long value beside the one that it was", () => {
	it("is what differs of it, wherever that stands", () => {
		expect(both(keywords, { ...keywords, "keyword 099": "900.0000", zzz: "1.0000" })).toEqual([
			'{"keyword 099":"0.1000"}…',
			'{"keyword 099":"900.0000","zzz":"1.0000"}…',
		]);
		expect(both({ modes: keywords, asns: [1] }, { modes: keywords, asns: [1, 2] })).toEqual(['{"asns":[]}…', '{"asns":[2]}…']);
		const blocks = Object.keys(keywords).map((domain) => ({ domain }));
		expect(both(blocks, blocks.slice(0, -1))).toEqual(['[{"domain":"keyword 099"}]…', "[]…"]);
		expect(both(["a", "a", "b".repeat(MOST)], ["a", "b".repeat(MOST)])).toEqual(['["a"]…', "[]…"]);
	});

	it("has the amounts first that moved furthest, of a new entry the highest", () => {
		const raised = Object.fromEntries(Object.keys(keywords).map((keyword) => [keyword, "0.2000"]));
		const [before, after] = both(keywords, { ...raised, "keyword 099": "900.0000" });
		expect(before).toMatch(/^\{"keyword 099":"0.1000",/);
		expect(after).toMatch(/^\{"keyword 099":"900.0000",.{400,}…$/);
		const numbers = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [String(at), "0.2000"]));
		expect(shortenBeside({ ...numbers, zzz: "900.0000" }, keywords, MOST)).toMatch(/^\{"zzz":"900.0000","0":/);
		expect(shortenBeside({ ...keywords, zzz: "900.0000" }, undefined, MOST)).toMatch(/^\{"zzz":"900.0000",/);
	});

	it("of a text is where it begins to differ", () => {
		const link = `https://platform.example/${"a".repeat(MOST)}?to=`;
		expect(both(`${link}shoes`, `${link}evil`)).toEqual([`"…${link.slice(-20)}shoes"…`, `"…${link.slice(-20)}evil"…`]);
	});

	it("stays whole where neither is long, and where there is nothing to compare but its length it is cut", () => {
		expect(both({ a: 1, b: 2 }, { a: 1 })).toEqual([{ a: 1, b: 2 }, { a: 1 }]);
		expect(both(null, false)).toEqual([null, false]);
		expect(shortenBeside("x".repeat(600), null, MOST)).toBe(`"${"x".repeat(499)}…`);
	});

	it("names like those of any object are names", () => {
		const long = { ...keywords, constructor: "1.0000" };
		expect(both(long, keywords)).toEqual(['{"constructor":"1.0000"}…', "{}…"]);
	});
});
