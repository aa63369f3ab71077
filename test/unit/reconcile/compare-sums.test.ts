/** What is called a difference of counters and their rows. */
import { describe, expect, test } from "vitest";
import {
	CampaignDay,
	compareCampaignDays,
	comparePublishers,
	compareTotals,
	type PublishersState,
	type Sides,
	type SumRow,
} from "../../../src/reconcile/compare-sums.ts";

const DAY = "2026-11-01";
const NOTHING: Sides = { stored: [], counted: [] };
const ofClick = (fields: SumRow = {}): SumRow => {
	return { publisherId: "p", sourceId: "s", campaignId: 1, brandId: 2, clickCount: 1, clickRevenueMicros: 100, ...fields };
};
const shown = (sides: Partial<PublishersState["sides"]>, gone: Partial<PublishersState> = {}) =>
	comparePublishers({
		day: DAY,
		areClicksGone: false,
		areUnpaidGone: false,
		sides: { daily_publishers: NOTHING, daily_sources: NOTHING, daily_network: NOTHING, ...sides },
		...gone,
	}).map(({ counter, column, stored, counted }) => [counter, column, stored, counted]);

describe("unit: comparing a day", () => {
	test("the network's own sums have unpaid clicks too, as long as those are kept", () => {
		const of = (reason: string, clickCount: number): SumRow => ({ campaignId: 1, publisherId: "", kind: "link", reason, clickCount });
		const daily_network = {
			stored: [of("", 2), of("voided", 3), of("bot", 5)],
			counted: [of("", 2), of("voided", 1), { ...of("", 0), cancelledCount: 1 }],
		};
		const told = [
			["daily_network", "cancelledCount", 0, 1],
			["daily_network", "clickCount", 3, 1],
		];
		expect(shown({ daily_network }, { areUnpaidGone: true })).toEqual(told);
		expect(shown({ daily_network })).toHaveLength(3);
		expect(shown({ daily_network }, { areUnpaidGone: true, areClicksGone: true })).toEqual([told[0]]);
	});

	test("groups are added up by each counter's own key, and zeros need no row", () => {
		const rows = [ofClick(), ofClick({ sourceId: "t" }), ofClick({ campaignId: 3 })];
		const sides = {
			daily_publishers: {
				stored: [ofClick({ clickCount: 3, clickRevenueMicros: 300 }), ofClick({ publisherId: "q", clickCount: 0, clickRevenueMicros: 0 })],
				counted: rows,
			},
			daily_sources: { stored: [ofClick({ clickCount: 2, clickRevenueMicros: 200 }), ofClick({ sourceId: "t" })], counted: rows },
			daily_network: { stored: [ofClick({ clickCount: 2, clickRevenueMicros: 200 }), ofClick({ campaignId: 3 })], counted: rows },
		};
		expect(shown(sides)).toEqual([]);
	});

	test("each column that differs is told, with what is stored and what the rows give", () => {
		const sides = {
			daily_publishers: { stored: [], counted: [ofClick()] },
			daily_sources: { stored: [ofClick({ clickCount: 4, clickRevenueMicros: 100 })], counted: [ofClick()] },
		};
		expect(shown(sides)).toEqual([
			["daily_publishers", "clickCount", 0, 1],
			["daily_publishers", "clickRevenueMicros", 0, 100],
			["daily_sources", "clickCount", 4, 1],
		]);
	});

	test("where clicks are gone, sums of clicks are not compared", () => {
		const daily_publishers = {
			stored: [ofClick({ clickCount: 9, grossMicros: 5, adjustmentMicros: 3 })],
			counted: [{ publisherId: "p", adjustmentMicros: 4 }],
		};
		expect(shown({ daily_publishers }, { areClicksGone: true })).toEqual([
			["daily_publishers", "grossMicros", 5, 0],
			["daily_publishers", "adjustmentMicros", 3, 4],
		]);
	});

	const stored = [{ campaignId: 1, clickCount: 2, spendMicros: 20, grossMicros: 40 }];

	test("a campaign's day is that of its own clocks, also where they are put back, however its clicks are read", () => {
		const quarterAt = (time: string, campaignId = 1) => {
			return { campaignId, quarter: Date.parse(time) / 900_000, clickCount: 1, spendMicros: 10, grossMicros: 20 };
		};
		const sums = new CampaignDay(DAY, new Map([[1, "America/New_York"]]));
		// 2026-11-01 has 25 hours in New York.
		sums.add([quarterAt("2026-11-01T03:45:00Z"), quarterAt("2026-11-01T04:00:00Z")]);
		sums.add([quarterAt("2026-11-02T04:45:00Z"), quarterAt("2026-11-02T05:00:00Z"), quarterAt("2026-11-01T12:00:00Z", 2)]);
		expect(sums.rows).toEqual(stored);
		expect(compareCampaignDays(DAY, stored, sums.rows, new Map())).toEqual([]);
		expect(compareCampaignDays(DAY, [], sums.rows, new Map())).toMatchObject([{ column: "clickCount", stored: 0, counted: 2 }, {}, {}]);
	});

	test("a day is told only if it began on the clocks of now", () => {
		const changed = (time: string) => compareCampaignDays(DAY, stored, [], new Map([[1, Date.parse(time)]])).length;
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
