/**
 * A KV namespace that lags as Cloudflare's does, on a clock of the test's own: a write is seen only after a while, in each data centre after
 * its own; a data centre serves what it once read, misses too, from its cache for as long as that read and the present one allow; and a listing is late.
 */
import type { BookStore } from "../../src/campaign-book/shard-reader.ts";

/** What Cloudflare names as its usual longest. */
export const MAX_LAG_MS = 60_000;
/** Where a read does not say. */
const DEFAULT_CACHE_SECONDS = 60;

type Value = string | ArrayBuffer | null;
type Write = { at: number; value: Value };
type Cached = { value: Value; readAt: number; until: number };
type ReadOptions = { type?: "text" | "arrayBuffer"; cacheTtl?: number };

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
		const read = (key: string, cacheTtl = DEFAULT_CACHE_SECONDS): Value => {
			const known = cached.get(key);
			if (known !== undefined && this.now < Math.min(known.until, known.readAt + cacheTtl * 1_000)) return known.value;
			const value = this.#seen(key, this.lagOf(key, place));
			cached.set(key, { value, readAt: this.now, until: this.now + cacheTtl * 1_000 });
			return value;
		};
		const namespace = {
			get: async (keys: string | string[], { type, cacheTtl }: ReadOptions = {}) => {
				if (typeof keys === "string") return type === "arrayBuffer" ? bytesOf(read(keys, cacheTtl)) : textOf(read(keys, cacheTtl));
				return new Map(keys.map((key) => [key, textOf(read(key, cacheTtl))]));
			},
			put: async (key: string, value: string | ArrayBuffer) => {
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
		return textOf(this.#seen(key, 0));
	}

	/** Loses a value everywhere and at once, as no delete does. */
	lose(key: string): void {
		this.#writes.set(key, []);
	}

	#write(key: string, value: Value): void {
		const writes = this.#writes.get(key) ?? [];
		this.#writes.set(key, writes);
		writes.push({ at: this.now, value });
	}

	#seen(key: string, lagMs: number): Value {
		return this.#writes.get(key)?.findLast(({ at }) => at + lagMs <= this.now)?.value ?? null;
	}
}

function textOf(value: Value): string | null {
	return value instanceof ArrayBuffer ? new TextDecoder().decode(value) : value;
}

function bytesOf(value: Value): ArrayBuffer | null {
	return typeof value === "string" ? new TextEncoder().encode(value).slice().buffer : (value?.slice() ?? null);
}
