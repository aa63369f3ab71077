/** What keeps consumers and cron from a database that takes no writes, or that the network was never moved to. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { logError, logInfo } from "../lib/log.ts";
import type { MoveDeps } from "./move.ts";
import { isHeld, readMoveState } from "./source.ts";
import { takeOver } from "./target.ts";

type Move = MoveDeps["move"];

/**
 * A hundred of them, which a message has before it is a dead letter, are eight hours; and that is how long the last one may wait after the switch.
 */
const HELD_RETRY_SECONDS = 300;

/**
 * Whether a batch waits in its queue while the database is moved; not for dead letters, which KV keeps meanwhile. Costs a query only where
 * both databases are bound: elsewhere the databases themselves refuse, and the queue brings the batch again.
 */
export async function isBatchHeld(move: Move, batch: MessageBatch): Promise<boolean> {
	if (move === null || !(await (move.hasSwitched ? isBoundTooEarly(move) : isHeld(move.from)))) return false;
	batch.retryAll({ delaySeconds: HELD_RETRY_SECONDS });
	logInfo("database_move.batch_held", { queue: batch.queue, count: batch.messages.length });
	return true;
}

/**
 * Whether the cron writes nothing in this minute. After the switch its first run lets PostgreSQL take writes.
 * @param postgres the network database, where it is PostgreSQL
 */
export async function isCronHeld(postgres: Database | null, move: Move): Promise<boolean> {
	if (postgres === null) return move !== null && (await isHeld(move.from));
	const phase = await takeOver(postgres);
	if (phase !== "moving" && phase !== "cancelled" && (move === null || !(await isBoundTooEarly(move)))) return false;
	logError("database_move.not_moved", new Error('PostgreSQL holds no whole network: set NETWORK_DATABASE = "d1" and deploy'), { phase });
	return true;
}

/** Whether PostgreSQL is in use, but the network is still in D1, or was copied by half: whom it does not know may be known there. */
export async function isNetworkElsewhere(move: Move): Promise<boolean> {
	if (move === null || !move.hasSwitched) return false;
	const { phase } = await readMoveState(move.to);
	return phase === "moving" || phase === "cancelled" || (phase === "none" && (await isBoundTooEarly(move)));
}

/**
 * Whether PostgreSQL is in use and holds no network, while D1 has one that was never moved: whoever binds it has NETWORK_DATABASE in mind.
 * Its cron would publish a book without brands, and its consumers would count what they know nothing of.
 */
async function isBoundTooEarly({ from, to }: NonNullable<Move>): Promise<boolean> {
	return !(await hasNetwork(to)) && (await hasNetwork(from)) && !(await isHeld(from));
}

async function hasNetwork(db: Database): Promise<boolean> {
	const [row] = await db.all<{ known: number }>(sql`SELECT CASE WHEN EXISTS (SELECT 1 FROM publishers) THEN 1 ELSE 0 END AS known`);
	return row?.known === 1;
}
