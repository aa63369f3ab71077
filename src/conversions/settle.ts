/**
 * What a postback, or the passing of time, makes of a conversion: pure. Everything it says is written in one transaction by
 * write-settlements.ts.
 */
import type { Amendments, Verdict } from "../lib/enums.ts";
import { utcDay } from "../lib/time.ts";
import { attributedTo, withoutClick } from "./attribution.ts";
import type { Conversion, ConversionEvent, ConversionKey, EventDetails, EventKind, NewCallback } from "./conversion.ts";
import { blank, differences, isAlike, isDifferent } from "./conversion-changes.ts";
import { asClickHash, type CandidateClick, type ClickMatch } from "./match-click.ts";
import type { Postback } from "./message.ts";
import { type Amended, type LastCallback, OwedCallbacks } from "./owed-callbacks.ts";
import { amend, isCorrection, recall, rememberApproval, restate, restateLate, statusOf, whyStale } from "./restate.ts";
import { CLICK_WAIT_MS, HASH_WAIT_MS, nextRetryAt } from "./retry-schedule.ts";
import { type StandFacts, stand, type Told, withoutRelease } from "./stand.ts";

/** One made of a platform's statement says how things stand, whatever was said before: it repeats nothing, and corrects nothing. */
type Received = { intakeId: string; receivedAt: number; postback: Postback; isStatement: boolean };
/** An operator's word; null takes an earlier one back. `givenBackMicros`: of a release that is given back, what it passed. */
type Judged = { verdict: Verdict | null; adjustmentId: string; givenBackMicros?: number | undefined };
/** The rates that are stored now are to hold, as an operator's adjustment. */
type Revalued = { revaluedBy: string };
/** An operator names the click of a conversion that has none, as its platform might have. */
type Attached = { attachTo: CandidateClick; adjustmentId: string };
/** The click that an operator named is taken away again. */
type Detached = { detachFrom: string; adjustmentId: string };
/**
 * What brings a conversion forward: a postback, an operator's word or choice of a click, corrected rates, or (null) a look at what has changed
 * around it: a click, a rate, a publisher that is active again, the time.
 */
export type Cause = Received | Judged | Revalued | Attached | Detached | null;

/** What settling asks of the world; all of it read in one go with the conversion. */
export type Facts = StandFacts & {
	/** @param toldAt when the conversion was first told of, Unix ms */
	findClick: (cid: string, toldAt: number) => ClickMatch;
	hasCallbackUrl: (publisherId: string) => boolean;
	amendmentsOf: (publisherId: string) => Amendments;
	lastCallback: LastCallback | null;
	newId: () => string;
};

export type Settlement = {
	conversion: Conversion;
	events: ConversionEvent[];
	/** Owed from now on. */
	callbacks: readonly NewCallback[];
	/** Owed already, and to be sent with another amount. */
	amended: readonly Amended[];
	/** What its publisher is credited with, before and with all that; micro-dollars. */
	creditedMicros: { before: number; after: number };
};

/** The event that tells of a change of stage, and why it came. */
const STAGE_EVENTS: Record<Conversion["stage"], (next: Conversion, why: string | null) => [EventKind, string | null]> = {
	waiting: (_, why) => ["changed", why],
	unmatched: (_, why) => ["unmatched", why],
	quarantined: ({ heldFor }) => ["quarantined", heldFor],
	settled: () => ["released", null],
};

/**
 * Applies causes, in the order in which they came in, to a conversion.
 * @param present as stored; null where it is new
 * @returns null where there is nothing to write
 */
export function settle(
	key: ConversionKey,
	present: Conversion | null,
	causes: readonly Cause[],
	facts: Facts,
	now: number,
): Settlement | null {
	const history = new History(key, present, facts, now);
	for (const cause of causes) {
		if (cause === null) history.lookAgain();
		else if ("postback" in cause) history.take(cause);
		else if ("revaluedBy" in cause) history.revalue(cause);
		else if ("attachTo" in cause) history.attach(cause);
		else if ("detachFrom" in cause) history.detach(cause);
		else history.judge(cause);
	}
	return history.close();
}

class History {
	readonly #key: ConversionKey;
	readonly #before: Conversion | null;
	readonly #facts: Facts;
	readonly #now: number;
	readonly #events: ConversionEvent[] = [];
	readonly #owed: OwedCallbacks;
	#state: Conversion | null;

