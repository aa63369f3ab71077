import { describe, expect, it } from "vitest";
import { MAX_LISTED } from "../../../src/operator/network/listed.ts";
import { PriceMoves } from "../../../src/operator/network/price-moves.ts";

function epcMoves(moves: PriceMoves, id: number, before: string, after: string): void {
	moves.add("campaigns", String(id), ["epc"], { epc: before }, { epc: after });
}

function keywords(count: number, price: string): Record<string, string> {
	return Object.fromEntries(Array.from({ length: count }, (_, at) => [`keyword ${at}`, price]));
}

function addKeywords(moves: PriceMoves, id: string, before: object, after: object, others: object = { epc: "0.4000" }): void {
	moves.add("campaigns", id, ["keyword_epc"], { ...others, keyword_epc: before }, { ...others, keyword_epc: after });
}

describe("unit: prices that an import moves far", () => {
	it("of many are those that moved furthest, as they came", () => {
		const moves = new PriceMoves();
		for (let at = 0; at < 2_000; at++) epcMoves(moves, at, "0.1000", at % 19 === 0 ? "900.0000" : "0.3000");
		const listed = moves.items.map(({ id }) => Number(id));
		expect([moves.count, listed.length]).toEqual([2_000, MAX_LISTED]);
		expect(listed).toEqual(Array.from({ length: MAX_LISTED }, (_, at) => at * 19));
	});

	it("are listed evenly of sections, and of each campaign the furthest before others of one with many", () => {
		const moves = new PriceMoves();
		addKeywords(moves, "1", {}, keywords(2_000, "900.0000"));
		epcMoves(moves, 2, "0.1000", "0.3000");
		addKeywords(moves, "3", {}, { ...keywords(1_000, "1.0000"), dear: "2.0000" });
		for (let at = 0; at < 30; at++) moves.add("publishers", `p${at}`, ["revenue_share"], { revenue_share: 0.2 }, { revenue_share: 0.9 });
		expect([moves.count, moves.items.length]).toEqual([3_032, MAX_LISTED]);
		const of = (id: string) => moves.items.filter((move) => move.id === id);
		expect(of("2")).toHaveLength(1);
		expect(of("3")).toContainEqual({ section: "campaigns", id: "3", field: "keyword_epc.dear", before: "0.4000", after: "2.0000" });
		expect([of("1").length, of("3").length]).toEqual([35, 34]);
		expect(moves.items.filter(({ section }) => section === "publishers")).toHaveLength(30);
	});

	it("from nothing are further the more they come to, and to the double is not far", () => {
		const moves = new PriceMoves();
		for (let at = 0; at < 150; at++) epcMoves(moves, at, "0.0000", at === 149 ? "900.0000" : "0.0100");
		expect(moves.items.map(({ id }) => id)).toContain("149");
		epcMoves(moves, 150, "0.2000", "0.4000");
		epcMoves(moves, 151, "0.0000", "0.0000");
		moves.add("campaigns", "152", ["epc"], { epc: null }, { epc: "9.0000" });
		expect(moves.count).toBe(150);
	});

	it("of keywords are from and to the price of others where they have none, by names like those of any object, too", () => {
		const moves = new PriceMoves();
		const names = { constructor: "9.0000" };
		addKeywords(moves, "1", names, {}, { epc: "0.4000", default_keyword_epc: "0.3000" });
		addKeywords(moves, "2", {}, { ...names, near: "0.5000" });
		addKeywords(moves, "3", {}, names, { epc: null });
		expect(moves.items.map(({ id, field, before, after }) => [id, field, before, after])).toEqual([
			["1", "keyword_epc.constructor", "9.0000", "0.3000"],
			["2", "keyword_epc.constructor", "0.4000", "9.0000"],
		]);
	});
});
