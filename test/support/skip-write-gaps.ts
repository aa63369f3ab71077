/** For tests in which campaigns pause one after the other, and none of which is about when KV hears of it. */
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, vi } from "vitest";
import { SECOND_MS } from "../../src/lib/time.ts";
import "./worker-env.ts";

/** More than the gap, and less than what a writer has that is still at it: its turn stays its own. */
const GAP_MS = 2 * SECOND_MS;

/** The second between two writes of the paused campaigns (publish-pauses.ts) is over at once, for the tests of this file. */
export function skipWriteGaps(): void {
	beforeAll(() => {
		const wait = scheduler.wait.bind(scheduler);
		let asking = false;
		vi.spyOn(scheduler, "wait").mockImplementation(async (ms) => {
			// Statements on two engines at once wait themselves.
			if (asking) return wait(ms);
			asking = true;
			const over = env.DB.prepare("UPDATE pause_publication SET next_write_at = 0 WHERE next_write_at < ?").bind(Date.now() + GAP_MS);
			const { meta } = await over.run().finally(() => {
				asking = false;
			});
			if (meta.changes === 0) await wait(ms);
		});
	});
	afterAll(() => {
		vi.mocked(scheduler.wait).mockRestore();
	});
}
