/**
 * Sends the postbacks of requests that come at the same time as one message. Nobody waits for company: one that finds no send under way
 * goes at once by itself; those that come meanwhile go together with the next.
 *
 * Correctness never rests on another request: each waits for the receipt of its own postback, and one that gets none in time, because the
 * request that was to send it is gone, sends it itself. A postback that is sent twice is settled once.
 */
import { type WaitUntil, within } from "../lib/async.ts";
import { SECOND_MS } from "../lib/time.ts";
import { MESSAGE_FORMAT, type PostbackMessage, type ReceivedPostback } from "./message.ts";

type PostbackQueue = { send: (message: PostbackMessage) => Promise<unknown> };

/** A queue that does not answer by then is taken for one that failed. */
const SEND_TIMEOUT_MS = 5 * SECOND_MS;
/** How long a message waits for another request to send it. */
const COMPANY_TIMEOUT_MS = SECOND_MS / 2;
/** Bytes of one message by our own count, which is on the safe side of the queue's 128 KB; so a message holds fifty postbacks at most. */
const MAX_BYTES = 100_000;
const LEAST_BYTES_OF_A_POSTBACK = 2_000;

type Group = { items: ReceivedPostback[]; bytes: number; sent: Promise<boolean>; settle: (sent: boolean) => void };

export class PostbackBatcher {
	readonly #queue: PostbackQueue;
	/** The send under way; resolves when it has ended, however. */
	#underWay: Promise<unknown> | null = null;
	#next: Group | null = null;

	constructor(queue: PostbackQueue) {
		this.#queue = queue;
	}

	/** Resolves once the queue has the message. @throws Error where it does not take it, or not in time */
	async send(message: ReceivedPostback, waitUntil: WaitUntil): Promise<void> {
		const underWay = this.#underWay;
		if (underWay === null) return this.#run(this.#queue.send(message), waitUntil);
		const bytes = sizeOf(message);
		const group = this.#next;
		if (group === null) return this.#lead(newGroup(message, bytes), underWay, waitUntil);
		if (group.bytes + bytes > MAX_BYTES) return inTime(this.#queue.send(message));
		group.items.push(message);
		group.bytes += bytes;
		// Nobody has sent it in time, for all that is known.
		if (await within(group.sent, COMPANY_TIMEOUT_MS, false)) return;
		if (this.#next === group) this.#forget();
		await inTime(this.#queue.send(message));
	}

	/** Sends a message by itself. Resolves once the queue has it. @throws Error where it does not take it, or not in time */
	sendAlone(message: PostbackMessage): Promise<void> {
		return inTime(this.#queue.send(message));
	}

	/** The first of a group waits for the send under way, and then sends for all that have joined. */
	async #lead(group: Group, underWay: Promise<unknown>, waitUntil: WaitUntil): Promise<void> {
		this.#next = group;
		const working = this.#sendGroup(group, underWay, waitUntil);
		// A caller that hangs up must not take the others' messages with it.
		waitUntil(working.catch(() => {}));
		await working;
	}

	async #sendGroup(group: Group, underWay: Promise<unknown>, waitUntil: WaitUntil): Promise<void> {
		await within(underWay, COMPANY_TIMEOUT_MS, null);
		if (this.#next === group) this.#next = null;
		try {
			await this.#run(this.#queue.send({ format: MESSAGE_FORMAT, kind: "together", items: group.items }), waitUntil);
			group.settle(true);
		} catch (error) {
			group.settle(false);
			throw error;
		}
	}

	async #run(sending: Promise<unknown>, waitUntil: WaitUntil): Promise<void> {
		const ended = sending.then(
			() => {},
			() => {},
		);
		this.#underWay = ended;
		waitUntil(ended);
		try {
			await inTime(sending);
		} finally {
			if (this.#underWay === ended) this.#underWay = null;
		}
	}

	/** The request that should have sent is gone: the next ones start afresh. */
	#forget(): void {
		this.#next = null;
		this.#underWay = null;
	}
}

function newGroup(message: ReceivedPostback, bytes: number): Group {
	const { promise, resolve } = Promise.withResolvers<boolean>();
	return { items: [message], bytes, sent: promise, settle: resolve };
}

/** No less than what a postback takes as JSON: what it says stands in its query too, and a character takes three bytes at most. */
function sizeOf({ intake }: ReceivedPostback): number {
	return LEAST_BYTES_OF_A_POSTBACK + 5 * intake.query.length;
}

const LATE = Symbol("late");

/** @throws Error where a send fails, or does not end in time */
async function inTime(sending: Promise<unknown>): Promise<void> {
	if ((await within<unknown>(sending, SEND_TIMEOUT_MS, LATE)) === LATE) throw new Error("the queue did not answer in time");
}
