import { DAY_MS } from "../../src/lib/time.ts";

/** A time that lies further ahead may be a mistake, as in production: see `src/learning-night/clock.ts`. */
const MAX_AHEAD_MS = 3 * DAY_MS;
/** Whoever asks for prices says what time it is, and may have had no clicks for long. */
const MAX_ASKED_AHEAD_MS = 60 * DAY_MS;
/** A click that lies further back is late, or the time is ahead. */
const MAX_BEHIND_MS = 3 * DAY_MS;
/** Lines in a row that lie ahead, or behind, and agree with each other are no mistake: nothing came for a long time, or the time was wrong. */
const AGREEING_LINES = 20;
/** How far each of them may lie before or after the last. After: where little is clicked, lines ahead may be days apart. */
const AGREEING_BEFORE_MS = 3 * DAY_MS;
const AGREEING_AFTER_MS = 60 * DAY_MS;

/** Which times of lines are believed: a single one that is wrong neither takes the time along nor holds it up. */
export class BelievedTime {
	#ahead: number[] = [];
	#behind: { lines: number; latest: number } | null = null;
	/** Each time that the time is set back, twice as many lines are asked for: one that keeps going to and fro would cost nights over nights. */
	#neededBehind = AGREEING_LINES;

	/**
	 * The time to pass to on a line of a time: its own; null where it lies far ahead; the middle of those that do, once they agree.
	 * @param isAsked whether the line asks for prices
	 */
	forward(now: number, at: number, isAsked: boolean): number | null {
		if (at - now <= (isAsked ? MAX_ASKED_AHEAD_MS : MAX_AHEAD_MS)) {
			this.#ahead = [];
			return at;
		}
		const last = this.#ahead.at(-1) ?? at;
		if (at < last - AGREEING_BEFORE_MS || at > last + AGREEING_AFTER_MS) this.#ahead = [];
		this.#ahead.push(at);
		if (this.#ahead.length < AGREEING_LINES) return null;
		const middle = this.#ahead.toSorted((a, b) => a - b)[AGREEING_LINES / 2] ?? at;
		this.#ahead = [];
		return middle;
	}

	/** The time to go back to on a click of a time; null where none is. */
	back(now: number, at: number): number | null {
		if (now - at <= MAX_BEHIND_MS) {
			this.#behind = null;
			return null;
		}
		const { lines, latest } = this.#behind ?? { lines: 0, latest: at };
		this.#behind =
			Math.abs(at - latest) > AGREEING_BEFORE_MS ? { lines: 1, latest: at } : { lines: lines + 1, latest: Math.max(latest, at) };
		if (this.#behind.lines < this.#neededBehind) return null;
		const to = this.#behind.latest;
		this.#behind = null;
		this.#neededBehind *= 2;
		return to;
	}
}
