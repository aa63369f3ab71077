/**
 * What a postback, or the passing of time, makes of a conversion: pure. Everything it says is written in one transaction by
 * write-settlements.ts.
 */
import type { CallbackStatus, ConversionHold, Verdict } from "../lib/enums.ts";
import { utcDay } from "../lib/time.ts";
import type { Conversion, ConversionEvent, ConversionKey, EventDetails, EventKind, NewCallback } from "./conversion.ts";
import { blank, differences, isAlike, isDifferent } from "./conversion-changes.ts";
import { shareOf, toUsdMicros } from "./exchange.ts";
import { type HoldFacts, holdOf, isKeptPending } from "./holds.ts";
import { asClickHash, type ClickMatch } from "./match-click.ts";
import type { Postback } from "./message.ts";
import { remember, restate, type StatedPlatform, statusOf, whyStale } from "./restate.ts";
import { CLICK_WAIT_MS, HASH_WAIT_MS, nextRetryAt } from "./retry-schedule.ts";

type Received = { intakeId: string; receivedAt: number; postback: Postback };
/** An operator's word; null takes an earlier one back. */
type Judged = { verdict: Verdict | null; adjustmentId: string };
/**
 * What brings a conversion forward: a postback, an operator's word, or (null) a look at what has changed around it: a click, a rate, a
 * publisher that is active again, the time.
 */
export type Cause = Received | Judged | null;

/** The last callback of a conversion, and what the publisher was last credited with. */
export type LastCallback = { seq: number; status: CallbackStatus; creditedMicros: number };

/** What settling asks of the world; all of it read in one go with the conversion. */
export type Facts = {
	platform: StatedPlatform;
	findClick: (cid: string) => ClickMatch;
	/** Billionths of a USD on a day; null where no rate is known. */
	usdNanosOf: (currency: string, day: string) => number | null;
	holdFactsOf: (conversion: Conversion) => HoldFacts;
	hasCallbackUrl: (publisherId: string) => boolean;
	lastCallback: LastCallback | null;
	newId: () => string;
};

export type Settlement = { conversion: Conversion; events: ConversionEvent[]; callbacks: NewCallback[] };

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
		else history.judge(cause);
	}
	return history.close();
}

type Told = { kind: "changed"; adjustmentId?: never } | { kind: "judged"; adjustmentId: string };

class History {
	readonly #key: ConversionKey;
	readonly #before: Conversion | null;
	readonly #facts: Facts;
	readonly #now: number;
	readonly #events: ConversionEvent[] = [];
	readonly #callbacks: NewCallback[] = [];
	#state: Conversion | null;
	#last: LastCallback | null;

	constructor(key: ConversionKey, present: Conversion | null, facts: Facts, now: number) {
		this.#key = key;
		this.#before = present;
		this.#state = present;
		this.#facts = facts;
		this.#now = now;
		this.#last = facts.lastCallback;
	}

