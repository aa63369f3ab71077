import { vi } from "vitest";

/**
 * Seconds on a clock of its own until something is answered: nobody waits for them, and afterwards they have not passed.
 * @param turnMs what really answers has at the most, milliseconds, before the next second begins: more, where each second counts
 */
export async function timed<Value>(run: () => Promise<Value>, turnMs = 20): Promise<[Value, seconds: number]> {
	vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
	try {
		let isOver = false;
		const answering = run().finally(() => {
			isOver = true;
		});
		answering.catch(() => {});
		let seconds = 0;
		while (!isOver && seconds < 900) {
			for (let waited = 0; waited < turnMs && !isOver; waited += 5) await scheduler.wait(5);
			// The longer it takes, the less a second matters.
			const step = seconds < 5 ? 1 : seconds < 40 ? 2 : 8;
			await vi.advanceTimersByTimeAsync(step * 1_000);
			seconds += step;
		}
		return [isOver ? await answering : Promise.reject(new Error("kept waiting")), seconds] as [Value, number];
	} finally {
		vi.useRealTimers();
	}
}
