/** Fetches what an isolate misses of its book, behind the answers of its requests: one request's time after another. */
import type { WaitUntil } from "../../lib/async.ts";
import { SECOND_MS } from "../../lib/time.ts";
import type { Head } from "./head.ts";
import type { PackedReader } from "./packed-reader.ts";

/** The request that starts it reads what it needs itself, first. */
const START_AFTER_MS = 50;
/** A request is cut off 30 s after its answer. */
const MAX_RUN_MS = 20 * SECOND_MS;
/** After that long without a chunk it is taken for lost with its request. */
const LOST_AFTER_MS = 10 * SECOND_MS;
/** Between two runs where KV failed. */
const PAUSE_AFTER_ERRORS_MS = 10 * SECOND_MS;
const MAX_ERRORS = 6;
/** A request may have six connections open: one is left for what it answers. */
const MAX_CONCURRENT_READS = 5;

export class BackgroundFill {
	readonly #reader: PackedReader;
	/** Heads that have taken over. */
	#heads = 0;
	/** What {@link #needs} was when a run found all of it. */
	#met = 0;
	#notBefore = Number.NEGATIVE_INFINITY;
	/** When the run under way was last seen to go on. */
	#aliveAt = Number.NEGATIVE_INFINITY;

	constructor(reader: PackedReader) {
		this.#reader = reader;
	}

	/** A head has taken over. */
	need(): void {
		this.#heads++;
		this.#notBefore = Number.NEGATIVE_INFINITY;
	}

	/** Grows with all that makes a run needed. */
	get #needs(): number {
		return this.#heads + this.#reader.standIns;
	}

	/** Starts a run where one is needed and none is under way. @param head the one that holds at each moment */
	start(head: () => Head | null, now: number, waitUntil: WaitUntil): void {
		if (this.#met === this.#needs || now < this.#notBefore || Math.abs(now - this.#aliveAt) < LOST_AFTER_MS) return;
		this.#aliveAt = now;
		waitUntil(this.#run(head, now));
	}

	async #run(head: () => Head | null, now: number): Promise<void> {
		const startedAt = Date.now();
		await new Promise((resolve) => setTimeout(resolve, START_AFTER_MS));
		const needs = this.#needs;
		const present = head();
		const names = present === null ? [] : this.#reader.wanted(present);
		let errors = 0;
		let at = 0;
		const work = async () => {
			for (;;) {
				const elapsed = Date.now() - startedAt;
				const name = names[at++];
				if (name === undefined || present === null || head() !== present || errors >= MAX_ERRORS || elapsed > MAX_RUN_MS) return;
				this.#aliveAt = now + elapsed;
				try {
					await this.#reader.fetch(name, present, now + elapsed);
				} catch (error) {
					errors++;
					this.#reader.report(name, error, now + elapsed);
				}
			}
		};
		await Promise.all(Array.from({ length: MAX_CONCURRENT_READS }, work));
		// Where settling made room, what found none before comes with the next run.
		if (head() === present && errors === 0 && at >= names.length && !this.#reader.settle()) this.#met = needs;
		if (errors > 0) this.#notBefore = now + PAUSE_AFTER_ERRORS_MS;
		this.#aliveAt = Number.NEGATIVE_INFINITY;
	}
}
