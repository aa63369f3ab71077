import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DEADLINE_TICK_MS, Deadlines } from "../../../src/lib/deadlines.ts";

describe("unit: waits that share a timer", () => {
	const wait = (milliseconds: number) => new Promise<string>((resolve) => void setTimeout(resolve, milliseconds, "in time"));
	const never = new Promise<never>(() => {});

	beforeEach(() => {
		vi.useFakeTimers();
	});
	afterEach(() => {
		vi.useRealTimers();
	});

	test("one timer for all that come within a tick; its request is kept until the last of them has ended", async () => {
		const deadlines = new Deadlines();
		let watches = 0;
		let ended = 0;
		const waitUntil = (promise: Promise<unknown>) => {
			watches++;
			void promise.then(() => ended++);
		};
		const results = [deadlines.within(wait(100), 3_000, "late", waitUntil), deadlines.within(never, 3_000, "late", waitUntil)];
		await vi.advanceTimersByTimeAsync(DEADLINE_TICK_MS - 1);
		results.push(deadlines.within(never, 1_000, "late", waitUntil));
		expect(watches).toBe(1);
		await vi.advanceTimersByTimeAsync(3_000);
		expect([watches, ended]).toEqual([1, 1]);
		expect(await Promise.all(results)).toEqual(["in time", "late", "late"]);
		expect(vi.getTimerCount()).toBe(0);
	});

	test("what takes too long is given up then, a tick later at the most, and what it comes to is ignored", async () => {
		const deadlines = new Deadlines();
		const startedAt = Date.now();
		const tookOf = (result: Promise<string>) => result.then((text) => [text, Date.now() - startedAt]);
		const first = tookOf(deadlines.within(never, 1_000, "late", () => {}));
		await vi.advanceTimersByTimeAsync(DEADLINE_TICK_MS - 100);
		const second = tookOf(
			deadlines.within(
				wait(1_500).then(() => Promise.reject(new Error("too late"))),
				1_000,
				"late",
				() => {},
			),
		);
		await vi.advanceTimersByTimeAsync(10_000);
		expect(await first).toEqual(["late", 1_000]);
		expect(await second).toEqual(["late", 1_500]);
	});

	test("each tick has a watch of its own, so that none lasts as long as traffic does", async () => {
		const deadlines = new Deadlines();
		const ended: number[] = [];
		const startedAt = Date.now();
		for (let at = 0; at < 10; at++) {
			void deadlines.within(wait(50), 3_000, "late", (promise) => void promise.then(() => ended.push(Date.now() - startedAt)));
			await vi.advanceTimersByTimeAsync(DEADLINE_TICK_MS);
		}
		expect(ended).toEqual(Array.from({ length: 10 }, (_, at) => (at + 1) * DEADLINE_TICK_MS));
	});

	test("a refusal in time is passed on", async () => {
		await expect(new Deadlines().within(Promise.reject(new Error("refused")), 1_000, null, () => {})).rejects.toThrow("refused");
	});
});
