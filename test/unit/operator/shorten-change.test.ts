import { describe, expect, it } from "vitest";
import { shortenBoth } from "../../../src/operator/network/shorten-change.ts";

const MOST = 500;
const keywords = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`keyword ${String(at).padStart(3, "0")}`, "0.1000"]));

function both(before: unknown, after: unknown): [before: unknown, after: unknown] {
	return shortenBoth(before, after, MOST);
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
		expect(both({ ...numbers, zzz: "900.0000" }, keywords)[0]).toMatch(/^\{"zzz":"900.0000","0":/);
		expect(both({ ...keywords, zzz: "900.0000" }, undefined)[0]).toMatch(/^\{"zzz":"900.0000",/);
	});

	it("of a list that is only in another order is what follows from the first place that differs", () => {
		const list = Array.from({ length: 100 }, (_, at) => `member ${at}`);
		const [first, second, ...rest] = list;
		const [before, after] = both(list, [...list.slice(0, 97), "member 99", "member 97", "member 98"]);
		expect([before, after]).toEqual(['[…,"member 97","member 98","member 99"]…', '[…,"member 99","member 97","member 98"]…']);
		expect(both({ cats: list }, { cats: [second, first, ...rest] })).toEqual([
			expect.stringMatching(/^\{"cats":\["member 0","member 1",/),
			expect.stringMatching(/^\{"cats":\["member 1","member 0",/),
		]);
	});

	it("is cut between characters", () => {
		expect(both("🙂".repeat(300), null)[0]).toBe(`"${"🙂".repeat(249)}\ufffd…`);
	});

	it("of a text is where it begins to differ", () => {
		const link = `https://platform.example/${"a".repeat(MOST)}?to=`;
		expect(both(`${link}shoes`, `${link}evil`)).toEqual([`"…${link.slice(-20)}shoes"…`, `"…${link.slice(-20)}evil"…`]);
	});

	it("stays whole where neither is long, and where there is nothing to compare but its length it is cut", () => {
		expect(both({ a: 1, b: 2 }, { a: 1 })).toEqual([{ a: 1, b: 2 }, { a: 1 }]);
		expect(both(null, false)).toEqual([null, false]);
		expect(both("x".repeat(600), null)).toEqual([`"${"x".repeat(499)}…`, null]);
	});

	it("names like those of any object are names", () => {
		const long = { ...keywords, constructor: "1.0000" };
		expect(both(long, keywords)).toEqual(['{"constructor":"1.0000"}…', "{}…"]);
	});
});
