/** The tables in memory that the learner of `npm run backtest` reads. */
import { describe, expect, it } from "vitest";
import { MemoryLedger } from "../../../scripts/backtest/memory-ledger.ts";
import { OTHER_SOURCES } from "../../../src/learning/cell.ts";
import { IDLE_DAYS, MAX_SOURCES } from "../../../src/learning/sources.ts";
import { DAY_MS } from "../../../src/lib/time.ts";

const DAY = 20_454;

function terms(id: string) {
	return { id, platform: "p", epcMicros: 1_000_000, defaultKeywordEpcMicros: null, keywordEpcMicros: new Map<string, number>() };
}

function clickOf(source: string, campaign = "a", publisher = "cpa") {
	return { at: DAY * DAY_MS, campaign: terms(campaign), publisher, source, keyword: "", link: "homepage", paidMicros: 1 } as const;
}

/** All cells' clicks, by source. */
function clicksOf(ledger: MemoryLedger, campaign = "a"): Record<string, number> {
	return Object.fromEntries(
		[...(ledger.cells.get(campaign)?.values() ?? [])].map(({ cell, clicks }) => [
			cell.source,
			clicks.reduce((sum, row) => sum + row.clicks, 0),
		]),
	);
}

describe("unit: idle sources of the ledger in memory", () => {
	it("join the others in one pass over the cells, however many they are", () => {
		const ledger = new MemoryLedger();
		ledger.beginDay(DAY);
		for (const publisher of ["cpa", "cpc"])
			for (let at = 0; at < MAX_SOURCES; at++) ledger.addClick(`${publisher} ${at}`, clickOf(`s${at}`, "a", publisher));
		ledger.addWord("t", "cpa 7", { at: DAY * DAY_MS, status: "approved", payoutMicros: 5 });
		const cells = ledger.cells.get("a") ?? new Map();
		let passes = 0;
		const entries = cells[Symbol.iterator].bind(cells);
		cells[Symbol.iterator] = () => {
			passes++;
			return entries();
		};
		ledger.beginDay(DAY + IDLE_DAYS + 1);
		expect(passes).toBeLessThanOrEqual(2);
		const others = [...cells.values()];
		expect(others.map(({ cell }) => [cell.publisher, cell.source])).toEqual([
			["cpa", OTHER_SOURCES],
			["cpc", OTHER_SOURCES],
		]);
		expect(others.map(({ clicks }) => clicks.length)).toEqual([MAX_SOURCES, MAX_SOURCES]);
		// A sale of one of their clicks that is taken back finds the row that it is in.
		ledger.addWord("t", "cpa 7", { at: DAY * DAY_MS + 1, status: "cancelled", payoutMicros: 5 });
		expect(others[0].earnings).toEqual([{ day: DAY, sizeClass: expect.any(Number), conversions: 0, netMicros: 0 }]);
	});

	it("one that has the others' name stays, with its rows as they were", () => {
		const ledger = new MemoryLedger();
		ledger.beginDay(DAY);
		ledger.addClick("first", clickOf(OTHER_SOURCES));
		for (let at = 1; at < MAX_SOURCES; at++) ledger.addClick(`c${at}`, clickOf(`s${at}`));
		ledger.beginDay(DAY + IDLE_DAYS + 1);
		expect(clicksOf(ledger)).toEqual({ [OTHER_SOURCES]: MAX_SOURCES });
	});
});
