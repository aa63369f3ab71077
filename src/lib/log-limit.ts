import { putBounded } from "./bounded-map.ts";
import { type LogFields, logError } from "./log.ts";
import { MINUTE_MS } from "./time.ts";

/** Things that are remembered: where there are more, the first may be said again. */
const MAX_KNOWN = 10_000;

/** Says what is worth a line of the log: one thing at most once a minute, however often it happens. */
export class LogLimit {
	readonly #loggedAt = new Map<string, number>();

	/** Whether `what` may be logged at `now`, Unix milliseconds; it then counts as logged. */
	allows(what: string, now: number): boolean {
		const last = this.#loggedAt.get(what);
		if (last !== undefined && Math.abs(now - last) < MINUTE_MS) return false;
		putBounded(this.#loggedAt, what, now, MAX_KNOWN);
		return true;
	}
}

const told = new LogLimit();

/**
 * Tells the log of a failure once a minute an isolate, however often it happens: while something is away, everything that needs it fails alike.
 * @param now Unix milliseconds
 */
export function logErrorOnce(event: string, error: unknown, now: number, fields: LogFields = {}): void {
	if (told.allows(`${event} ${wordsOf(error)}`, now)) logError(event, error, fields);
}

/** Tells it of a request that needed what is away, once a minute and part of the service, with the route of the first. */
export function logAway(error: unknown, path: string, request: string, now: number): void {
	const [, part = "", verb = ""] = path.split("/", 3);
	if (told.allows(`request.away ${part} ${wordsOf(error)}`, now)) logError("request.away", error, { route: `/${part}/${verb}`, request });
}

/** What a failure says, without the number that each one within the platform has. */
export function wordsOf(error: unknown): string {
	const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
	return root instanceof Error ? root.message.replace(/reference = \w+/, "") : typeof root;
}
