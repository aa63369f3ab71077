/**
 * What wrangler.toml says of queues: an outage of the database must not use up a message's retries, and what it left behind must not
 * keep all else from the database.
 */

import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";

const HOUR_SECONDS = 3_600;
/** What `npm run provision` sets. */
const QUEUE_KEEPS_SECONDS = 14 * 24 * HOUR_SECONDS;

type Consumer = { queue: string; max_retries?: number; retry_delay?: number; max_concurrency?: number | null; dead_letter_queue?: string };

describe.each([undefined, "origin"])("unit: queues of environment %s", (environment) => {
	const config = unstable_readConfig(
		{ config: "wrangler.toml", ...(environment !== undefined && { env: environment }) },
		{ hideWarnings: true },
	);
	const consumers: Consumer[] = config.queues.consumers ?? [];
	const outlasts = ({ max_retries = 0, retry_delay = 0 }: Consumer) => max_retries * retry_delay;

	it("a message that fails is tried for the better part of an hour, and then becomes a dead letter", () => {
		const working = consumers.filter(({ queue }) => !queue.endsWith("-dead"));
		expect(working).toHaveLength(3);
		for (const consumer of working) {
			expect(outlasts(consumer), consumer.queue).toBeGreaterThanOrEqual(HOUR_SECONDS / 2);
			expect(consumer.dead_letter_queue).toBe(`${consumer.queue}-dead`);
		}
	});

	it("a backlog starves nothing: no consumer is scaled without bounds", () => {
		expect(Object.fromEntries(consumers.map(({ queue, max_concurrency }) => [queue, max_concurrency]))).toEqual({
			"clickbourse-clicks": 4,
			"clickbourse-postbacks": 2,
			"clickbourse-callbacks": 5,
			"clickbourse-clicks-dead": 1,
			"clickbourse-postbacks-dead": 1,
			"clickbourse-callbacks-dead": 1,
		});
	});

	it("a dead letter is tried for as long as the queue keeps it", () => {
		const dead = consumers.filter(({ queue }) => queue.endsWith("-dead"));
		expect(dead).toHaveLength(3);
		for (const consumer of dead) expect(outlasts(consumer), consumer.queue).toBeGreaterThanOrEqual(QUEUE_KEEPS_SECONDS * 0.95);
	});
});
