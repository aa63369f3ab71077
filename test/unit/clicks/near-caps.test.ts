import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { campaignDayKey } from "../../../src/clicks/consumer/click-state.ts";
import { decideClicks } from "../../../src/clicks/consumer/decide-clicks.ts";
import { decidePause, expectAhead, isNearCap } from "../../../src/clicks/consumer/decide-pause.ts";
import type { CampaignFacts } from "../../../src/clicks/consumer/facts.ts";
import { nearCaps } from "../../../src/clicks/consumer/near-caps.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../src/lib/time.ts";
import { campaignFacts, click, EMPTY_STATE, facts, NOON } from "../../support/click-decisions.ts";

const cap = fc.option(fc.integer({ min: 1, max: 200 }));
const spent = fc.record({ clicks: fc.nat(200), micros: fc.nat(200) });

describe("unit: which campaigns are held against their caps", () => {
	test("property: one that would have to pause is near, whatever its pace was within its day", () => {
		fc.assert(
			fc.property(
				fc.record({ dailyClickCap: cap, dailyBudgetMicros: cap, totalBudgetMicros: cap }),
				spent,
				spent,
				fc.record({ clicks: fc.double({ min: 0, max: 1, noNaN: true }), micros: fc.double({ min: 0, max: 1, noNaN: true }) }),
				fc.integer({ min: 60, max: 70 }),
				(caps, today, before, share, seconds) => {
					const ever = { clicks: before.clicks + today.clicks, micros: before.micros + today.micros };
					const recent = { clicks: Math.floor(today.clicks * share.clicks), micros: Math.floor(today.micros * share.micros) };
					const pause = decidePause(caps, today, ever, expectAhead(recent, seconds * SECOND_MS));
					if (pause !== null) expect(isNearCap(caps, today, ever)).toBe(true);
				},
			),
			{ numRuns: 500 },
		);
	});

	type Asked = { clicks?: number; at?: number; now?: number; of?: CampaignFacts };
	/** Of a campaign with a daily cap of 100: `counted` before, then `clicks` at `at`; decided at `now`. */
	const asked = (counted: number, { clicks = 1, at = NOON, now = at, of = campaignFacts({ dailyClickCap: 100 }) }: Asked = {}) => {
		const known = facts({ campaigns: new Map([[5001, of]]) });
		const day = new Date(at).toISOString().slice(0, 10);
		const state = { ...EMPTY_STATE, spentOnDays: new Map([[campaignDayKey(5001, day), { clicks: counted, micros: 0 }]]) };
		const decided = decideClicks(
			Array.from({ length: clicks }, () => click({ at })),
			known,
			state,
		);
		return nearCaps(decided.clicks, state, now).map(({ campaignId, at }) => [campaignId, at]);
	};

	test("those that may be met at their pace, with the clicks of this batch; none without a cap", () => {
		expect(asked(44)).toEqual([]);
		expect(asked(45)).toEqual([[5001, NOON]]);
		expect(asked(0, { clicks: 45 })).toEqual([]);
		expect(asked(0, { clicks: 46 })).toEqual([[5001, NOON]]);
		// Not paid, but it shows that bids go out.
		expect(asked(100)).toEqual([[5001, NOON]]);
		expect(asked(100, { of: campaignFacts() })).toEqual([]);
	});

	test("all whose pace is also of another day, and all whose clicks are late", () => {
		const midnight = Date.parse("2026-11-19T00:00:00Z");
		expect(asked(0, { at: midnight + 50 * SECOND_MS })).toHaveLength(1);
		expect(asked(0, { at: midnight + 60 * SECOND_MS })).toEqual([]);
		expect(asked(0, { at: NOON, now: NOON + DAY_MS })).toHaveLength(1);
		expect(asked(0, { at: NOON, now: NOON + HOUR_MS })).toEqual([]);
	});
});
