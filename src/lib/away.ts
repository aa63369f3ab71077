/**
 * What we rest on and cannot have just now, told from a defect of ours: a database, KV or a queue that is away may answer later. The one
 * place that knows what they say then.
 */
import { within } from "./async.ts";
import { HttpError, jsonResponse } from "./http.ts";

/** PostgreSQL that is away, by its SQLSTATE or its silence; and whatever has taken longer than it may. The message holds no values. */
export class AwayError extends Error {
	override readonly name = "AwayError";
}

/** What D1 says whose writes a move has stopped: a trigger refuses them, which SQLite counts among the constraints. */
export const HELD = "the network database is being moved";

/** Codes of SQLite that say nothing of the statement. */
const SQLITE_AWAY = /\bSQLITE_(?:BUSY|LOCKED|FULL|IOERR|NOMEM|INTERRUPT|CANTOPEN|PROTOCOL)/;
/** What D1 refuses without a code of SQLite. All else that it says so is of its own state, in words that change: "… is overloaded". */
const D1_DEFECT =
	/No SQL statements detected|number of parameter bindings|too many (?:SQL variables|parameters)|malformed|no such (?:table|column)|syntax error|statement too long|TOOBIG/i;

/** What the runtime says of a call that did not come through, whatever it was made to. */
const RUNTIME = /^(?:Network connection lost|internal error; reference|.*\b(?:caused object to be reset|is overloaded|on remote node)\b)/i;
const KV = /^KV \w+ failed: (?:429|5\d\d)\b/;
/** It gives the reason of the HTTP status alone. */
const QUEUE = /^Queue \w+ failed: (?!Bad Request|Payload Too Large|Content Too Large|Not Found|Forbidden|Unauthorized)/;
/** R2 ends with its code: internal error, unavailable, too many requests. */
const R2 = /\((?:10001|10043|10058)\)$/;

/** drizzle puts the statement and its values before what has failed, as the cause. */
const DRIZZLE = "Failed query: ";

/** Whether what failed is away, and so may answer later; false for a defect of ours, and for a row that stands in the way. */
export function isAwayError(error: unknown): boolean {
	for (let cause = error; cause instanceof Error; cause = cause.cause) {
		if (cause instanceof AwayError) return true;
		if (cause instanceof HttpError) return false;
		if (!cause.message.startsWith(DRIZZLE) && saysAway(cause)) return true;
	}
	return false;
}

function saysAway(error: Error): boolean {
	const { message } = error;
	if (message.startsWith("D1_")) {
		if (message.includes(HELD)) return true;
		if (!message.startsWith("D1_ERROR")) return false;
		return message.includes("SQLITE_") ? SQLITE_AWAY.test(message) : !D1_DEFECT.test(message);
	}
	const { retryable, overloaded } = error as { retryable?: unknown; overloaded?: unknown };
	return retryable === true || overloaded === true || [RUNTIME, KV, QUEUE, R2].some((words) => words.test(message));
}

const LATE = Symbol("late");

/** What a call comes to. @param name of what is called @throws AwayError where that takes longer than `timeoutMs`: it then goes on */
export async function inTime<Value>(calling: Promise<Value>, timeoutMs: number, name: string): Promise<Value> {
	const value = await within<Value, typeof LATE>(calling, timeoutMs, LATE);
	if (value === LATE) throw new AwayError(`${name} did not answer in time`);
	return value;
}

/** The same binding, KV or a queue, none of whose calls is waited for longer than `timeoutMs`. */
export function boundCalls<Binding extends object>(binding: Binding, timeoutMs: number, name: string): Binding {
	return new Proxy(binding, {
		get(target, property) {
			const value: unknown = Reflect.get(target, property);
			if (typeof value !== "function") return value;
			return (...given: unknown[]) => {
				const answer: unknown = value.apply(target, given);
				return answer instanceof Promise ? inTime(answer, timeoutMs, name) : answer;
			};
		},
	});
}

/** When to try again, seconds: what the 503s of all that is temporary say, where they know no better. */
export const RETRY_AFTER_SECONDS = 5;

/** `error` of the answers to what was asked while something was away. */
export const UNAVAILABLE = "Service unavailable";

/** What is asked for by POST and only read. */
const READING = /^\/(?:api\/(?:reporting\/\w[\w-]*|explain|links)|operator\/(?:explain|check-ledger|trace|keys\/list))$/;

/** The answer to whom what is away was needed for: whatever writes may have been done all the same. */
export function answerAway({ method, url }: Pick<Request, "method" | "url">): Response {
	const { pathname, searchParams } = new URL(url);
	const isRead = method === "GET" || method === "HEAD" || searchParams.get("dry_run") === "1" || READING.test(pathname);
	const then = isRead ? "Try again in a few seconds." : "What was asked may have been done all the same: look before you send it again.";
	const message = `Something this needs does not answer just now. ${then}`;
	return jsonResponse({ error: UNAVAILABLE, message }, 503, { "retry-after": String(RETRY_AFTER_SECONDS) });
}
