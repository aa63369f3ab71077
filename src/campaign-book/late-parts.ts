/**
 * Parts of the book that KV has not spread to this data centre yet, in whatever format: how long KV may cache what a read of them
 * answers, and which earlier version stands in for one that has not come.
 */
import { SPREAD_MS } from "./format.ts";

/** KV's shortest cache life. */
export const SHORT_CACHE_SECONDS = 30;
/** Parts never change under their key. */
const LONG_CACHE_SECONDS = 3_600;

/** What is missing, and which version serves meanwhile; null where this isolate has none in memory. */
type LatePart = { version: string; standIn: string | null };

export class LateParts {
	readonly #late = new Map<number, LatePart>();

	/**
	 * Seconds for which KV may cache the answer to a read of parts that a manifest names. KV caches misses too: a part that has not come yet
	 * would be missed for as long as one that has come may be kept.
	 * @param publishedAt of the manifest, Unix milliseconds
	 */
	cacheSeconds(publishedAt: number, now: number): number {
		return this.#late.size > 0 || now - publishedAt < SPREAD_MS ? SHORT_CACHE_SECONDS : LONG_CACHE_SECONDS;
	}

	/** Notes that a part's version is not there. @param standIn the version of it that is in memory and serves meanwhile */
	note(index: number, version: string, standIn: string | null): void {
		this.#late.set(index, { version, standIn });
	}

	arrived(index: number, version: string): void {
		if (this.#late.get(index)?.version === version) this.#late.delete(index);
	}

	/** The version that serves in place of one that has not come; null where there is none, or none is needed. */
	standInFor(index: number, version: string): string | null {
		const late = this.#late.get(index);
		return late?.version === version ? late.standIn : null;
	}

	/** What to look for again in the background, `most` at most; what has no stand-in is looked for whenever it is asked for. */
	awaited(most: number): [index: number, version: string, standIn: string][] {
		const awaited: [number, string, string][] = [];
		for (const [index, { version, standIn }] of this.#late) {
			if (standIn !== null && awaited.length < most) awaited.push([index, version, standIn]);
		}
		return awaited;
	}

	/** Forgets what another book no longer names. */
	retain(isNamed: (index: number, version: string) => boolean): void {
		for (const [index, { version }] of this.#late) if (!isNamed(index, version)) this.#late.delete(index);
	}
}
