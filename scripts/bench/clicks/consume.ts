/** Rounds of the click consumer. */

export const ROUNDS = 9;
/** As the queue delivers them. */
export const BATCH = 100;
const BATCHES_A_ROUND = 50;
export const CLICKS_A_ROUND = BATCHES_A_ROUND * BATCH;

/**
 * Lets test/bench/click-consumer-worker.ts write a round of clicks from number `first` on.
 * @returns clicks a second
 */
export async function consume(origin: string, first: number, options = ""): Promise<number> {
	const startedAt = performance.now();
	const response = await fetch(`${origin}/?first=${first}&batches=${BATCHES_A_ROUND}${options}`, { method: "POST" });
	const answer = await response.text();
	if (!response.ok) throw new Error(`the consumer answers HTTP ${response.status} ${answer.slice(0, 300)}`);
	return CLICKS_A_ROUND / ((performance.now() - startedAt) / 1_000);
}