	constructor(key: ConversionKey, present: Conversion | null, facts: Facts, now: number) {
		this.#key = key;
		this.#before = present;
		this.#state = present;
		this.#facts = facts;
		this.#now = now;
		this.#owed = new OwedCallbacks(facts, now);
	}

	/** A postback says how the conversion stands; the newest one is right, whatever order they arrive in. */
	take({ intakeId, receivedAt, postback, isStatement }: Received): void {
		const { platform } = this.#facts;
		const present = this.#state;
		const isAmending = !isStatement && isCorrection(postback, platform);
		if (present === null) {
			const nothing = recall(blank(this.#key, receivedAt), platform);
			const first = isAmending ? amend(nothing, postback, intakeId, platform) : restate(nothing, postback, intakeId, platform, isStatement);
			this.#append("received", first, intakeId);
			this.#evaluate(first, intakeId);
			return;
		}
		const known = recall({ ...present, firstReceivedAt: Math.min(present.firstReceivedAt, receivedAt) }, platform);
		const isLate = intakeId <= present.lastIntakeId;
		const why = isAmending || isLate || isStatement ? null : whyStale(known, postback, intakeId, platform);
		if (isAmending) this.#amend(known, amend(known, postback, intakeId, platform), intakeId);
		else if (isLate) this.#takeLate(restateLate(known, postback, intakeId, platform, isStatement), intakeId);
		else if (why !== null) this.#append("late", rememberApproval(known, postback, intakeId, platform), intakeId, why);
		else this.#restate(present, restate(known, postback, intakeId, platform, isStatement), intakeId);
	}

	#restate(present: Conversion, next: Conversion, intakeId: string): void {
		const changes = isDifferent(differences(present, next));
		if (changes || present.stage !== "settled") this.#evaluate(next, intakeId, changes ? { kind: "changed" } : null);
		else this.#state = next;
	}

	/** A correction counts where nothing newer was stated; it is in the history in any case, but the same one only once. */
	#amend(known: Conversion, next: Conversion, intakeId: string): void {
		if (isDifferent(differences(known, next))) this.#evaluate(next, intakeId, { kind: "changed" });
		else if (next.payouts === known.payouts) this.#state = next;
		else this.#append("late", next, intakeId);
	}

