/**
 * Lists that were written before, kept compressed in the data centre's cache under the name of their version: the next call for
 * the same version streams them as they are. A version's content never changes, so nothing here can be stale; where the cache
 * keeps nothing, every list is simply written again.
 */
import type { WaitUntil } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
import { MINUTE_MS } from "../lib/time.ts";

/** Shorter ones are written as quickly as they are found; longer ones would take too much of an isolate's memory to collect. */
const LEAST_BYTES = 16 * 1024;
const MAX_BYTES = 24 * 1024 * 1024;
const KEPT_SECONDS = 86_400;
/** A collection that has not ended after this long is taken for lost with its request. */
const LOST_AFTER_MS = MINUTE_MS;

type Bytes = ReadableStream<Uint8Array>;

export type KeepDeps = {
	/** Asked at the end: whether what was written is the version that it is kept as. */
	isStill: () => Promise<boolean>;
	/** What outlives the answer. */
	waitUntil: WaitUntil;
};

export class ReadyLists {
	readonly #baseUrl: string;
	readonly #now: () => number;
	/** One list is collected at a time: that bounds the memory it takes. */
	#collectingUntil = 0;

	/** @param baseUrl origin under which the cache files the lists; no request reaches them there */
	constructor(baseUrl: string, now: () => number) {
		this.#baseUrl = baseUrl;
		this.#now = now;
	}

	/** A version's bytes, compressed or not; null where they are not kept. */
	async find(version: string, gzip: boolean): Promise<Bytes | null> {
		try {
			const body = (await caches.default.match(this.#keyOf(version)))?.body ?? null;
			return body === null || gzip ? body : body.pipeThrough(new DecompressionStream("gzip"));
		} catch (error) {
			logError("brand_list.cache_failed", error);
			return null;
		}
	}

	/** Passes a list that is being written on, compressed or not, and keeps it once it is whole. It goes no faster than its reader. */
	keep(deps: KeepDeps, version: string, list: Bytes, gzip: boolean): Bytes {
		const compress = () => new CompressionStream("gzip");
		if (this.#now() < this.#collectingUntil) return gzip ? list.pipeThrough(compress()) : list;
		this.#collectingUntil = this.#now() + LOST_AFTER_MS;
		const collection = new Collection();
		const end = () => {
			this.#collectingUntil = 0;
		};
		const store = (collected: Promise<Blob | null>) => deps.waitUntil(this.#store(deps, version, collected).finally(end));
		if (gzip) {
			return observe(list.pipeThrough(compress()), {
				each: async (bytes) => collection.add(bytes),
				whole: async () => store(Promise.resolve(collection.whole())),
				broken: end,
			});
		}
		const { readable, writable } = compress();
		const writer = writable.getWriter();
		const collected = collect(readable, collection);
		return observe(list, {
			each: (bytes) => writer.write(bytes),
			async whole() {
				await writer.close();
				store(collected);
			},
			broken() {
				end();
				collected.catch(() => {});
				writer.abort().catch(() => {});
			},
		});
	}

	async #store({ isStill }: KeepDeps, version: string, collected: Promise<Blob | null>): Promise<void> {
		try {
			const bytes = await collected;
			if (bytes === null || bytes.size < LEAST_BYTES || !(await isStill())) return;
			const headers = { "cache-control": `public, max-age=${KEPT_SECONDS}`, "content-type": "application/octet-stream" };
			await caches.default.put(this.#keyOf(version), new Response(await bytes.arrayBuffer(), { headers }));
		} catch (error) {
			logError("brand_list.not_kept", error);
		}
	}

	#keyOf(version: string): string {
		return `${this.#baseUrl}/api/brands-list/ready/${version}`;
	}
}

/** Bytes of a list, as long as they are not too many. */
class Collection {
	#chunks: Uint8Array[] = [];
	#bytes = 0;

	add(chunk: Uint8Array): void {
		this.#bytes += chunk.byteLength;
		if (this.#bytes > MAX_BYTES) this.#chunks = [];
		else this.#chunks.push(chunk);
	}

	whole(): Blob | null {
		return this.#bytes > MAX_BYTES ? null : new Blob(this.#chunks);
	}
}

async function collect(stream: Bytes, collection: Collection): Promise<Blob | null> {
	for await (const chunk of stream) collection.add(chunk);
	return collection.whole();
}

type Observer = {
	each: (bytes: Uint8Array) => Promise<void>;
	whole: () => Promise<void>;
	/** The stream failed, or its reader has gone. */
	broken: () => void;
};

/** The same stream, with an observer told of each chunk before the reader gets it. */
function observe(stream: Bytes, { each, whole, broken }: Observer): Bytes {
	const reader = stream.getReader();
	return new ReadableStream({
		async pull(controller) {
			try {
				const { done, value } = await reader.read();
				if (done) {
					await whole();
					return controller.close();
				}
				await each(value);
				controller.enqueue(value);
			} catch (error) {
				broken();
				throw error;
			}
		},
		async cancel(reason) {
			broken();
			await reader.cancel(reason);
		},
	});
}
