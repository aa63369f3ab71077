/** For tests in which a click that the queue refuses is kept in KV alone. */
import { afterAll, beforeAll, vi } from "vitest";
import { SECOND_MS } from "../../src/lib/time.ts";

/** So long it would wait for others to share its key (click-batches.ts). */
const COLLECT_MS = 2 * SECOND_MS;

/** Nothing is waited for that long in the tests of this group. */
export function collectNoCompany(): void {
	beforeAll(() => {
		const start = setTimeout;
		const sooner = (done: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) =>
			start(done, ms === COLLECT_MS ? 0 : ms, ...given);
		vi.spyOn(globalThis, "setTimeout").mockImplementation(sooner as typeof setTimeout);
	});
	afterAll(() => {
		vi.mocked(setTimeout).mockRestore();
	});
}