	/** What is older than what stands changes nothing, but for what a newer payout, such as one of zero, means after it. */
	#takeLate(next: Conversion, intakeId: string): void {
		if (isDifferent(differences(this.#state, next))) this.#evaluate(next, intakeId, { kind: "late" });
		else this.#append("late", next, intakeId);
	}

	/** An operator's word: it holds, whatever is said later, until it is taken back. */
	judge({ verdict, ...how }: Judged): void {
		const present = this.#state;
		if (present === null || present.verdict === verdict) return;
		const next = { ...present, verdict };
		this.#evaluate({ ...next, status: statusOf(next, this.#facts.platform) }, null, { kind: "judged", ...how });
		if (present.verdict === "released" && verdict === null) this.#owed.takeBack(this.#state ?? next);
	}

	/**
	 * A conversion that is settled, or held for its amount, is worth what the stored rate of its day says now; nothing else about it changes,
	 * but that a ceiling may hold it, or no longer.
	 */
	revalue({ revaluedBy }: Revalued): void {
		const present = this.#state;
		if (present === null || (present.stage !== "settled" && present.heldFor !== "amount")) return;
		const usdNanos = this.#facts.usdNanosOf(present.currency, utcDay(present.eventAt));
		if (usdNanos === null || usdNanos === present.usdNanos) return;
		this.#evaluate({ ...present, usdNanos }, null, { kind: "revalued", adjustmentId: revaluedBy });
	}

	/**
	 * From here on it is as if its platform had named that click. A conversion keeps its click: one that has any is left alone. A release
	 * that was given while it had none was of no click.
	 */
	attach({ attachTo, adjustmentId }: Attached): void {
		const present = this.#state;
		if (present === null || present.clickId !== null) return;
		this.#evaluate(attributedTo(withoutRelease(present), attachTo, "operator"), null, { kind: "attached", adjustmentId });
	}

	/**
	 * The conversion is as it was without that click, and its credit is taken back. What its platform has named since counts: that click is
	 * looked for once, however old the conversion is.
	 */
	detach({ detachFrom, adjustmentId }: Detached): void {
		const present = this.#state;
		if (present === null || present.clickId !== detachFrom) return;
		this.#owed.takeAway(present);
		// What was released was a sale of that click.
		const next = withoutRelease(withoutClick(present));
		this.#evaluate({ ...next, status: statusOf(next, this.#facts.platform) }, null, { kind: "detached", adjustmentId });
		if (this.#state?.clickId === null) this.#state = { ...this.#state, retryAt: this.#now };
	}

	/** Time has passed: a click may have come, a rate may be known. */
	lookAgain(): void {
		if (this.#state !== null && this.#state.stage !== "settled") this.#evaluate(this.#state, null);
	}

	close(): Settlement | null {
		const before = this.#before;
		if (this.#state === null) return null;
		const state = { ...this.#state, credited: this.#owed.isCredited };
		if (before !== null && this.#events.length === 0 && isAlike(before, state)) return null;
		const eventCount = (before?.eventCount ?? 0) + this.#events.length;
		return {
			conversion: { ...state, eventCount, updatedAt: this.#now, version: state.version + 1 },
			events: this.#events,
			callbacks: this.#owed.callbacks,
			amended: this.#owed.amended,
			creditedMicros: this.#owed.creditedMicros,
		};
	}

	/**
	 * Where the conversion stands, given all that is known now: without a click it waits, without a rate or with a hold it is quarantined,
	 * else it is settled. @param told what changed it, where that has an event of its own
	 */
	#evaluate(stated: Conversion, intakeId: string | null, told: Told | null = null): void {
		const { conversion: attributed, why } = this.#attribute(stated);
		const next =
			attributed.clickId === null ? this.#await(attributed) : stand({ ...attributed, retryAt: null }, this.#state, told, this.#facts);
		const isOneEvent = next.stage === "settled" && (this.#state?.stage === "settled" || told?.kind === "attached");
		if (told !== null) this.#append(told.kind, isOneEvent ? next : stated, intakeId, null, told.adjustmentId);
		if (stated.clickId !== attributed.clickId) this.#append("attributed", next.stage === "settled" ? next : attributed, intakeId);
		const [kind, reason] = STAGE_EVENTS[next.stage](next, why);
		if (isDifferent(differences(this.#state, next))) this.#append(kind, next, intakeId, reason);
		this.#state = next;
		this.#owed.tell(next);
	}

	#await(conversion: Conversion): Conversion {
		const isOver = this.#now - conversion.firstReceivedAt >= CLICK_WAIT_MS;
		return { ...conversion, stage: isOver ? "unmatched" : "waiting", retryAt: nextRetryAt(conversion.firstReceivedAt, this.#now) };
	}

	/**
	 * Fixes the click when it is first found, with the share and pricing model that it was made under; nothing changes them afterwards. A
	 * release that was given without one was of no click.
	 */
	#attribute(conversion: Conversion): { conversion: Conversion; why: string | null } {
		if (conversion.clickId !== null) return { conversion, why: null };
		const match = this.#facts.findClick(conversion.cid, conversion.firstReceivedAt);
		if (match.click === null) return { conversion, why: match.why };
		const { click, attribution } = match;
		if (attribution === "publisher_click_id" && this.#maySpeakOfHash(conversion)) return { conversion, why: "no_click" };
		return { conversion: attributedTo(withoutRelease(conversion), click, attribution), why: null };
	}

	/**
	 * Whether a click with this hash may still be on its way. Anyone who has a link can call it with another click's hash as its click
	 * id: so a click id that looks like a hash counts only where no click came by that hash.
	 */
	#maySpeakOfHash({ cid, firstReceivedAt }: Conversion): boolean {
		return asClickHash(cid) !== null && this.#now - firstReceivedAt < HASH_WAIT_MS;
	}

	#append(kind: EventKind, next: Conversion, intakeId: string | null, why: string | null = null, adjustment?: string): void {
		const set = differences(this.#state, next);
		const seq = (this.#before?.eventCount ?? 0) + this.#events.length + 1;
		const details: EventDetails = { set, ...(why !== null && { why }), ...(adjustment !== undefined && { adjustment }) };
		this.#events.push({ ...this.#key, seq, at: this.#now, kind, intakeId, details: JSON.stringify(details) });
		this.#state = next;
	}
}
