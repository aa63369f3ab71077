/** The consumer of the queue `callbacks`. */
import { sql } from "drizzle-orm";
import { type Database, isPostgres } from "../db/client.ts";
import { keepUnreadable } from "../dead-letters/keep-unreadable.ts";
import { isAwayError } from "../lib/away.ts";
import { logError } from "../lib/log.ts";
import { CallTimes } from "./call-times.ts";
import { type CallbackDeps, deliverCallback } from "./deliver-callback.ts";
import { readCallbackMessage } from "./message.ts";

/**
 * A Worker has six connections; while one waits for its answer, it is taken. On PostgreSQL the batch holds one to the database all the time:
 * a sixth call would wait for another to end, and the time in which it must be answered would run.
 */
const MAX_CONCURRENT = 6;
const MAX_CONCURRENT_ON_POSTGRES = 5;

/** How long a message rests whose delivery failed for a reason of our own, such as the database's. */
const RETRY_DELAY_SECONDS = 30;

/**
 * Delivers what a batch names: different conversions side by side, one conversion in order. Once slow addresses have taken their part of
 * the minute, the rest of theirs is put aside for the sweep: the queue would else hold everyone's behind it. Also of a batch that has nothing
 * else, as no batch tells what is behind it.
 */
export async function consumeCallbacks(deps: CallbackDeps, batch: MessageBatch, times = new CallTimes()): Promise<void> {
	const { db, now } = deps;
	const waiting = batch.messages[Symbol.iterator]();
	const aside: string[] = [];
	let owners: Promise<ReadonlyMap<string, string>> | undefined;
	const isPutAside = async (id: string): Promise<boolean> => {
		if (!times.doesAnyWait(now())) return false;
		owners ??= readOwners(db, batch).catch(tellUnread);
		const owner = (await owners).get(id);
		return owner !== undefined && !times.mayCall(owner, now());
	};
	/** @returns whether the next may be taken: not while the database is away, for which each would wait as long */
	const take = async (message: Message): Promise<boolean> => {
		const id = readCallbackMessage(message.body);
		if (id === null) {
			await keepUnreadable(deps, "callbacks", [message]);
			return true;
		}
		try {
			if (await isPutAside(id)) aside.push(id);
			else {
				const time = await deliverCallback(deps, id);
				if (time !== null) times.add(time.publisherId, time.milliseconds, now());
			}
			message.ack();
			return true;
		} catch (error) {
			logError("callback.not_delivered", error, { message: message.id });
			message.retry({ delaySeconds: RETRY_DELAY_SECONDS });
			return !isAwayError(error);
		}
	};
	const work = async (): Promise<void> => {
		for (let next = waiting.next(); next.done !== true; next = waiting.next()) if (!(await take(next.value))) return;
	};
	const length = isPostgres(deps.db) ? MAX_CONCURRENT_ON_POSTGRES : MAX_CONCURRENT;
	await Promise.all(Array.from({ length }, work));
	for (let left = waiting.next(); left.done !== true; left = waiting.next()) left.value.retry({ delaySeconds: RETRY_DELAY_SECONDS });
	if (aside.length > 0) await putAside(db, aside, now());
}

/** Whose the callbacks of a batch are, by id. */
async function readOwners(db: Database, { messages }: MessageBatch): Promise<ReadonlyMap<string, string>> {
	const ids = JSON.stringify(messages.map(({ body }) => readCallbackMessage(body)).filter((id) => id !== null));
	const rows = await db.all<{ id: string; publisherId: string }>(sql`SELECT c.id, c.publisher_id AS "publisherId"
		FROM json_each(${ids}) j CROSS JOIN callbacks c WHERE c.id = j.atom`);
	return new Map(rows.map(({ id, publisherId }) => [id, publisherId]));
}

/** Where owners cannot be read, all is delivered: nobody's need wait. */
function tellUnread(error: unknown): ReadonlyMap<string, string> {
	logError("callbacks.owners_not_read", error);
	return new Map();
}

/** The next sweep puts them on the queue again. Where this fails a later one does: the rows are the truth. */
async function putAside(db: Database, ids: readonly string[], now: number): Promise<void> {
	try {
		await db.run(sql`UPDATE callbacks SET queued_until = ${now}
			WHERE id IN (SELECT atom FROM json_each(${JSON.stringify(ids)})) AND state = 'due' AND lease IS NULL`);
	} catch (error) {
		logError("callbacks.not_put_aside", error, { count: ids.length });
	}
}
