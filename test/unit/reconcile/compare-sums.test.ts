/** What is called a difference of counters and their rows. */
import { describe, expect, test } from "vitest";
import { compareDay, compareTotals, type DayState, type SumRow } from "../../../src/reconcile/compare-sums.ts";

const DAY = "2026-11-01";
const NOTHING: DayState = {
	day: DAY,
	clicks: [],
	publisherConversions: [],
	campaignConversions: [],
	adjustments: [],
	networkClicks: [],
	networkConversions: [],
	areUnpaidGone: false,
	quarters: [],
	clocksChangedAt: new Map(),
	stored: { daily_publishers: [], daily_sources: [], daily_campaigns: [], daily_network: [], campaign_days: [] },
};
const ofClick = (fields: SumRow = {}): SumRow => {
	return { publisherId: "p", sourceId: "s", campaignId: 1, brandId: 2, clickCount: 1, clickRevenueMicros: 100, ...fields };
};
const quarterAt = (time: string, timezone: string, clickCount = 1) => {
	return {
		campaignId: 1,
		timezone,
		quarter: Date.parse(time) / 900_000,
		clickCount,
		spendMicros: 10 * clickCount,
		grossMicros: 20 * clickCount,
	};
};
const shown = (state: Partial<DayState>) =>
	compareDay({ ...NOTHING, ...state }).map(({ counter, column, stored, counted }) => [counter, column, stored, counted]);

describe("unit: comparing a day", () => {
	test("the network's own sums have unpaid clicks too, as long as those are kept", () => {
		const of = (reason: string, clickCount: number): SumRow => ({ campaignId: 1, publisherId: "", kind: "link", reason, clickCount });
		const state = {
			networkClicks: [of("", 2), of("voided", 1)],
			networkConversions: [{ ...of("", 0), cancelledCount: 1 }],
			stored: { ...NOTHING.stored, daily_network: [of("", 2), of("voided", 3), of("bot", 5)] },
		};
		const told = [
			["daily_network", "cancelledCount", 0, 1],
			["daily_network", "clickCount", 3, 1],
		];
		expect(shown({ ...state, areUnpaidGone: true })).toEqual(told);
		expect(shown(state)).toHaveLength(3);
		expect(shown({ ...state, networkClicks: null, areUnpaidGone: true })).toEqual([told[0]]);
	});

	test("groups are added up by each counter's own key, and zeros need no row", () => {
		const state = {
			clicks: [ofClick(), ofClick({ sourceId: "t" }), ofClick({ campaignId: 3 })],
			publisherConversions: [{ ...ofClick(), clickCount: 0, clickRevenueMicros: 0, conversionCount: 0, grossMicros: 0 }],
			stored: {
				daily_publishers: [
					ofClick({ clickCount: 3, clickRevenueMicros: 300 }),
					ofClick({ publisherId: "q", clickCount: 0, clickRevenueMicros: 0 }),
				],
				daily_sources: [ofClick({ clickCount: 2, clickRevenueMicros: 200 }), ofClick({ sourceId: "t" })],
				daily_campaigns: [ofClick({ clickCount: 2, clickRevenueMicros: 200 }), ofClick({ campaignId: 3 })],
				daily_network: [],
				campaign_days: [],
			},
		};
		expect(shown(state)).toEqual([]);
	});

	test("each column that differs is told, with what is stored and what the rows give", () => {
		const stored = { ...NOTHING.stored, daily_sources: [ofClick({ clickCount: 4, clickRevenueMicros: 100 })] };
		expect(shown({ clicks: [ofClick()], stored })).toEqual([
			["daily_publishers", "clickCount", 0, 1],
			["daily_publishers", "clickRevenueMicros", 0, 100],
			["daily_sources", "clickCount", 4, 1],
			["daily_campaigns", "clickCount", 0, 1],
			["daily_campaigns", "clickRevenueMicros", 0, 100],
		]);
	});

	test("conversions count elsewhere for publishers and sources than for campaigns", () => {
		const conversion = (grossMicros: number) => [ofClick({ clickCount: 0, clickRevenueMicros: 0, grossMicros })];
		expect(shown({ publisherConversions: conversion(5), campaignConversions: conversion(7) })).toEqual([
			["daily_publishers", "grossMicros", 0, 5],
			["daily_sources", "grossMicros", 0, 5],
			["daily_campaigns", "grossMicros", 0, 7],
		]);
	});

	test("where clicks are gone, sums of clicks are not compared", () => {
		const stored = { ...NOTHING.stored, daily_publishers: [ofClick({ clickCount: 9, grossMicros: 5, adjustmentMicros: 3 })] };
		const adjustments = [{ publisherId: "p", adjustmentMicros: 4 }];
		expect(shown({ clicks: null, quarters: null, stored, adjustments })).toEqual([
			["daily_publishers", "grossMicros", 5, 0],
			["daily_publishers", "adjustmentMicros", 3, 4],
		]);
	});

	test("a campaign's day is that of its own clocks, also where they are put back", () => {
		// 2026-11-01 has 25 hours in New York.
		const quarters = [
			quarterAt("2026-11-01T03:45:00Z", "America/New_York"),
			quarterAt("2026-11-01T04:00:00Z", "America/New_York"),
			quarterAt("2026-11-02T04:45:00Z", "America/New_York"),
			quarterAt("2026-11-02T05:00:00Z", "America/New_York"),
		];
		const stored = { ...NOTHING.stored, campaign_days: [{ campaignId: 1, clickCount: 2, spendMicros: 20, grossMicros: 40 }] };
		expect(shown({ quarters, stored })).toEqual([]);
	});

	test("a day is told only if it began on the clocks of now", () => {
		const stored = { ...NOTHING.stored, campaign_days: [{ campaignId: 1, clickCount: 2, spendMicros: 20, grossMicros: 40 }] };
		const changed = (time: string) => shown({ stored, clocksChangedAt: new Map([[1, Date.parse(time)]]) }).length;
		expect(changed("2026-10-30T10:00:00Z")).toBe(3);
		expect(changed("2026-10-30T10:00:01Z")).toBe(0);
	});

	test("totals are what the days give", () => {
		const row = (clickCount: number) => ({ campaignId: 1, clickCount, spendMicros: 5, grossMicros: 5 });
		expect(compareTotals([row(2)], [row(2)])).toEqual([]);
		expect(compareTotals([row(2)], [{ ...row(3), spendMicros: 5 }])).toEqual([
			{ counter: "campaign_totals", day: null, key: { campaignId: 1 }, column: "clickCount", stored: 2, counted: 3 },
		]);
	});
});
