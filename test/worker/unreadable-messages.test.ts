/** Messages that this version cannot read: not tried a hundred times, but kept as dead letters, from which a later version takes them. */
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import worker from "../../src/worker.ts";
import { rowsOf } from "../support/click-messages.ts";

const UNREADABLE = [{ format: 2, kind: "postback" }, null, "text", { format: 1 }];

async function bring(queue: string, attempts: number, database: D1Database = env.DB) {
	const messages = UNREADABLE.map((body, at) => ({ id: `${queue}-${at}`, timestamp: new Date(), attempts, body }));
	const batch = createMessageBatch(`clickbourse-${queue}`, messages);
	const context = createExecutionContext();
	await worker.queue(batch, { ...env, DB: database }, context);
	const { explicitAcks, retryMessages } = await getQueueResult(batch, context);
	return { acked: explicitAcks.length, retried: retryMessages.length };
}

const kept = (queue: string) => rowsOf(`SELECT body FROM dead_letters WHERE queue = '${queue}' AND replayed_at IS NULL ORDER BY id`);

describe.each(["postbacks", "callbacks"])("worker: a message of the queue %s that this version cannot read", (queue) => {
	const logged: { event: string }[] = [];
	beforeEach(() => {
		logged.length = 0;
		vi.spyOn(console, "error").mockImplementation((line: string) => logged.push(JSON.parse(line)));
	});
	afterEach(() => {
		vi.restoreAllMocks();
	});

	it("is left to a version that may be on its way some times, then becomes a dead letter", async () => {
		const all = { acked: 0, retried: UNREADABLE.length };
		for (const attempts of [1, 4]) expect(await bring(queue, attempts)).toEqual(all);
		expect(await kept(queue)).toEqual([]);
		const away = wrapD1(env.DB, (statements) =>
			statements.some((text) => text.includes("dead_letters")) ? Promise.reject(new Error("D1_ERROR: full")) : Promise.resolve(),
		);
		expect(await bring(queue, 5, away)).toEqual(all);
		expect(await bring(queue, 6)).toEqual({ acked: UNREADABLE.length, retried: 0 });
		expect(await kept(queue)).toEqual(UNREADABLE.map((body) => ({ body: JSON.stringify(body) })));
		expect(logged.map(({ event }) => event)).toContain("queue.unreadable");
	});
});
