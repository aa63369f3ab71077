/** The database far away: every call takes a while, and an invocation may end between any two. */
import { env } from "cloudflare:workers";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";

const DELAY_MS = 100;

export type FarDatabase = { db: Database; calls: () => number; statements: () => number };

/** A database that is {@link DELAY_MS} away; after so many calls the invocation that uses it ends. */
export function farDatabase(callsLeft = Number.POSITIVE_INFINITY, delayMs = DELAY_MS): FarDatabase {
	let calls = 0;
	let statements = 0;
	const d1 = wrapD1(env.DB, async (texts) => {
		if (calls >= callsLeft) throw new Error("the invocation has ended");
		calls++;
		statements += texts.length;
		await scheduler.wait(delayMs);
	});
	return { db: openDatabase(d1), calls: () => calls, statements: () => statements };
}
