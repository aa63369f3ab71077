/**
 * Sends clicks to the queue; what it refuses, or does not take in time, is kept in KV until the cron takes it.
 *
 * A send that hangs (one of 57 s was seen) must be given up before the runtime ends its request, and a timer is a noticeable part of a
 * redirect. So clicks that set out within a quarter of a second share one, which the first of them waits for. It only tells the others:
 * each keeps its click within its own request. Were the first one's request gone, the next that starts a timer tells what it left.
 */
import { within } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
import { LogLimit, wordsOf } from "../lib/log-limit.ts";
import { type ClickBatches, MAX_KEEPING_MS } from "./click-batches.ts";
import type { ClickMessage } from "./message.ts";

/** For so long others share a click's timer. */
const TOGETHER_MS = 250;
const SEND_TIMEOUT_MS = 3_000;
const SEND_PAUSES_MS = [100, 1_000];
/** A round that closed this long ago was left. */
const LEFT_AFTER_MS = SEND_TIMEOUT_MS + 1_000;

/** The longest that {@link ClickSender.send} takes, milliseconds, where the first of its round lives. */
export const MAX_SENDING_MS = TOGETHER_MS + SEND_TIMEOUT_MS + MAX_KEEPING_MS;

/** What became of a click on its way: null where the queue has it, else why not. */
type Outcome = { refusal: unknown } | null;
type Sending = {
	click: ClickMessage;
	round: Round;
	/** In the round's list. */
	place: number;
	isOver: boolean;
	end: (outcome: Outcome) => void;
};

/** Clicks that share a timer: those that nothing is known of yet. */
type Round = { pending: Sending[]; closesAt: number; isClosed: boolean; emptied: PromiseWithResolvers<boolean> };

type Parts = {
	queue: { send(message: ClickMessage): Promise<unknown> };
	/** Where a click goes that the queue refuses. */
	batches: Pick<ClickBatches, "keep">;
	/** Waits before a try is repeated, in milliseconds. */
	pause: (milliseconds: number) => Promise<void>;
};

/** Stands in for a queue that is not bound: every click is kept in KV. */
export const CLICKS_UNBOUND: Parts["queue"] = {
	send: () => Promise.reject(new Error("the queue CLICKS is not bound")),
};

/** One an isolate. */
export class ClickSender {
	readonly #parts: Parts;
	/** The round that still takes clicks. */
	#open: Round | null = null;
	/** All whose timer runs, oldest first. */
	readonly #rounds = new Set<Round>();
	readonly #told = new LogLimit();

	constructor(parts: Parts) {
		this.#parts = parts;
	}

	/**
	 * Resolves once the queue has the click, or KV; never rejects. A click that neither takes is told in the log. A send that is given up may
	 * still work: then the same click comes twice and counts once.
	 */
	async send(click: ClickMessage): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<Outcome>();
		const now = Date.now();
		const open = this.#open;
		const isFirst = open === null || now >= open.closesAt;
		const round = isFirst ? this.#start(now) : open;
		const sending: Sending = { click, round, place: round.pending.length, isOver: false, end: resolve };
		round.pending.push(sending);
		this.#attempt(click).then(
			() => end(sending, null),
			(error: unknown) => this.#tryAgain(sending, error),
		);
		const led = isFirst ? this.#lead(round) : null;
		const outcome = await promise;
		if (outcome !== null) await this.#keep(click, outcome.refusal);
		if (led !== null) await led;
	}

	#start(now: number): Round {
		for (const other of this.#rounds) {
			if (other.closesAt + LEFT_AFTER_MS > now) break;
			this.#rounds.delete(other);
			giveUp(other);
		}
		const round = { pending: [], closesAt: now + TOGETHER_MS, isClosed: false, emptied: Promise.withResolvers<boolean>() };
		this.#rounds.add(round);
		this.#open = round;
		return round;
	}

	async #lead(round: Round): Promise<void> {
		await new Promise<void>((resolve) => void setTimeout(resolve, TOGETHER_MS));
		// Another request's clock may be behind.
		if (this.#open === round) this.#open = null;
		round.isClosed = true;
		if (round.pending.length > 0 && !(await within(round.emptied.promise, SEND_TIMEOUT_MS, false))) giveUp(round);
		this.#rounds.delete(round);
	}

	/** A queue that throws at once is one that refuses, too. No async function: nearly always there is one try, and it is part of a redirect. */
	#attempt(click: ClickMessage): Promise<unknown> {
		try {
			return this.#parts.queue.send(click);
		} catch (error) {
			return Promise.reject(error);
		}
	}

	async #tryAgain(sending: Sending, error: unknown): Promise<void> {
		let refusal = error;
		for (const pauseMs of SEND_PAUSES_MS) {
			try {
				await this.#parts.pause(pauseMs);
				if (sending.isOver) return;
				await this.#attempt(sending.click);
				return end(sending, null);
			} catch (again) {
				refusal = again;
			}
		}
		end(sending, { refusal });
	}

	async #keep(click: ClickMessage, refusal: unknown): Promise<void> {
		if (this.#told.allows(wordsOf(refusal), Date.now())) logError("click.queue_refused", refusal, { click: click.id });
		try {
			await this.#parts.batches.keep(click);
		} catch (error) {
			const { id, hash, kind, publisher, brandId, campaignId, bidMicros, reason } = click;
			logError("click.lost", error, {
				click: id,
				hash,
				kind,
				publisher,
				brand: brandId,
				campaign: campaignId,
				bid_micros: bidMicros,
				reason,
			});
		}
	}
}

function giveUp({ pending }: Round): void {
	const refusal = new Error("the queue did not answer in time");
	for (const sending of [...pending]) end(sending, { refusal });
}

/** Ends a click's way, once, and takes it out of its round; the last one takes its place. */
function end(sending: Sending, outcome: Outcome): void {
	if (sending.isOver) return;
	sending.isOver = true;
	const { round, place } = sending;
	const last = round.pending.pop();
	if (last !== undefined && last !== sending) {
		round.pending[place] = last;
		last.place = place;
	}
	if (round.isClosed && round.pending.length === 0) round.emptied.resolve(true);
	sending.end(outcome);
}
