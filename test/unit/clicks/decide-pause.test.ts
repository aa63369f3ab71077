import { describe, expect, test } from "vitest";
import { decidePause, expectAhead, PAUSE_PROPAGATION_MS } from "../../../src/clicks/consumer/decide-pause.ts";

const UNCAPPED = { dailyClickCap: null, dailyBudgetMicros: null, totalBudgetMicros: null };
const NOTHING = { clicks: 0, micros: 0 };

describe("unit: when a campaign stands still", () => {
	test.each([
		["daily_clicks", { dailyClickCap: 10 }, "clicks"],
		["daily_budget", { dailyBudgetMicros: 10 }, "micros"],
		["total_budget", { totalBudgetMicros: 10 }, "micros"],
	] as const)("%s: from the very cap on, with what is under way", (cap, caps, counted) => {
		const decide = (spent: number, ahead: number) =>
			decidePause(
				{ ...UNCAPPED, ...caps },
				{ ...NOTHING, [counted]: spent },
				{ ...NOTHING, [counted]: spent },
				{ ...NOTHING, [counted]: ahead },
			);
		expect([decide(9, 0), decide(10, 0), decide(11, 0)]).toEqual([null, cap, cap]);
		expect([decide(6, 3), decide(6, 4), decide(6, 5)]).toEqual([null, cap, cap]);
	});

	test.each(["dailyBudgetMicros", "totalBudgetMicros"])(
		"%s: where less is left than a click costs, and not where one more fits",
		(name) => {
			const decide = (spent: { clicks: number; micros: number }) => decidePause({ ...UNCAPPED, [name]: 80 }, spent, spent, NOTHING);
			expect([decide({ clicks: 4, micros: 60 }), decide({ clicks: 5, micros: 76 }), decide({ clicks: 4, micros: 64 })]).toEqual([
				null,
				expect.stringContaining("budget"),
				null,
			]);
		},
	);

	test("never without a cap; a total budget counts all days, the others this one alone", () => {
		const much = { clicks: 1e9, micros: 1e15 };
		expect(decidePause(UNCAPPED, much, much, much)).toBeNull();
		expect(decidePause({ ...UNCAPPED, totalBudgetMicros: 10 }, much, { clicks: 0, micros: 9 }, NOTHING)).toBeNull();
		expect(
			decidePause({ dailyClickCap: 10, dailyBudgetMicros: 10, totalBudgetMicros: null }, { clicks: 9, micros: 9 }, much, NOTHING),
		).toBeNull();
	});
});

describe("unit: what the present pace brings before a pause is known everywhere", () => {
	test("nothing from fewer than twenty clicks", () => {
		expect(expectAhead({ clicks: 19, micros: 19_000 }, 60_000)).toEqual(NOTHING);
		expect(expectAhead({ clicks: 20, micros: 20_000 }, 60_000)).toEqual({ clicks: 24, micros: 24_000 });
	});

	test("in 72 seconds, rounded down", () => {
		expect(PAUSE_PROPAGATION_MS).toBe(72_000);
		expect(expectAhead({ clicks: 21, micros: 21 }, 70_000)).toEqual({ clicks: 21, micros: 21 });
		expect(expectAhead({ clicks: 29, micros: 29 }, 60_000)).toEqual({ clicks: 34, micros: 34 });
	});
});
