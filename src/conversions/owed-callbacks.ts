/** What a publisher is to be told of a conversion: credits, cancellations, and the amounts of those that it cannot have heard of yet. Pure. */
import type { Amendments, CallbackStatus } from "../lib/enums.ts";
import type { Conversion, NewCallback } from "./conversion.ts";

/** The last callback of a conversion. */
export type LastCallback = {
	id: string;
	seq: number;
	status: CallbackStatus;
	/** Its amount, micro-dollars. */
	payoutMicros: number;
	/** True where the publisher cannot know of it: it was not sent, or only where it was refused. */
	isUnsent: boolean;
};

/** Another amount of a callback that is stored, and unsent. */
export type Amended = { id: string; payoutMicros: number; salesUsdMicros: number | null; eventAt: number };

type OwedFacts = {
	lastCallback: LastCallback | null;
	hasCallbackUrl: (publisherId: string) => boolean;
	amendmentsOf: (publisherId: string) => Amendments;
	newId: () => string;
};

export class OwedCallbacks {
	readonly #facts: OwedFacts;
	readonly #now: number;
	readonly #amended = new Map<string, Amended>();
	#callbacks: NewCallback[] = [];
	#last: LastCallback | null;

	constructor(facts: OwedFacts, now: number) {
		this.#facts = facts;
		this.#now = now;
		this.#last = facts.lastCallback;
	}

	/** Their ids rise as they came about: lists sort by them what was owed at the same moment. */
	get callbacks(): readonly NewCallback[] {
		const ids = this.#callbacks.map(({ id }) => id).sort();
		return this.#callbacks.map((owed, at) => ({ ...owed, id: ids[at] ?? owed.id }));
	}

	get amended(): readonly Amended[] {
		return [...this.#amended.values()];
	}

	/** True while a credit stands that was not taken back. */
	get isCredited(): boolean {
		return this.#last?.status === "approved";
	}

	/** What the credits less the cancellations come to, as they stand, and as they stood before; micro-dollars. */
	get creditedMicros(): { before: number; after: number } {
		return { before: creditOf(this.#facts.lastCallback), after: creditOf(this.#last) };
	}

	/**
	 * Credits an approved conversion that is not credited, takes back what was credited for a cancelled one (of the very amount, whatever
	 * the payout is now), and amends a credit of another amount. Pending leaves the publisher's books as they are.
	 */
	tell(conversion: Conversion): void {
		const { publisherId, status, stage } = conversion;
		if (publisherId === null || conversion.pricingModel !== "CPA" || conversion.test) return;
		const credit = this.#last?.status === "approved" ? this.#last : null;
		if (status === "cancelled" && credit !== null) this.#send(conversion, publisherId, "cancelled", credit.payoutMicros);
		if (status !== "approved" || stage !== "settled") return;
		const revenueMicros = conversion.revenueMicros ?? 0;
		if (credit === null) this.#send(conversion, publisherId, "approved", revenueMicros);
		else if (credit.payoutMicros !== revenueMicros) this.#amend(conversion, publisherId, credit, revenueMicros);
	}

	/**
	 * Of a conversion whose release was taken back: its credit, where it is held again. Where only its rate is unknown, what it is worth may
	 * be known again by the next import, and the credit stands.
	 */
	takeBack(conversion: Conversion): void {
		const { publisherId, stage, heldFor } = conversion;
		if (publisherId === null || stage !== "quarantined" || heldFor === "no_rate") return;
		if (this.#last?.status === "approved") this.#send(conversion, publisherId, "cancelled", this.#last.payoutMicros);
	}

	/** Of a conversion that loses its click: the credit of the publisher that it had. */
	takeAway(conversion: Conversion): void {
		const { publisherId } = conversion;
		if (publisherId !== null && this.#last?.status === "approved") {
			this.#send(conversion, publisherId, "cancelled", this.#last.payoutMicros);
		}
	}

	/** What the publisher cannot know of gets the new amount; what it may know of is taken back and credited again, where it asks for that. */
	#amend(conversion: Conversion, publisherId: string, credit: LastCallback, payoutMicros: number): void {
		const amended = { payoutMicros, salesUsdMicros: conversion.salesUsdMicros, eventAt: conversion.eventAt };
		if (credit.isUnsent) {
			const isNew = this.#callbacks.some(({ id }) => id === credit.id);
			if (isNew) this.#callbacks = this.#callbacks.map((owed) => (owed.id === credit.id ? { ...owed, ...amended } : owed));
			else this.#amended.set(credit.id, { id: credit.id, ...amended });
			this.#last = { ...credit, payoutMicros };
		} else if (this.#facts.amendmentsOf(publisherId) === "pair") {
			this.#send(conversion, publisherId, "cancelled", credit.payoutMicros);
			this.#send(conversion, publisherId, "approved", payoutMicros);
		}
	}

	#send(conversion: Conversion, publisherId: string, status: CallbackStatus, payoutMicros: number): void {
		const { platform, txnid, lastIntakeId } = conversion;
		const isDue = this.#facts.hasCallbackUrl(publisherId);
		const seq = (this.#last?.seq ?? 0) + 1;
		const id = this.#facts.newId();
		this.#last = { id, seq, status, payoutMicros, isUnsent: true };
		this.#callbacks.push({
			id,
			platform,
			txnid,
			seq,
			publisherId,
			status,
			cid: conversion.publisherClickId ?? "",
			payoutMicros,
			salesUsdMicros: conversion.salesUsdMicros,
			eventAt: conversion.eventAt,
			intakeId: lastIntakeId === "" ? null : lastIntakeId,
			state: isDue ? "due" : "no_url",
			attemptCount: 0,
			createdAt: this.#now,
			nextAttemptAt: isDue ? this.#now : null,
			deliveredAt: null,
			exposures: 0,
		});
	}
}

/** Each cancellation is of the credit before it: so the last credit is all that can stand. */
function creditOf(last: LastCallback | null): number {
	return last?.status === "approved" ? last.payoutMicros : 0;
}
