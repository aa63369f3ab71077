import { putBounded } from "./bounded-map.ts";
import { MINUTE_MS } from "./time.ts";

const MAX_KEPT = 5_000;

/** Counts by name and minute what happens in this isolate. */
export class PerMinute {
	readonly #counts = new Map<string, { minute: number; count: number }>();

	/** How many there were of this name in this minute, with this one. */
	count(name: string, now: number): number {
		const minute = Math.floor(now / MINUTE_MS);
		const known = this.#counts.get(name);
		if (known?.minute === minute) return ++known.count;
		putBounded(this.#counts, name, { minute, count: 1 }, MAX_KEPT);
		return 1;
	}
}
