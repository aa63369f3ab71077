import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { askUntil } from "../../../scripts/operator/ask-until.ts";

describe("askUntil", () => {
	beforeEach(() => {
		vi.useFakeTimers();
		vi.spyOn(console, "error").mockImplementation(() => {});
	});

	afterEach(() => {
		vi.useRealTimers();
		vi.restoreAllMocks();
	});

	it("waits for nothing where the first answer will do", async () => {
		expect(
			await askUntil(
				"T-1",
				async () => 7,
				() => true,
				30_000,
			),
		).toBe(7);
		expect(console.error).not.toHaveBeenCalled();
	});

	it("asks until an answer will do", async () => {
		let asked = 0;
		const answer = askUntil(
			"T-1",
			async () => ++asked,
			(count) => count === 3,
			30_000,
		);
		await vi.advanceTimersByTimeAsync(1_000);
		expect(await answer).toBe(3);
	});

	it("gives up at its bound with the last answer, and says every ten seconds how long it has waited", async () => {
		const startedAt = Date.now();
		const answer = askUntil(
			"T-1",
			async () => Date.now() - startedAt,
			() => false,
			30_000,
		);
		await vi.advanceTimersByTimeAsync(30_500);
		expect(await answer).toBe(30_000);
		expect(vi.mocked(console.error).mock.calls.slice(0, 3)).toEqual([
			["Waiting for T-1, up to 30 s …"],
			["Waiting for T-1: 10 s of 30 s"],
			["Waiting for T-1: 20 s of 30 s"],
		]);
	});
});
