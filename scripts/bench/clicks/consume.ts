/** Rounds of the click consumer. */

export const ROUNDS = 9;
/** As the queue delivers them. */
export const BATCH = 100;
export const CLICKS_A_ROUND = 50 * BATCH;

/**
 * Lets test/bench/click-consumer-worker.ts write a round of clicks from number `first` on.
 * @returns clicks a second
 */
export async function consume(origin: string, first: number, options = "", clicks = CLICKS_A_ROUND): Promise<number> {
	const startedAt = performance.now();
	const response = await fetch(`${origin}/?first=${first}&batches=${clicks / BATCH}${options}`, { method: "POST" });
	const answer = await response.text();
	if (!response.ok) throw new Error(`the consumer answers HTTP ${response.status} ${answer.slice(0, 300)}`);
	return clicks / ((performance.now() - startedAt) / 1_000);
}
