/**
 * What a postback, or the passing of time, makes of a conversion: pure. Everything it says is written in one transaction by
 * write-settlements.ts.
 */
import type { CallbackStatus, ConversionStatus } from "../lib/enums.ts";
import { utcDay } from "../lib/time.ts";
import type { Conversion, ConversionEvent, ConversionKey, EventDetails, EventKind, NewCallback } from "./conversion.ts";
import { blank, differences, isAlike, isDifferent } from "./conversion-changes.ts";
import { shareOf, toUsdMicros } from "./exchange.ts";
import { asClickHash, type ClickMatch } from "./match-click.ts";
import type { Postback } from "./message.ts";
import { CLICK_WAIT_MS, HASH_WAIT_MS, nextRetryAt } from "./retry-schedule.ts";
import { readStatus } from "./status-map.ts";

/** What brings a conversion forward: a postback, or a look at what has changed around it (a click, a rate, the time). */
export type Cause = { intakeId: string; receivedAt: number; postback: Postback } | null;

/** The last callback of a conversion, and what the publisher was last credited with. */
export type LastCallback = { seq: number; status: CallbackStatus; creditedMicros: number };

/** What settling asks of the world; all of it read in one go with the conversion. */
export type Facts = {
	platform: { currency: string; statusMap: Readonly<Record<string, ConversionStatus>> };
	findClick: (cid: string) => ClickMatch;
	/** Billionths of a USD on a day; null where no rate is known. */
	usdNanosOf: (currency: string, day: string) => number | null;
	hasCallbackUrl: (publisherId: string) => boolean;
	lastCallback: LastCallback | null;
	newId: () => string;
};

export type Settlement = { conversion: Conversion; events: ConversionEvent[]; callbacks: NewCallback[] };

/** The event that tells of a change of stage, and why it came. */
const STAGE_EVENTS: Record<Conversion["stage"], (next: Conversion, why: string | null) => [EventKind, string | null]> = {
	waiting: (_, why) => ["changed", why],
	unmatched: (_, why) => ["unmatched", why],
	quarantined: ({ usdNanos }) => ["quarantined", usdNanos === null ? "no_rate" : "too_large"],
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
		else history.take(cause);
	}
	return history.close();
}

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
	take({ intakeId, receivedAt, postback }: NonNullable<Cause>): void {
		const present = this.#state;
		if (present === null) {
			const first = this.#restate(blank(this.#key, receivedAt), postback, intakeId);
			this.#append("received", first, intakeId);
			this.#evaluate(first, intakeId);
			return;
		}
		const firstReceivedAt = Math.min(present.firstReceivedAt, receivedAt);
		if (intakeId <= present.lastIntakeId) {
			this.#append("late", { ...present, firstReceivedAt }, intakeId);
			return;
		}
		const next = this.#restate({ ...present, firstReceivedAt }, postback, intakeId);
		const changes = isDifferent(differences(present, next));
		if (changes || present.stage !== "settled") this.#evaluate(next, intakeId, changes);
		else this.#state = next;
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

	/** The conversion as a postback states it. What it leaves out and no default fills stays as it was. */
	#restate(present: Conversion, postback: Postback, intakeId: string): Conversion {
		const { platform } = this.#facts;
		const { status, unknown } = readStatus(postback.status, platform.statusMap);
		const currency = postback.currency ?? platform.currency;
		return {
			...present,
			cid: postback.cid,
			// A negative payout takes the conversion back, whatever its status says; it is never a debit.
			status: postback.payoutMicros < 0 ? "cancelled" : status,
			networkStatus: postback.status,
			statusUnknown: unknown,
			eventAt: postback.eventAt,
			payoutMicros: postback.payoutMicros,
			salesMicros: postback.salesMicros ?? (currency === present.currency ? present.salesMicros : null),
			currency,
			s2: postback.s2 ?? present.s2,
			s3: postback.s3 ?? present.s3,
			surl: postback.surl ?? present.surl,
			lastIntakeId: intakeId,
		};
	}

	/**
	 * Where the conversion stands, given all that is known now: without a click it waits, without a rate it is quarantined, else it is
	 * settled. @param restated true where a postback changed it: an event of its own tells what
	 */
	#evaluate(stated: Conversion, intakeId: string | null, restated = false): void {
		const { conversion: attributed, why } = this.#attribute(stated);
		const next = attributed.clickId === null ? this.#await(attributed) : this.#value({ ...attributed, retryAt: null });
		const staysSettled = this.#state?.stage === "settled" && next.stage === "settled";
		if (restated) this.#append("changed", staysSettled ? next : stated, intakeId);
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

	/** Fixes the click, the publisher's share and pricing model when the click is first found; nothing changes them afterwards. */
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

	/** Its worth in USD by the rate of the event's day. A rate that was applied stays, as long as currency and day do. */
	#value(conversion: Conversion): Conversion {
		const before = this.#state;
		const day = utcDay(conversion.eventAt);
		const kept =
			before?.stage === "settled" && before.currency === conversion.currency && utcDay(before.eventAt) === day ? before.usdNanos : null;
		const usdNanos = kept ?? this.#facts.usdNanosOf(conversion.currency, day);
		const grossMicros = usdNanos === null ? null : toUsdMicros(conversion.payoutMicros, usdNanos);
		if (usdNanos === null || grossMicros === null) {
			return { ...conversion, stage: "quarantined", usdNanos, grossMicros: null, salesUsdMicros: null, revenueMicros: null };
		}
		const earns = conversion.pricingModel === "CPA" && !conversion.test;
		return {
			...conversion,
			stage: "settled",
			usdNanos,
			grossMicros,
			// Sales below zero count as none: like a payout, they never lower what others have made.
			salesUsdMicros: conversion.salesMicros === null ? null : toUsdMicros(Math.max(0, conversion.salesMicros), usdNanos),
			revenueMicros: earns ? shareOf(grossMicros, conversion.revenueSharePpm ?? 0) : 0,
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

	#append(kind: EventKind, next: Conversion, intakeId: string | null, why?: string | null): void {
		const set = differences(this.#state, next);
		const seq = (this.#before?.eventCount ?? 0) + this.#events.length + 1;
		const details: EventDetails = why === undefined || why === null ? { set } : { set, why };
		this.#events.push({ ...this.#key, seq, at: this.#now, kind, intakeId, details: JSON.stringify(details) });
		this.#state = next;
	}
}
