/** The database far away: an invocation may end between any two calls, and each call takes a while on a clock of its own. */
import { env } from "cloudflare:workers";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";

/** What a call takes; nobody waits for it in a test. */
const CALL_MS = 100;

/** `elapsedMs` is what the calls would have taken one after another. */
export type FarDatabase = { db: Database; calls: () => number; statements: () => number; elapsedMs: () => number };

/** A database that is {@link CALL_MS} away; after so many calls the invocation that uses it ends. */
export function farDatabase(callsLeft = Number.POSITIVE_INFINITY): FarDatabase {
	let calls = 0;
	let statements = 0;
	const d1 = wrapD1(env.DB, (texts) => {
		if (calls >= callsLeft) throw new Error("the invocation has ended");
		calls++;
		statements += texts.length;
	});
	return { db: openDatabase(d1), calls: () => calls, statements: () => statements, elapsedMs: () => calls * CALL_MS };
}
