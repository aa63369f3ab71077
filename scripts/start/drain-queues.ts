/** Before the local server ends: its queues live in its memory, and what waits there would be lost with it. */
import * as v from "valibot";
import { statusSchema } from "../../src/operator/status/status-answer.ts";
import { Failure } from "../local/failure.ts";
import { callOperator } from "../operator/call-operator.ts";

const MAX_WAIT_MS = 10_000;
const POLL_MS = 250;
/** A batch that a consumer has taken is in no queue any more: so many empty looks in a row, until it is through too. */
const EMPTY_LOOKS = 3;

/** Clicks and postbacks; callbacks have their outbox in the database. */
const queuesSchema = v.object({ queues: statusSchema.entries.queues });

/**
 * Waits until clicks and postbacks that were acknowledged are in the database, ten seconds at most, or until it is aborted.
 * @param origin of the local server
 * @returns what to tell of messages that are left; null where there are none
 */
export async function drainQueues(origin: string, operatorKey: string, abort: AbortSignal): Promise<string | null> {
	const deadline = Date.now() + MAX_WAIT_MS;
	for (let emptyLooks = 0; emptyLooks < EMPTY_LOOKS; ) {
		const left = await countWaiting(origin, operatorKey);
		if (left === null) return "The server does not answer any more: what its queues still held is lost.";
		const waiting = left.clicks + left.postbacks;
		emptyLooks = waiting === 0 ? emptyLooks + 1 : 0;
		if (waiting > 0 && (Date.now() > deadline || abort.aborted)) {
			return `Ended with ${left.clicks} clicks and ${left.postbacks} postbacks in the queues: they are lost.`;
		}
		await new Promise((resolve) => setTimeout(resolve, POLL_MS));
	}
	return null;
}

type Waiting = { clicks: number; postbacks: number };

/** Null where the server does not say. */
async function countWaiting(origin: string, operatorKey: string): Promise<Waiting | null> {
	try {
		const { body } = await callOperator({ origin, key: operatorKey, keySource: "this start" }, "/operator/status", null);
		const { clicks, postbacks } = v.parse(queuesSchema, body).queues;
		return { clicks: clicks?.messages ?? 0, postbacks: postbacks?.messages ?? 0 };
	} catch (error) {
		if (error instanceof Failure || error instanceof v.ValiError) return null;
		throw error;
	}
}
