/**
 * A KV namespace that lags as Cloudflare's does, on a clock of the test's own: a write is seen only after a while, in each data centre after
 * its own; a data centre serves what it once read, misses too, from its cache for as long as that read allowed; and a listing is late.
 */
import type { BookStore } from "../../src/campaign-book/shard-reader.ts";

/** What Cloudflare names as its usual longest. */
export const MAX_LAG_MS = 60_000;
/** Where a read does not say. */
const DEFAULT_CACHE_SECONDS = 60;

type Write = { at: number; value: string | null };
type Cached = { value: string | null; until: number };
type ReadOptions = { type?: "text"; cacheTtl?: number };

export class LaggingKv {
	/** The virtual clock, Unix milliseconds. */
	now: number;
	/** How long a write of a key stays unseen in a data centre, at most MAX_LAG_MS. */
	lagOf: (key: string, place: string) => number = () => MAX_LAG_MS;
	listLagMs = MAX_LAG_MS;
	/** The keys written, in order. */
	readonly puts: string[] = [];
	readonly #caches = new Map<string, Map<string, Cached>>();
	readonly #writes = new Map<string, Write[]>();

	constructor(now: number) {
		this.now = now;
	}

	/** The namespace as one data centre sees it. */
	at(place: string): KVNamespace & BookStore {
		const cached = this.#caches.get(place) ?? new Map<string, Cached>();
		this.#caches.set(place, cached);
		const read = (key: string, cacheTtl = DEFAULT_CACHE_SECONDS): string | null => {
			const known = cached.get(key);
			if (known !== undefined && this.now < known.until) return known.value;
			const value = this.#seen(key, this.lagOf(key, place));
			cached.set(key, { value, until: this.now + cacheTtl * 1_000 });
			return value;
		};
		const namespace = {
			get: async (keys: string | string[], options: ReadOptions = {}) =>
				typeof keys === "string" ? read(keys, options.cacheTtl) : new Map(keys.map((key) => [key, read(key, options.cacheTtl)])),
			put: async (key: string, value: string) => {
				this.puts.push(key);
				this.#write(key, value);
			},
			delete: async (key: string) => this.#write(key, null),
			list: async ({ prefix }: KVNamespaceListOptions = {}) => ({
				keys: [...this.#writes.keys()]
					.filter((key) => key.startsWith(prefix ?? "") && this.#seen(key, this.listLagMs) !== null)
					.map((name) => ({ name })),
				list_complete: true,
			}),
		};
		return namespace as unknown as KVNamespace & BookStore;
	}

	/** What was written last, wherever it is seen. */
	newest(key: string): string | null {
		return this.#seen(key, 0);
	}

	/** Loses a value everywhere and at once, as no delete does. */
	lose(key: string): void {
		this.#writes.set(key, []);
	}

	#write(key: string, value: string | null): void {
		const writes = this.#writes.get(key) ?? [];
		this.#writes.set(key, writes);
		writes.push({ at: this.now, value });
	}

	#seen(key: string, lagMs: number): string | null {
		return this.#writes.get(key)?.findLast(({ at }) => at + lagMs <= this.now)?.value ?? null;
	}
}
