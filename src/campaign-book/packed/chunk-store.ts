/** Where chunks are read from: the data centre's cache, which costs nothing a read, and KV behind it. */
import type { WaitUntil } from "../../lib/async.ts";
import { logError } from "../../lib/log.ts";
import { LogLimit } from "../../lib/log-limit.ts";

export type ChunkStore = {
	/**
	 * The bytes of a chunk; null where it is not there.
	 * @param cacheTtl     how long KV may remember what it answers, seconds: that it has nothing, too
	 * @param isBackground whether no bid waits for it: then it is in the cache afterwards
	 */
	read(key: string, cacheTtl: number, isBackground: boolean): Promise<ArrayBuffer | null>;
};

/** The part of a KV namespace that reading chunks needs. */
type BytesStore = { get(key: string, options: { type: "arrayBuffer"; cacheTtl: number }): Promise<ArrayBuffer | null> };
type ResponseCache = Pick<Cache, "match" | "put">;

const KEPT_SECONDS = 86_400;

/** Chunks never change under their key: what is in the cache is right. */
export class CachedChunks implements ChunkStore {
	readonly #kv: BytesStore;
	readonly #cache: ResponseCache;
	readonly #origin: string;
	readonly #waitUntil: WaitUntil;
	readonly #errors = new LogLimit();

	/**
	 * @param origin    under which the cache files chunks; no request reaches them there
	 * @param waitUntil that of whichever request reads
	 */
	constructor(kv: BytesStore, cache: ResponseCache, origin: string, waitUntil: WaitUntil) {
		this.#kv = kv;
		this.#cache = cache;
		this.#origin = origin;
		this.#waitUntil = waitUntil;
	}

	async read(key: string, cacheTtl: number, isBackground: boolean): Promise<ArrayBuffer | null> {
		const name = `${this.#origin}/campaign-book/${key}`;
		const found = await this.#find(name);
		if (found !== null) return found;
		const bytes = await this.#kv.get(key, { type: "arrayBuffer", cacheTtl });
		if (bytes === null) return null;
		const kept = this.#keep(name, bytes);
		if (isBackground) await kept;
		// Behind the answer: links, and facts of a book that does not fit, are read for requests alone.
		else this.#waitUntil(kept);
		return bytes;
	}

	async #find(name: string): Promise<ArrayBuffer | null> {
		try {
			return (await (await this.#cache.match(name))?.arrayBuffer()) ?? null;
		} catch (error) {
			this.#report(error);
			return null;
		}
	}

	async #keep(name: string, bytes: ArrayBuffer): Promise<void> {
		try {
			await this.#cache.put(name, new Response(bytes, { headers: { "cache-control": `public, max-age=${KEPT_SECONDS}, immutable` } }));
		} catch (error) {
			this.#report(error);
		}
	}

	/** One line a minute: where the cache fails, every chunk of the book would have one. */
	#report(error: unknown): void {
		if (this.#errors.allows("cache", Date.now())) logError("book.cache_failed", error);
	}
}
