import { describe, expect, test } from "vitest";
import { nextRetryAt } from "../../../src/conversions/retry-schedule.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";

describe("unit: how long a postback waits for its click", () => {
	test("is tried again after a minute, and up to 24 hours", () => {
		const ages: number[] = [];
		for (let at = 0; ages.length < 10; ) {
			at = nextRetryAt(0, at) ?? Number.NaN;
			ages.push(at);
		}
		expect(ages).toEqual([
			...[1, 2, 5, 15, 30].map((minutes) => minutes * MINUTE_MS),
			...[1, 3, 6, 12, 24].map((hours) => hours * HOUR_MS),
		]);
	});

	test("then daily for a month, then no more", () => {
		expect(nextRetryAt(0, DAY_MS)).toBe(2 * DAY_MS);
		expect(nextRetryAt(0, 29.5 * DAY_MS)).toBe(30.5 * DAY_MS);
		expect(nextRetryAt(0, 30 * DAY_MS)).toBeNull();
	});
});
