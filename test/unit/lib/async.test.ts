import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { within } from "../../../src/lib/async.ts";

describe("unit: a promise against a timer", () => {
	beforeEach(() => {
		vi.useFakeTimers();
	});
	afterEach(() => {
		vi.useRealTimers();
	});

	test("what comes in time counts, and the timer is cleared", async () => {
		const { promise, resolve } = Promise.withResolvers<string>();
		const raced = within(promise, 100, "late");
		await vi.advanceTimersByTimeAsync(99);
		resolve("in time");
		expect(await raced).toBe("in time");
		expect(vi.getTimerCount()).toBe(0);
	});

	test("what takes longer is late, whatever becomes of it", async () => {
		const { promise, reject } = Promise.withResolvers<string>();
		const raced = within(promise, 100, "late");
		await vi.advanceTimersByTimeAsync(100);
		expect(await raced).toBe("late");
		// Unhandled, this would fail the run.
		reject(new Error("too late"));
		await vi.advanceTimersByTimeAsync(0);
		expect(await raced).toBe("late");
	});

	test("a rejection in time is the race's own, and the timer is cleared", async () => {
		const raced = within(Promise.reject(new Error("failed")), 100, "late");
		await expect(raced).rejects.toThrow("failed");
		expect(vi.getTimerCount()).toBe(0);
	});
});
