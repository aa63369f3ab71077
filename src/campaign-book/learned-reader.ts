/** `book:learned` as an isolate has it. */
import { logError } from "../lib/log.ts";
import type { LogLimit } from "../lib/log-limit.ts";
import { SHORT_CACHE_SECONDS } from "./late-parts.ts";
import { LEARNED_KEY, LearnedFactors, parseLearned } from "./learned.ts";
import type { BookStore } from "./shard-reader.ts";

export class LearnedReader {
	readonly #store: BookStore;
	readonly #errors: LogLimit;
	#factors: LearnedFactors | null = null;
	#text: string | null = null;

	constructor(store: BookStore, errors: LogLimit) {
		this.#store = store;
		this.#errors = errors;
	}

	/** Null until the key was read, be it that there is none. */
	get factors(): LearnedFactors | null {
		return this.#factors;
	}

	forget(): void {
		this.#factors = null;
		this.#text = null;
	}

	/** @throws where KV fails */
	async read(now: number): Promise<void> {
		const values = await this.#store.get([LEARNED_KEY], { type: "text", cacheTtl: SHORT_CACHE_SECONDS });
		this.take(values.get(LEARNED_KEY) ?? null, now);
	}

	/** The same for a bid or a click that waits: where KV fails it goes without, and the next one asks again. */
	async readOrGoWithout(now: number): Promise<void> {
		try {
			await this.read(now);
		} catch (error) {
			if (this.#errors.allows("learned", now)) logError("book.learned_failed", error);
		}
	}

	/** Takes what the key holds; what is unreadable leaves the last good factors. @param text null where there is no such key */
	take(text: string | null, now: number): void {
		if (this.#factors !== null && text === this.#text) return;
		const wire = text === null ? null : parseLearned(text);
		if (text !== null && wire === null && this.#errors.allows("learned", now)) logError("book.learned_unreadable", null);
		if (text !== null && wire === null && this.#factors !== null) return;
		this.#factors = new LearnedFactors(wire);
		this.#text = text;
	}
}
