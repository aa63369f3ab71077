/** Counts decisions in the isolate, and sends the counts about once a minute. Nothing of it is waited for, and no bid rests on it. */
import { type WaitUntil, within } from "../lib/async.ts";
import { type BidEndpoint, COUNTED_ENDPOINTS, type CountedEndpoint, type NoticeKind } from "../lib/enums.ts";
import { newTimeOrderedId } from "../lib/ids.ts";
import { logError } from "../lib/log.ts";
import { splitByBytes } from "../lib/split-by-bytes.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../lib/time.ts";
import type { Decision } from "./auction.ts";
import {
	BID_COUNTS,
	BID_COUNTS_FORMAT,
	BID_OUTCOMES,
	type BidCount,
	type BidCountsMessage,
	type BidOutcome,
	MAX_REQUESTER_LENGTH,
} from "./counts-message.ts";

export type BidCountsDeps = {
	queue: { send(message: BidCountsMessage): Promise<unknown> };
	now: () => number;
	/** Waits, in milliseconds. */
	pause: (milliseconds: number) => Promise<void>;
};

/**
 * What is done after an answer is cut off 30 s later: the request that sends waits this long for further decisions. Whatever this isolate
 * decides before it ends goes with the same message.
 */
export const COLLECT_MS = 20 * SECOND_MS;
const SEND_TIMEOUT_MS = 5 * SECOND_MS;

/** Names that are counted apart between two messages: callers make up as many as they like. Others count without a name. */
export const MAX_REQUESTERS = 1_000;
/** Of them, names of publishers that are unknown here: one that is suspended, or not enabled, is to see its requests all the same. */
export const MAX_STRANGERS = 100;
/** Counts of a message, and their bytes, of the queue's 128 KB: a name that somebody made up may be all escapes. */
export const MAX_COUNTS = 1_000;
const MAX_COUNTS_BYTES = 100_000;
/** Messages that wait for a queue that refuses them; the oldest are lost first. */
const MAX_UNSENT = 20;

const NOBODY = "";

const PLACES = Object.fromEntries(BID_OUTCOMES.map((outcome, at) => [outcome, at])) as Record<BidOutcome, number>;

type Counts = Map<string, Float64Array>;

/** One an isolate. */
export class DecisionCounts {
	readonly #deps: BidCountsDeps;
	#counts: Record<CountedEndpoint, Counts> = noCounts();
	#strangers = 0;
	/** Of hours that have ended, not sent yet. */
	#ended: BidCount[] = [];
	#unsent: BidCountsMessage[] = [];
	/** Unix time in milliseconds at which the hour of the present counts ends. */
	#hourEnd = 0;
	/** From when a decision has the counts sent. */
	#sendFrom = 0;

	constructor(deps: BidCountsDeps) {
		this.#deps = deps;
	}

	/**
	 * Counts a decision: on nearly every bid a look-up, three comparisons and an addition.
	 * @param requester the name by which the publisher asked
	 */
	count(endpoint: BidEndpoint, requester: string, decision: Decision, now: number, waitUntil: WaitUntil): void {
		this.#add(endpoint, requester, decision.outcome === "bid" ? "bid" : decision.reason, now, waitUntil);
	}

	/** Counts what an exchange tells of a bid. @param identity the publisher's, as the notice names it: anyone can make one up */
	countNotice(identity: string, kind: NoticeKind, now: number, waitUntil: WaitUntil): void {
		this.#add("notice", identity, kind, now, waitUntil);
	}

	#add(endpoint: CountedEndpoint, requester: string, outcome: BidOutcome, now: number, waitUntil: WaitUntil): void {
		if (now >= this.#hourEnd) this.#turnHour(now);
		const of = this.#counts[endpoint];
		const counts = of.get(requester) ?? this.#start(of, requester, outcome);
		const place = PLACES[outcome];
		counts[place] = (counts[place] ?? 0) + 1;
		if (now >= this.#sendFrom) {
			// Should this request be cut off, another one sends a minute later.
			this.#sendFrom = now + MINUTE_MS;
			waitUntil(this.#sendLater());
		}
	}

	#start(of: Counts, requester: string, outcome: BidOutcome): Float64Array {
		// Most likely it is whatever a caller made up: the consumer knows.
		const isStranger = outcome === "publisher_not_enabled";
		const hasRoom = of.size < MAX_REQUESTERS && !(isStranger && this.#strangers >= MAX_STRANGERS);
		const name = hasRoom && requester.length <= MAX_REQUESTER_LENGTH ? requester : NOBODY;
		const known = of.get(name);
		if (known !== undefined) return known;
		if (isStranger) this.#strangers++;
		const counts = new Float64Array(BID_OUTCOMES.length);
		of.set(name, counts);
		return counts;
	}

	#turnHour(now: number): void {
		this.#ended.push(...this.#take());
		this.#hourEnd = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
	}

	/** The present counts, which begin again. */
	#take(): BidCount[] {
		const hour = Math.floor(this.#hourEnd / HOUR_MS) - 1;
		const taken = COUNTED_ENDPOINTS.flatMap((endpoint) =>
			[...this.#counts[endpoint]].flatMap(([requester, counts]) =>
				BID_OUTCOMES.flatMap((outcome, place): BidCount[] => {
					const count = counts[place] ?? 0;
					return count === 0 ? [] : [[hour, endpoint, requester, outcome, count]];
				}),
			),
		);
		this.#counts = noCounts();
		this.#strangers = 0;
		return taken;
	}

	async #sendLater(): Promise<void> {
		await this.#deps.pause(COLLECT_MS);
		const at = this.#deps.now();
		// With what the next request collects it is a minute from message to message.
		this.#sendFrom = at + MINUTE_MS - COLLECT_MS;
		const counts = [...this.#ended, ...this.#take()];
		this.#ended = [];
		for (let from = 0; from < counts.length; from += MAX_COUNTS) {
			for (const part of splitByBytes(counts.slice(from, from + MAX_COUNTS), MAX_COUNTS_BYTES)) {
				this.#unsent.push({ kind: BID_COUNTS, format: BID_COUNTS_FORMAT, id: newTimeOrderedId(at), at, counts: part });
			}
		}
		await this.#send();
	}

	/** Never rejects. What the queue refuses waits for the next time, under its id: one that was taken all the same counts once. */
	async #send(): Promise<void> {
		for (const message of [...this.#unsent]) {
			try {
				const sent = this.#deps.queue.send(message).then(() => true);
				if (!(await within(sent, SEND_TIMEOUT_MS, false))) throw new Error("the queue did not answer in time");
				this.#unsent = this.#unsent.filter((other) => other !== message);
			} catch (error) {
				logError("bids.counts_refused", error, { message: message.id });
			}
		}
		for (const { id, counts } of this.#unsent.slice(0, -MAX_UNSENT)) {
			logError("bids.counts_lost", new Error("too many messages wait for the queue"), { message: id, counts: counts.length });
		}
		this.#unsent = this.#unsent.slice(-MAX_UNSENT);
	}
}

function noCounts(): Record<CountedEndpoint, Counts> {
	return { openrtb: new Map(), "serving-engine": new Map(), notice: new Map() };
}
