import type { WaitUntil } from "./async.ts";

/** How often waits are looked at: so much later than said one may be given up. */
export const DEADLINE_TICK_MS = 500;

type Wait = { until: number; giveUp: () => void };
type Watch = { waits: Set<Wait>; takesUntil: number };

/**
 * Gives up waits that last too long, as `within` does, but many with one timer: a timer of its own costs a redirect more than the hash of
 * its visitor. A timer ends with its request. So the first wait of half a second sets it and keeps its request until all that came
 * meanwhile have ended; the next to come begins a watch of its own. One an isolate.
 */
export class Deadlines {
	readonly #tickMs: number;
	#watch: Watch = { waits: new Set(), takesUntil: Number.NEGATIVE_INFINITY };

	constructor(tickMs = DEADLINE_TICK_MS) {
		this.#tickMs = tickMs;
	}

	/**
	 * What a promise comes to, or `late` where that takes longer than `timeoutMs` milliseconds and a tick. A rejection that comes too late is
	 * ignored.
	 */
	within<Value, Late = Value>(promise: Promise<Value>, timeoutMs: number, late: Late, waitUntil: WaitUntil): Promise<Value | Late> {
		const now = Date.now();
		if (now >= this.#watch.takesUntil) {
			this.#watch = { waits: new Set(), takesUntil: now + this.#tickMs };
			waitUntil(keepWatch(this.#watch, this.#tickMs));
		}
		const { waits } = this.#watch;
		const first = Promise.withResolvers<Value | Late>();
		const wait: Wait = { until: now + timeoutMs, giveUp: () => first.resolve(late) };
		waits.add(wait);
		promise.then(
			(value) => {
				waits.delete(wait);
				first.resolve(value);
			},
			(error: unknown) => {
				waits.delete(wait);
				first.reject(error);
			},
		);
		return first.promise;
	}
}

async function keepWatch(watch: Watch, tickMs: number): Promise<void> {
	const { waits } = watch;
	do {
		await new Promise((resolve) => setTimeout(resolve, tickMs));
		// Whatever its clock says: what came after the last look would be watched by nobody.
		watch.takesUntil = Number.NEGATIVE_INFINITY;
		const now = Date.now();
		for (const wait of waits) {
			if (now < wait.until) continue;
			waits.delete(wait);
			wait.giveUp();
		}
	} while (waits.size > 0);
}
