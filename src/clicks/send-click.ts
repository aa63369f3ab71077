/**
 * Sends clicks to the queue; what it refuses, or does not take in time, is kept in KV until the cron takes it.
 *
 * A send that hangs (one of 57 s was seen) must be given up before the runtime ends its request, and a timer costs as much as a tenth of a
 * redirect. So clicks that set out within a quarter of a second share one, which the first of them waits for. Were that request gone, the
 * next that starts a timer takes over what it left.
 */
import { within } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
import { type ClickBatches, MAX_KEEPING_MS } from "./click-batches.ts";
import type { ClickMessage } from "./message.ts";

/** For so long others share a click's timer. */
const TOGETHER_MS = 250;
const SEND_TIMEOUT_MS = 3_000;
const SEND_PAUSES_MS = [100, 1_000];
/** A round that is older was left. */
const LEFT_AFTER_MS = SEND_TIMEOUT_MS + 1_000;

/** The longest that {@link ClickSender.send} takes, milliseconds, where its request lives. */
export const MAX_SENDING_MS = TOGETHER_MS + SEND_TIMEOUT_MS + MAX_KEEPING_MS;

/** A click on its way. */
type Sending = { click: ClickMessage; round: Round /** In the round's list. */; place: number; isOver: boolean; end: () => void };

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

	constructor(parts: Parts) {
		this.#parts = parts;
	}

	/**
	 * Resolves once the queue has the click, or KV; never rejects. A click that neither takes is told in the log. A send that is given up may
	 * still work: then the same click comes twice and counts once.
	 */
	send(click: ClickMessage): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const open = this.#open;
		const isFirst = open === null || click.at >= open.closesAt;
		const round = isFirst ? this.#start(click.at) : open;
		const sending: Sending = { click, round, place: round.pending.length, isOver: false, end: resolve };
		round.pending.push(sending);
		this.#attempt(sending).then(
			() => sent(sending),
			(error: unknown) => this.#tryAgain(sending, error),
		);
		return isFirst ? Promise.all([promise, this.#lead(round)]).then(() => undefined) : promise;
	}

	#start(at: number): Round {
		const round = { pending: [], closesAt: at + TOGETHER_MS, isClosed: false, emptied: Promise.withResolvers<boolean>() };
		this.#open = round;
		return round;
	}

	async #lead(round: Round): Promise<void> {
		const left = [...this.#rounds].filter(({ closesAt }) => closesAt + LEFT_AFTER_MS < round.closesAt);
		for (const other of left) this.#rounds.delete(other);
		this.#rounds.add(round);
		const rescued = left.map((other) => this.#giveUp(other));
		await within(round.emptied.promise, TOGETHER_MS, false);
		if (this.#open === round) this.#open = null;
		round.isClosed = true;
		if (round.pending.length > 0 && !(await within(round.emptied.promise, SEND_TIMEOUT_MS, false))) await this.#giveUp(round);
		this.#rounds.delete(round);
		await Promise.all(rescued);
	}

	async #giveUp({ pending }: Round): Promise<void> {
		const late = new Error("the queue did not answer in time");
		await Promise.all([...pending].map((sending) => this.#keep(sending, late)));
	}

	/** Async: a queue that throws at once is one that refuses, too. Nearly always there is one try. */
	async #attempt({ isOver, click }: Sending): Promise<unknown> {
		return isOver ? undefined : this.#parts.queue.send(click);
	}

	async #tryAgain(sending: Sending, error: unknown): Promise<void> {
		let last = error;
		for (const pauseMs of SEND_PAUSES_MS) {
			try {
				await this.#parts.pause(pauseMs);
				await this.#attempt(sending);
				return sent(sending);
			} catch (again) {
				last = again;
			}
		}
		await this.#keep(sending, last);
	}

	async #keep(sending: Sending, refusal: unknown): Promise<void> {
		if (sending.isOver) return;
		leave(sending);
		const { click, end } = sending;
		logError("click.queue_refused", refusal, { click: click.id });
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
		end();
	}
}

function sent(sending: Sending): void {
	if (sending.isOver) return;
	leave(sending);
	sending.end();
}

/** Takes a click out of its round; the last one takes its place. */
function leave(sending: Sending): void {
	const { round, place } = sending;
	sending.isOver = true;
	const last = round.pending.pop();
	if (last !== undefined && last !== sending) {
		round.pending[place] = last;
		last.place = place;
	}
	if (round.isClosed && round.pending.length === 0) round.emptied.resolve(true);
}