	/** A postback says how the conversion stands; the newest one is right, whatever order they arrive in. */
	take({ intakeId, receivedAt, postback }: Received): void {
		const { platform } = this.#facts;
		const present = this.#state;
		if (present === null) {
			const first = restate(blank(this.#key, receivedAt), postback, intakeId, platform);
			this.#append("received", first, intakeId);
			this.#evaluate(first, intakeId);
			return;
		}
		const known = { ...present, firstReceivedAt: Math.min(present.firstReceivedAt, receivedAt) };
		const isLate = intakeId <= present.lastIntakeId;
		const why = isLate ? null : whyStale(present, postback, platform);
		if (isLate || why !== null) {
			this.#append("late", remember(known, postback, platform), intakeId, why);
			return;
		}
		const next = restate(known, postback, intakeId, platform);
		const changes = isDifferent(differences(present, next));
		if (changes || present.stage !== "settled") this.#evaluate(next, intakeId, changes ? { kind: "changed" } : null);
		else this.#state = next;
	}

	/** An operator's word: it holds, whatever is said later, until it is taken back. */
	judge({ verdict, adjustmentId }: Judged): void {
		const present = this.#state;
		if (present === null || present.verdict === verdict) return;
		const next = { ...present, verdict };
		this.#evaluate({ ...next, status: statusOf(next, this.#facts.platform) }, null, { kind: "judged", adjustmentId });
	}

	/** Time has passed: a click may have come, a rate may be known. */
	lookAgain(): void {
		if (this.#state !== null && this.#state.stage !== "settled") this.#evaluate(this.#state, null);
	}

	close(): Settlement | null {
		const before = this.#before;
		const state = this.#state;
		if (state === null || (before !== null && this.#events.length === 0 && isAlike(before, state))) return null;
		const eventCount = (before?.eventCount ?? 0) + this.#events.length;
		return {
			conversion: { ...state, eventCount, updatedAt: this.#now, version: state.version + 1 },
			events: this.#events,
			callbacks: this.#callbacks,
		};
	}

	/**
	 * Where the conversion stands, given all that is known now: without a click it waits, without a rate or with a hold it is quarantined,
	 * else it is settled. @param told what changed it, where that has an event of its own
	 */
	#evaluate(stated: Conversion, intakeId: string | null, told: Told | null = null): void {
		const { conversion: attributed, why } = this.#attribute(stated);
		const next = attributed.clickId === null ? this.#await(attributed) : this.#stand({ ...attributed, retryAt: null });
		const staysSettled = this.#state?.stage === "settled" && next.stage === "settled";
		if (told !== null) this.#append(told.kind, staysSettled ? next : stated, intakeId, null, told.adjustmentId);
		if (stated.clickId !== attributed.clickId) this.#append("attributed", next.stage === "settled" ? next : attributed, intakeId);
		const [kind, reason] = STAGE_EVENTS[next.stage](next, why);
		if (isDifferent(differences(this.#state, next))) this.#append(kind, next, intakeId, reason);
		this.#state = next;
		this.#oweCallback(next);
	}

	#await(conversion: Conversion): Conversion {
		const isOver = this.#now - conversion.firstReceivedAt >= CLICK_WAIT_MS;
		return { ...conversion, stage: isOver ? "unmatched" : "waiting", retryAt: nextRetryAt(conversion.firstReceivedAt, this.#now) };
	}

	/** Fixes the click when it is first found, with the share and pricing model that it was made under; nothing changes them afterwards. */
	#attribute(conversion: Conversion): { conversion: Conversion; why: string | null } {
		if (conversion.clickId !== null) return { conversion, why: null };
		const match = this.#facts.findClick(conversion.cid);
		if (match.click === null) return { conversion, why: match.why };
		const { click, attribution } = match;
		if (attribution === "publisher_click_id" && this.#maySpeakOfHash(conversion)) return { conversion, why: "no_click" };
		return {
			conversion: {
				...conversion,
				attribution,
				clickId: click.id,
				clickedAt: click.clickedAt,
				publisherId: click.publisherId,
				publisherClickId: click.publisherClickId,
				sourceId: click.sourceId,
				brandId: click.brandId,
				campaignId: click.campaignId,
				// What the click was billed by counts: one that was paid for by itself earns nothing more.
				pricingModel: click.pricingModel ?? click.publisherPricingModel,
				revenueSharePpm: click.revenueSharePpm,
				test: click.reason === "test",
			},
			why: null,
		};
	}

	/**
	 * Whether a click with this hash may still be on its way. Anyone who has a link can call it with another click's hash as its click
	 * id: so a click id that looks like a hash counts only where no click came by that hash.
	 */
	#maySpeakOfHash({ cid, firstReceivedAt }: Conversion): boolean {
		return asClickHash(cid) !== null && this.#now - firstReceivedAt < HASH_WAIT_MS;
	}

	/** A conversion of a known click: what it is worth, and whether that counts. */
	#stand(conversion: Conversion): Conversion {
		const status = isKeptPending(conversion.heldFor) ? statusOf(conversion, this.#facts.platform) : conversion.status;
		const { usdNanos, grossMicros, salesUsdMicros } = this.#worthOf(conversion);
		const valued = { ...conversion, status, usdNanos, grossMicros, salesUsdMicros };
		if (usdNanos === null) return quarantined(valued, "no_rate");
		if (grossMicros === null || (salesUsdMicros === null && conversion.salesMicros !== null)) return quarantined(valued, "amount");
		const hold = holdOf(valued, { grossMicros, salesUsdMicros: salesUsdMicros ?? 0 }, this.#facts.holdFactsOf(conversion));
		if (hold !== null) return quarantined({ ...valued, status: isKeptPending(hold) ? "pending" : status }, hold);
		const earns = conversion.pricingModel === "CPA" && !conversion.test;
		const revenueMicros = earns ? shareOf(grossMicros, conversion.revenueSharePpm ?? 0) : 0;
		return { ...valued, stage: "settled", heldFor: null, revenueMicros };
	}

	/** Payout and sales in USD by the rate of the event's day. A rate that was applied stays, as long as currency and day do. */
	#worthOf(conversion: Conversion): Pick<Conversion, "usdNanos" | "grossMicros" | "salesUsdMicros"> {
		const before = this.#state;
		const day = utcDay(conversion.eventAt);
		const kept =
			before?.stage === "settled" && before.currency === conversion.currency && utcDay(before.eventAt) === day ? before.usdNanos : null;
		const usdNanos = kept ?? this.#facts.usdNanosOf(conversion.currency, day);
		if (usdNanos === null) return { usdNanos, grossMicros: null, salesUsdMicros: null };
		return {
			usdNanos,
			grossMicros: toUsdMicros(conversion.payoutMicros, usdNanos),
			// Sales below zero count as none: like a payout, they never lower what others have made.
			salesUsdMicros: conversion.salesMicros === null ? null : toUsdMicros(Math.max(0, conversion.salesMicros), usdNanos),
		};
	}

	/**
	 * Credits an approved conversion that is not credited, and takes back what was credited for a cancelled one: of the very amount,
	 * whatever the payout is now. Pending leaves the publisher's books as they are.
	 */
	#oweCallback(conversion: Conversion): void {
		const isCredited = this.#last?.status === "approved";
		const { publisherId, status } = conversion;
		if (publisherId === null || conversion.pricingModel !== "CPA" || conversion.test) return;
		if (status === "approved" && !isCredited && conversion.stage === "settled")
			this.#send(conversion, publisherId, "approved", conversion.revenueMicros ?? 0);
		if (status === "cancelled" && isCredited) this.#send(conversion, publisherId, "cancelled", this.#last?.creditedMicros ?? 0);
	}

	#send(conversion: Conversion, publisherId: string, status: CallbackStatus, payoutMicros: number): void {
		const isDue = this.#facts.hasCallbackUrl(publisherId);
		const seq = (this.#last?.seq ?? 0) + 1;
		this.#last = { seq, status, creditedMicros: payoutMicros };
		this.#callbacks.push({
			id: this.#facts.newId(),
			...this.#key,
			seq,
			publisherId,
			status,
			cid: conversion.publisherClickId ?? "",
			payoutMicros,
			eventAt: conversion.eventAt,
			intakeId: conversion.lastIntakeId === "" ? null : conversion.lastIntakeId,
			state: isDue ? "due" : "no_url",
			attemptCount: 0,
			createdAt: this.#now,
			nextAttemptAt: isDue ? this.#now : null,
			deliveredAt: null,
		});
	}

	#append(kind: EventKind, next: Conversion, intakeId: string | null, why: string | null = null, adjustment?: string): void {
		const set = differences(this.#state, next);
		const seq = (this.#before?.eventCount ?? 0) + this.#events.length + 1;
		const details: EventDetails = { set, ...(why !== null && { why }), ...(adjustment !== undefined && { adjustment }) };
		this.#events.push({ ...this.#key, seq, at: this.#now, kind, intakeId, details: JSON.stringify(details) });
		this.#state = next;
	}
}

function quarantined(conversion: Conversion, heldFor: ConversionHold): Conversion {
	return { ...conversion, stage: "quarantined", heldFor, revenueMicros: null };
}
