/** A queue whose messages a test delivers itself, to the real consumer: when it wants to, and as often. */
import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from "cloudflare:test";
import { vi } from "vitest";
import type { Env } from "../../src/config.ts";
import worker from "../../src/worker.ts";

export class HandQueue {
	readonly #name: string;
	#waiting: { id: string; body: unknown }[] = [];
	#sent = 0;

	/** @param name as wrangler.toml has it */
	constructor(name: string) {
		this.#name = name;
	}

	/** What a Worker binds. */
	get binding(): Queue {
		const send = async (body: unknown) => {
			this.#waiting.push({ id: `${this.#name}-${++this.#sent}`, body: JSON.parse(JSON.stringify(body)) as unknown });
		};
		const sendBatch = async (messages: Iterable<{ body: unknown }>) => {
			for (const { body } of messages) await send(body);
		};
		return { send, sendBatch } as unknown as Queue;
	}

	get length(): number {
		return this.#waiting.length;
	}

	/** Delivers what waits, the latest first, and keeps what is to come again; every third message comes twice in any case. */
	async deliver(env: Env, batchSize = 20): Promise<{ acked: number; retried: number; delaySeconds: number | undefined }> {
		const messages = this.#waiting.reverse();
		this.#waiting = [];
		const outcome = { acked: 0, retried: 0, delaySeconds: undefined as number | undefined };
		for (let at = 0; at < messages.length; at += batchSize) {
			const part = messages.slice(at, at + batchSize);
			const batch = createMessageBatch(
				this.#name,
				part.map((message) => ({ ...message, timestamp: new Date(), attempts: 1 })),
			);
			const retryAll = vi.spyOn(batch, "retryAll");
			const ctx = createExecutionContext();
			// A consumer that throws has the whole batch again.
			const failed = await Promise.resolve(worker.queue(batch, env, ctx)).then(
				() => false,
				() => true,
			);
			const { retryBatch, retryMessages } = await getQueueResult(batch, ctx);
			await waitOnExecutionContext(ctx);
			const again = new Set(failed || retryBatch.retry ? part.map(({ id }) => id) : retryMessages.map(({ msgId }) => msgId));
			outcome.delaySeconds ??= retryAll.mock.lastCall?.[0]?.delaySeconds;
			for (const [place, message] of part.entries()) {
				if (again.has(message.id)) outcome.retried++;
				else outcome.acked++;
				if (again.has(message.id) || (place % 3 === 0 && !message.id.endsWith("-again"))) {
					this.#waiting.push(again.has(message.id) ? message : { ...message, id: `${message.id}-again` });
				}
			}
		}
		return outcome;
	}

	/** Delivers until nothing waits. @throws Error where messages keep coming back */
	async drain(env: Env): Promise<void> {
		for (let tries = 0; this.length > 0; tries++) {
			if (tries === 10) throw new Error(`${this.length} messages of ${this.#name} keep coming back`);
			await this.deliver(env);
		}
	}
}
