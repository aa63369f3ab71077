/**
 * A model of what conversions must come to, as plain as can be: no batches, no deltas, no versions, no database. It takes postbacks one by
 * one, recomputes every sum from all conversions, and shares nothing with the code under test but the times of retries.
 */

import { nextRetryAt } from "../../src/conversions/retry-schedule.ts";
import type { PricingModel, Verdict } from "../../src/lib/enums.ts";
import { conversionIdOf } from "../../src/lib/md5-ids.ts";

export type ModelClick = {
	id: string;
	/** How it is paid, and its publisher's part of its conversions, as fixed when it was made; null where that is not known. */
	model: PricingModel | null;
	share: bigint | null;
	/** What it promised its publisher, micro-dollars. */
	bid: number;
	/** False for a row of before there were sums. */
	isCounted: boolean;
	hash: string;
	platform: string | null;
	publisher: string;
	publisherClickId: string | null;
	uid: string;
	source: string | null;
	reason: "test" | "expired" | "duplicate" | "head" | "embedded" | "voided" | null;
	/** The adjustment that has voided it. */
	voidedBy?: string | undefined;
	clickedAt: number;
	/** Its user was erased; or that of another click which had the same id of its publisher's, so that none is found by that. */
	isErased?: boolean;
	isShared?: boolean;
};
/** Texts are as they were sent. */
export type ModelPostback = {
	/** Order in which it came in. */
	order: number;
	receivedAt: number;
	platform: string;
	txnid: string;
	cid: string;
	status: string | null;
	eventAt: number;
	payoutMicros: number;
	salesMicros: number | null;
	currency: string | null;
	/** What else its platform tells of the user. */
	mark: string;
	/** Made of its platform's statement: it stands, whatever was said before. */
	isStatement: boolean;
};
/** What is kept of a request of a platform: its click id, and, if its user is not erased, all. */
type Intake = { order: number; platform: string; txnid: string; cid: string; mark: string | null };
export type ModelPublisher = { share: bigint; model: PricingModel; url: boolean; amendments: "none" | "pair" };
/** Settings of a platform as the last import has them. */
export type ModelPlatform = { currency: string; negative: "cancel" | "adjust"; words: Record<string, Status>; max: number | null };
type Statement = { order: number; payout: number; content: string };
/** Of what stands in a conversion; a correction says neither. */
type Stand = Statement & { meaning: Status; eventAt: number; isStatement: boolean };

type Callback = {
	seq: number;
	status: string;
	payout: number;
	cid: string;
	eventAt: number;
	publisher: string;
	state: string;
	/** Its publisher may have heard it, though nobody knows. */
	isExposed?: boolean;
};

/** An operator's word, and what was before it; or a click that an operator named. */
type Word = { verdict: Verdict | null; was: Verdict | null; wasReleasedUpTo: number; hadClick: ModelClick | null };
export type ModelAdjustment = { id: string; platform: string; txnid: string; isUndone: boolean } & (
	| ({ kind: "word" } & Word)
	| { kind: "attach"; click: ModelClick }
);
type ModelConversion = {
	platform: string;
	txnid: string;
	firstReceivedAt: number;
	/** Order of what speaks in it; 0 where there are corrections only. */
	newest: number;
	/** Its platform's currency when it was first reported. */
	home: string;
	stated: Stand[];
	corrections: (Statement & { currency: string | null })[];
	cid: string;
	/** What its platform told of the user, by what told it, in the order in which that was taken; null where it is erased. */
	marks: Map<number, string | null>;
	/** Others than its user called the URL of its click, as a page does that embeds it. */
	isUnseen: boolean;
	/** Its publisher's id of its click. */
	publisherClickId: string | null;
	/** What the platform says, in its word, and what that meant when it came; `status` is what follows of it, of amounts, verdict and holds. */
	word: string | null;
	meaning: Status;
	isUnknown: boolean;
	status: Status;
	verdict: Verdict | null;
	/** What an operator's release lets pass, micro-dollars; 0 without one. */
	releasedUpTo: number;
	heldFor: string | null;
	/** All it was ever said to be, but cancelled. */
	statements: string[];
	eventAt: number;
	payout: number;
	sales: number | null;
	currency: string;
	click: ModelClick | null;
	/** Those that a person has ever given it. */
	attached: Set<ModelClick>;
	/** Those of the click; where it has none, those of the moment in which it was found. */
	model: PricingModel | null;
	share: bigint | null;
	by: string | null;
	stage: string;
	rate: bigint | null;
	/** Currency and day the rate was applied for, while settled. */
	rateFor: string | null;
	retryAt: number | null;
	callbacks: Callback[];
	/** How often its click was taken away from it. */
	timesDetached: number;
};

type Status = "approved" | "pending" | "cancelled";

/** Words of {@link ModelPlatform} go before these. */
const MEANING: Record<string, Status> = {
	paid: "approved",
	hold: "pending",
	void: "cancelled",
	refunded: "cancelled",
	"charge-back": "cancelled",
};
/** Micro-dollars; where neither platform nor campaign says another. */
const DEFAULT_CEILING = 10_000_000_000;
const MAX_RELEASED = 1_000_000_000_000;
const CREDIT_STEP = 100n;
/** The click id of an erased sale whose platform named no click that is known: an operator did. By this no click is found. */
const NO_ID = "none";
/** The same of one that had named the id of an erased click, by which none is found. */
export const UNKNOWN_HASH = "a hash that no click has";

export class ReferenceLedger {
	clicks: ModelClick[] = [];
	/** Those that were removed by age: sums have them for good. */
	readonly removed: ModelClick[] = [];
	/** Last ids that were looked at, by what is removed: what is stored later under an earlier id stays. */
	readonly #lookedAt = { unpaid: "", all: "" };
	readonly rates = new Map<string, bigint>();
	readonly suspended = new Set<string>();
	/** Highest payouts of campaigns, micro-dollars, by the platform of their clicks. */
	readonly campaignMax = new Map<string, number | null>();
	/** In the order in which they were made. */
	readonly adjustments: (ModelAdjustment & { timesDetached: number })[] = [];
	/** As the last import has them. */
	readonly publishers: Map<string, ModelPublisher>;
	readonly platforms: Map<string, ModelPlatform>;
	readonly #conversions = new Map<string, ModelConversion>();
	readonly #seen = new Set<number>();
	readonly #intakes: Intake[] = [];
	/** Of these the ones that the present batch has brought. */
	#fresh: Intake[] = [];
	/** Whether a conversion had its click before the present batch. */
	readonly #hadClick = new Map<string, boolean>();

	constructor(publishers: Record<string, ModelPublisher>, platforms: Record<string, ModelPlatform>) {
		this.publishers = new Map(Object.entries(publishers));
		this.platforms = new Map(Object.entries(platforms));
	}

	/** Of redirects with one hash, the one that is stored first is billed. What a click does not tell is as its publisher is paid now. */
	store(click: ModelClick): void {
		if (this.clicks.some(({ id }) => id === click.id)) return;
		const publisher = this.publishers.get(click.publisher);
		const isDuplicate = click.reason === null && this.isBilled(click.hash);
		this.clicks.push({
			...click,
			publisherClickId: readText(click.publisherClickId),
			reason: isDuplicate ? "duplicate" : click.reason,
			model: click.model ?? (click.isCounted ? (publisher?.model ?? null) : null),
			share: click.share ?? (click.isCounted ? (publisher?.share ?? null) : null),
		});
	}

	/** Removes clicks that no conversion has, however old they are. */
	remove(of: "unpaid" | "all"): void {
		const sold = new Set([...this.#conversions.values()].map(({ click }) => click));
		for (const rule of of === "all" ? (["unpaid", "all"] as const) : ([of] as const)) {
			const goes = (click: ModelClick) =>
				click.id > this.#lookedAt[rule] && !sold.has(click) && (rule === "all" || (click.reason !== null && click.reason !== "voided"));
			const gone = this.clicks.filter(goes);
			const last =
				this.clicks
					.map(({ id }) => id)
					.sort()
					.at(-1) ?? "";
			this.removed.push(...gone);
			this.clicks = this.clicks.filter((click) => !gone.includes(click));
			if (last > this.#lookedAt[rule]) this.#lookedAt[rule] = last;
		}
	}

	isBilled(hash: string): boolean {
		return this.clicks.some((click) => click.hash === hash && isPaidOnce(click));
	}

	/** Takes what a source has been paid for back. @returns how many clicks, and what they earned */
	voidClicks(id: string, source: string): [clicks: number, revenue: number] {
		const taken = this.clicks.filter((click) => click.source === source && click.reason === null);
		const revenue = taken.reduce((sum, click) => sum + earnedBy(click), 0);
		for (const click of taken) Object.assign(click, { reason: "voided", voidedBy: id });
		return [taken.length, revenue];
	}

	restoreClicks(id: string): [clicks: number, revenue: number] {
		const given = this.clicks.filter((click) => click.reason === "voided" && click.voidedBy === id);
		for (const click of given) Object.assign(click, { reason: null, voidedBy: undefined });
		return [given.length, given.reduce((sum, click) => sum + earnedBy(click), 0)];
	}

	take(postback: ModelPostback, now: number): void {
		if (this.#seen.has(postback.order)) return;
		this.#seen.add(postback.order);
		const key = `${postback.platform} ${postback.txnid}`;
		const known = this.#conversions.get(key);
		if (known !== undefined) known.firstReceivedAt = Math.min(known.firstReceivedAt, postback.receivedAt);
		const platform = this.platforms.get(postback.platform);
		const home = known?.home ?? platform?.currency ?? "";
		const ownCurrency = readText(postback.currency)?.toUpperCase() ?? null;
		const currency = ownCurrency ?? home;
		const { order, eventAt, payoutMicros, salesMicros } = postback;
		const named = readText(postback.cid) ?? "";
		if (!this.#hadClick.has(key)) this.#hadClick.set(key, (this.#conversions.get(key)?.click ?? null) !== null);
		const erased = this.#erasedCid(key, named);
		const cid = erased ?? named;
		const intake = {
			order: postback.order,
			platform: postback.platform,
			txnid: postback.txnid,
			cid,
			mark: erased === null ? postback.mark : null,
		};
		this.#intakes.push(intake);
		this.#fresh.push(intake);
		const word = readText(postback.status);
		const { meaning, isUnknown } = meaningOf(word, platform?.words ?? {});
		// A click hash is the same in any letter case.
		const click = isHash(named) ? named.toLowerCase() : named;
		const content = JSON.stringify([click, eventAt, payoutMicros, salesMicros, currency, word]);
		const statement = { order, payout: payoutMicros, content };
		const base: ModelConversion = known ?? {
			platform: postback.platform,
			txnid: postback.txnid,
			firstReceivedAt: postback.receivedAt,
			newest: 0,
			home,
			stated: [],
			corrections: [],
			cid,
			marks: new Map([[order, erased === null ? postback.mark : null]]),
			publisherClickId: null,
			isUnseen: false,
			word: null,
			meaning: "approved",
			isUnknown: false,
			eventAt,
			payout: 0,
			sales: null,
			currency,
			click: null,
			model: null,
			share: null,
			by: null,
			stage: "waiting",
			rate: null,
			rateFor: null,
			retryAt: null,
			callbacks: [],
			attached: new Set(),
			status: "pending",
			verdict: null,
			releasedUpTo: 0,
			heldFor: null,
			statements: [],
			timesDetached: 0,
		};
		this.#conversions.set(key, base);
		const { isStatement } = postback;
		if (payoutMicros < 0 && platform?.negative === "adjust" && !isStatement) {
			base.corrections.push({ ...statement, currency: ownCurrency });
			this.#reweigh(base, known === undefined, now);
			return;
		}
		const wasPositive = base.stated.some((other) => other.payout > 0 && other.order < order);
		const cancels = meaning === "cancelled" || payoutMicros < 0 || (payoutMicros === 0 && wasPositive);
		const isOld = base.statements.includes(content) || eventAt < base.eventAt;
		if (!cancels) base.statements.push(content);
		if (order < base.newest) {
			base.stated.push({ ...statement, meaning, eventAt, isStatement });
			this.#reweigh(base, false, now);
			return;
		}
		// What says no more than was said before the cancellation does not undo it.
		if (!isStatement && base.stated.length > 0 && saidOf(base) === "cancelled" && !cancels && isOld) return;
		const before = tells(base);
		const sales = salesMicros ?? (base.currency === currency ? base.sales : null);
		base.stated.push({ ...statement, meaning, eventAt, isStatement });
		base.marks.set(order, erased === null ? postback.mark : null);
		Object.assign(base, { newest: order, cid, word, meaning, isUnknown, eventAt, sales, currency });
		if (known?.stage !== "settled" || before !== tells(base)) this.#weigh(base, now);
	}

	/** What a postback has as its click id if it is of an erased click, or names one; else null. */
	#erasedCid(key: string, cid: string): string | null {
		const conversion = this.#conversions.get(key);
		const hadItsClick = this.#hadClick.get(key) === true && conversion?.by !== "operator";
		const named = this.clicks.filter(({ hash }) => hash === cid.toLowerCase());
		const hash = named[0]?.hash ?? null;
		if (conversion?.click?.isErased === true) return hadItsClick ? conversion.click.hash : (hash ?? NO_ID);
		return named.some(({ isErased }) => isErased === true) ? hash : null;
	}

	/** What one batch brought is kept as all of it leaves its conversions: the click of an erased user may have been found by a later one. */
	endBatch(): void {
		for (const intake of this.#fresh) {
			const key = `${intake.platform} ${intake.txnid}`;
			const conversion = this.#conversions.get(key);
			const erased = this.#erasedCid(key, intake.cid);
			if (conversion === undefined || erased === null) continue;
			Object.assign(intake, { cid: erased, mark: null });
			if (conversion.marks.has(intake.order)) conversion.marks.set(intake.order, null);
			if (conversion.newest === intake.order) conversion.cid = erased;
		}
		this.#fresh = [];
		this.#hadClick.clear();
	}

	/** Removes what is known of whoever made some clicks, by their hash or the user's id; all else stays. */
	erase(subject: { hash: string } | { uid: string }): void {
		const isMeant = (click: ModelClick) =>
			"uid" in subject ? click.uid === subject.uid && click.isErased !== true : click.hash === subject.hash;
		const erased = this.clicks.filter(isMeant);
		const hashes = new Set("uid" in subject ? erased.map(({ hash }) => hash) : [subject.hash]);
		const ownIds = new Set(erased.flatMap(({ publisherClickId }) => publisherClickId ?? []));
		const inOneCase = (cid: string) => (cid === cid.toLowerCase() || cid === cid.toUpperCase() ? cid.toLowerCase() : cid);
		/** The hash that it names, or settles for; one that no click has where that is none; null where it is somebody else's, or no id of these. */
		const newCid = (platform: string, cid: string): string | null => {
			if (hashes.has(cid.toLowerCase()) && isHash(cid)) return cid.toLowerCase();
			if (!ownIds.has(cid) || this.clicks.some(({ hash }) => hash === cid.toLowerCase() && !hashes.has(hash))) return null;
			const click = this.#findByOwnId(platform, cid, this.clicks);
			return click === null ? UNKNOWN_HASH : hashes.has(click.hash) ? click.hash : null;
		};
		const changed = new Map<ModelConversion, string>();
		for (const conversion of this.#conversions.values()) {
			const { click, cid, platform, by } = conversion;
			const isNamed = hashes.has(inOneCase(cid)) || (click === null && ownIds.has(cid));
			const isOfErased = click !== null && erased.includes(click);
			if (!isNamed && !isOfErased) continue;
			const known = this.clicks.find(({ hash }) => hash === cid.toLowerCase())?.hash;
			const next = isOfErased && by !== "operator" ? click.hash : (newCid(platform, cid) ?? (isOfErased ? (known ?? NO_ID) : null));
			if (next !== null) changed.set(conversion, next);
		}
		for (const intake of this.#intakes) {
			const conversion = this.#conversions.get(`${intake.platform} ${intake.txnid}`);
			const ofConversion = conversion === undefined ? undefined : changed.get(conversion);
			const isNamed = hashes.has(inOneCase(intake.cid)) || (conversion?.click === null && ownIds.has(intake.cid));
			const next = ofConversion ?? (isNamed ? newCid(intake.platform, intake.cid) : null);
			if (next !== null) Object.assign(intake, { cid: next, mark: null });
		}
		const left = this.clicks.filter((click) => !erased.includes(click) && !hashes.has(click.hash));
		const found = [...ownIds].flatMap((ownId) => {
			const has = this.clicks.filter(({ publisherClickId }) => publisherClickId === ownId);
			return [...new Set(has.map(({ platform }) => platform ?? ""))].flatMap((platform) => {
				const click = this.#findByOwnId(platform, ownId, left);
				return click === null || click === this.#findByOwnId(platform, ownId, this.clicks) ? [] : [click];
			});
		});
		for (const click of found) click.isShared = true;
		// Of a sale that was attached to one of them, and is no more, what was told of it.
		for (const { attached, callbacks } of this.#conversions.values()) {
			if (!erased.some((click) => attached.has(click))) continue;
			for (const callback of callbacks) if (ownIds.has(callback.cid)) callback.cid = "";
		}
		for (const click of erased) Object.assign(click, { publisherClickId: null, isErased: true });
		for (const [conversion, cid] of changed) {
			Object.assign(conversion, { cid, publisherClickId: null });
			for (const order of conversion.marks.keys()) conversion.marks.set(order, null);
			for (const callback of conversion.callbacks) callback.cid = "";
		}
	}

	/** After something that is not the newest word: only where amount or status are others for it. */
	#reweigh(conversion: ModelConversion, isNew: boolean, now: number): void {
		const said = saidOf(conversion);
		const isHeld = conversion.heldFor === "review" || conversion.heldFor === "publisher_suspended";
		const status = conversion.verdict === "voided" ? "cancelled" : isHeld && said !== "cancelled" ? "pending" : said;
		if (isNew || amountOf(conversion).payout !== conversion.payout || status !== conversion.status) this.#weigh(conversion, now);
	}

	/** The publisher confirms all that it is owed. */
	hear(): void {
		for (const callback of [...this.#conversions.values()].flatMap(({ callbacks }) => callbacks)) {
			if (callback.state === "due") callback.state = "delivered";
		}
	}

	/** A minute's sweep: those whose retry is due, and those whose rate has come. */
	sweep(now: number): void {
		for (const conversion of this.#conversions.values()) {
			const isDue = conversion.retryAt !== null && conversion.retryAt <= now;
			const isRated = conversion.heldFor === "no_rate" && this.#rateOf(conversion) !== null;
			const isActive = conversion.heldFor === "publisher_suspended" && !this.suspended.has(conversion.click?.publisher ?? "");
			if (isDue || isRated || isActive) this.#weigh(conversion, now);
		}
	}

	/** The publishers may have heard all that they are owed, though they confirm nothing. */
	expose(): void {
		for (const callback of [...this.#conversions.values()].flatMap(({ callbacks }) => callbacks)) {
			if (callback.state === "due") callback.isExposed = true;
		}
	}

	/** An operator's word. @returns whether it may be said */
	judge(id: string, platform: string, txnid: string, verdict: Verdict | null, now: number): boolean {
		const conversion = this.#conversions.get(`${platform} ${txnid}`);
		if (conversion === undefined || conversion.verdict === verdict) return false;
		const { verdict: was, releasedUpTo: wasReleasedUpTo, click: hadClick, timesDetached } = conversion;
		if (verdict === "released" && was !== "voided") {
			const isHeld = conversion.heldFor === "amount" || conversion.heldFor === "review";
			const gross = this.#usd(conversion.payout, conversion);
			const isPast = gross === null || gross > MAX_RELEASED || (this.#salesOf(conversion) ?? 0) > 5e12;
			if (!isHeld || (conversion.heldFor === "amount" && isPast)) return false;
		}
		this.adjustments.push({ id, platform, txnid, isUndone: false, kind: "word", verdict, was, wasReleasedUpTo, hadClick, timesDetached });
		this.#judge(conversion, verdict, MAX_RELEASED, now);
		return true;
	}

	#judge(conversion: ModelConversion, verdict: Verdict | null, upTo: number, now: number): void {
		const isRecalled = conversion.verdict === "released" && verdict === null;
		conversion.verdict = verdict;
		conversion.releasedUpTo = verdict === "released" ? upTo : 0;
		this.#weigh(conversion, now);
		// What a release let count, and what was credited for it, goes with the release.
		if (isRecalled && conversion.stage === "quarantined" && conversion.heldFor !== "no_rate") this.#tell(conversion, true);
	}

	/** An operator names the click of a conversion that has none. @returns whether that may be */
	attach(id: string, platform: string, txnid: string, clickId: string, now: number): boolean {
		const conversion = this.#conversions.get(`${platform} ${txnid}`);
		const click = this.clicks.find((click) => click.id === clickId);
		if (conversion === undefined || click === undefined || conversion.click !== null) return false;
		this.adjustments.push({ id, platform, txnid, isUndone: false, kind: "attach", click, timesDetached: conversion.timesDetached });
		this.#bind(conversion, click, "operator");
		conversion.attached.add(click);
		this.#weigh(conversion, now);
		return true;
	}

	/** What an adjustment has done is as it was before it. @returns whether that may be */
	undo(id: string, now: number): boolean {
		const undone = this.adjustments.find((adjustment) => adjustment.id === id);
		const conversion = this.#conversions.get(`${undone?.platform} ${undone?.txnid}`);
		if (undone === undefined || conversion === undefined || undone.isUndone) return false;
		if (undone.kind === "attach") {
			if (conversion.click !== undone.click) return false;
			this.#detach(conversion, now);
		} else {
			const words = this.adjustments.filter(
				({ kind, platform, txnid, isUndone }) => kind === "word" && !isUndone && platform === undone.platform && txnid === undone.txnid,
			);
			if (conversion.verdict !== undone.verdict || words.at(-1) !== undone) return false;
			// A release was of the click that it had then.
			const isOfAnother = undone.was === "released" && conversion.timesDetached > undone.timesDetached;
			this.#judge(conversion, isOfAnother ? null : undone.was, undone.wasReleasedUpTo, now);
		}
		undone.isUndone = true;
		return true;
	}

	/** All that it had by its click goes; what its platform has named is looked for with the next sweep. */
	#detach(conversion: ModelConversion, now: number): void {
		this.#cancel(conversion);
		Object.assign(conversion, {
			click: null,
			publisherClickId: null,
			isUnseen: false,
			model: null,
			share: null,
			by: null,
			heldFor: null,
			rate: null,
			rateFor: null,
		});
		if (conversion.verdict === "released") conversion.verdict = null;
		conversion.releasedUpTo = 0;
		conversion.timesDetached++;
		conversion.payout = amountOf(conversion).payout;
		conversion.status = conversion.verdict === "voided" ? "cancelled" : saidOf(conversion);
		conversion.stage = now - conversion.firstReceivedAt < 24 * 3_600_000 ? "waiting" : "unmatched";
		conversion.retryAt = now;
	}

	/** A release was of whatever click it had then. */
	#bind(conversion: ModelConversion, click: ModelClick, by: string): void {
		const publisher = this.publishers.get(click.publisher);
		Object.assign(conversion, {
			click,
			by,
			publisherClickId: click.publisherClickId,
			model: click.model ?? publisher?.model ?? null,
			share: click.share ?? publisher?.share ?? null,
		});
		if (conversion.verdict === "released") conversion.verdict = null;
		conversion.releasedUpTo = 0;
		conversion.status = conversion.verdict === "voided" ? "cancelled" : saidOf(conversion);
	}

	/**
	 * What is settled is worth what the rates of its day say now, from one day to another, both included.
	 * @returns how many conversions that changes; null where there is no rate of these days
	 */
	revalue(currency: string, from: string, to: string, now: number): number | null {
		const isRated = [...this.rates.keys()].some((key) => key >= `${currency} ${from}` && key <= `${currency} ${to}`);
		if (!isRated) return null;
		const revalued = [...this.#conversions.values()].filter((conversion) => {
			const day = dayOf(conversion.eventAt);
			const rate = this.#rateOf(conversion);
			const isValued = conversion.stage === "settled" || (conversion.stage === "quarantined" && conversion.heldFor === "amount");
			const isAsked = isValued && conversion.currency === currency && day >= from && day <= to;
			return isAsked && rate !== null && rate !== conversion.rate;
		});
		for (const conversion of revalued) {
			conversion.rate = this.#rateOf(conversion);
			this.#weigh(conversion, now, true);
		}
		return revalued.length;
	}

	lookAgain(platform: string, txnid: string, now: number): void {
		const conversion = this.#conversions.get(`${platform} ${txnid}`);
		if (conversion !== undefined && conversion.stage !== "settled") this.#weigh(conversion, now);
	}

	/** @param isRevalued it has a new rate, by which a ceiling may hold it, or no longer */
	#weigh(conversion: ModelConversion, now: number, isRevalued = false): void {
		conversion.payout = amountOf(conversion).payout;
		conversion.status = conversion.verdict === "voided" ? "cancelled" : saidOf(conversion);
		if (conversion.click === null) {
			const hash = this.#ofPlatform(
				conversion,
				this.clicks.filter((click) => click.hash === conversion.cid.toLowerCase()),
			);
			// What looks like a hash may be one whose click is on its way.
			const mayBeHash = isHash(conversion.cid) && now - conversion.firstReceivedAt < 15 * 60_000;
			const isKnownHash = this.clicks.some((click) => click.hash === conversion.cid.toLowerCase());
			const named = mayBeHash || isKnownHash ? null : this.#findByOwnId(conversion.platform, conversion.cid, this.clicks);
			const best = hash[0] ?? named;
			if (best !== null) this.#bind(conversion, best, hash.length > 0 ? "click_hash" : "publisher_click_id");
		}
		if (conversion.click === null) {
			// A release of what has no amount yet passes none.
			conversion.releasedUpTo = 0;
			conversion.stage = now - conversion.firstReceivedAt < 24 * 3_600_000 ? "waiting" : "unmatched";
			conversion.retryAt = nextRetryAt(conversion.firstReceivedAt, now);
			return;
		}
		conversion.retryAt = null;
		const rateFor = `${conversion.currency} ${dayOf(conversion.eventAt)}`;
		if (conversion.stage !== "settled" || conversion.rateFor !== rateFor) conversion.rate = this.#rateOf(conversion);
		conversion.rateFor = rateFor;
		conversion.heldFor = this.#holdOf(conversion, conversion.click, isRevalued);
		if (conversion.heldFor === "amount" && conversion.verdict === "released" && !isRevalued) conversion.verdict = null;
		const passes = conversion.heldFor === "publisher_suspended" || (conversion.heldFor === null && conversion.status !== "cancelled");
		// A release is for the amount that it was given for.
		conversion.releasedUpTo = conversion.verdict === "released" && passes ? (this.#usd(conversion.payout, conversion) ?? 0) : 0;
		conversion.stage = conversion.heldFor === null ? "settled" : "quarantined";
		if (conversion.heldFor === "review" || conversion.heldFor === "publisher_suspended") conversion.status = "pending";
		this.#tell(conversion);
	}

	#holdOf(conversion: ModelConversion, click: ModelClick, isRevalued: boolean): string | null {
		// Of what is settled already, a new rate asks nothing else; what was seen once stays so, though its redirects are removed.
		if (!isRevalued || conversion.stage !== "settled") {
			conversion.isUnseen ||= this.clicks.some(({ hash, reason }) => hash === click.hash && reason === "embedded");
		}
		if (conversion.rate === null) return "no_rate";
		const gross = this.#usd(conversion.payout, conversion);
		if (gross === null) return "amount";
		if (conversion.status === "cancelled" || click.reason === "test") return null;
		const isReleased = conversion.verdict === "released";
		const ofCampaign = this.campaignMax.get(click.platform ?? "") ?? null;
		const ceilings = [this.platforms.get(conversion.platform)?.max ?? null, ofCampaign].filter((ceiling) => ceiling !== null);
		const ceiling = ceilings.length === 0 ? DEFAULT_CEILING : Math.min(...ceilings);
		// The payout that was released is the same at another rate.
		const passed = isRevalued && isReleased ? MAX_RELEASED : conversion.releasedUpTo;
		if (gross > Math.max(ceiling, passed) || (this.#salesOf(conversion) ?? 0) > 5e12) return "amount";
		// Of what is settled already, a new rate asks nothing else.
		if (isRevalued && conversion.stage === "settled") return null;
		if (conversion.isUnseen && !isReleased) return "review";
		return this.suspended.has(click.publisher) ? "publisher_suspended" : null;
	}

	/** Credits and cancellations alternate, beginning with a credit. */
	#tell(conversion: ModelConversion, isRecalled = false): void {
		const { click, callbacks, status } = conversion;
		const publisher = this.publishers.get(click?.publisher ?? "");
		if (click === null || click.reason === "test" || publisher === undefined || conversion.model !== "CPA") return;
		const credit = callbacks.length % 2 === 1 ? callbacks.at(-1) : undefined;
		if (status === "cancelled" || isRecalled) this.#cancel(conversion);
		if (status !== "approved" || conversion.stage !== "settled") return;
		const revenue = this.#revenueOf(conversion);
		if (credit === undefined) this.#send(conversion, "approved", revenue);
		else if (credit.payout !== revenue && credit.state !== "delivered" && credit.isExposed !== true) {
			credit.payout = revenue;
			credit.eventAt = conversion.eventAt;
		} else if (credit.payout !== revenue && publisher.amendments === "pair") {
			this.#cancel(conversion);
			this.#send(conversion, "approved", revenue);
		}
	}

	/** Takes the credit back that stands, if one does. */
	#cancel(conversion: ModelConversion): void {
		const credit = conversion.callbacks.length % 2 === 1 ? conversion.callbacks.at(-1) : undefined;
		if (credit !== undefined) this.#send(conversion, "cancelled", credit.payout);
	}

	#send({ click, callbacks, eventAt, publisherClickId }: ModelConversion, status: string, payout: number): void {
		if (click === null) return;
		const state = this.publishers.get(click.publisher)?.url === true ? "due" : "no_url";
		const seq = callbacks.length + 1;
		callbacks.push({ seq, status, payout, cid: publisherClickId ?? "", eventAt, publisher: click.publisher, state });
	}

	/** The click that alone has an id of its publisher's; of two publishers', or of two clicks, nobody knows which. */
	#findByOwnId(platform: string, ownId: string, among: readonly ModelClick[]): ModelClick | null {
		const all = among.filter(({ publisherClickId }) => publisherClickId === ownId);
		if (new Set(all.map(({ publisher }) => publisher)).size > 1) return null;
		const named = this.#ofPlatform({ platform }, all);
		const [best] = named;
		if (best === undefined || named.some(({ isShared }) => isShared === true)) return null;
		const isRival = ({ hash, reason }: ModelClick) => hash !== best.hash && (reason === null) === (best.reason === null);
		return named.some(isRival) ? null : best;
	}

	/** Best first: billed, voided, expired, duplicate, embedded, head, test; then the earliest. */
	#ofPlatform({ platform }: { platform: string }, clicks: ModelClick[]): ModelClick[] {
		const order = [null, "voided", "expired", "duplicate", "embedded", "head", "test"];
		return clicks
			.filter((click) => click.platform === null || click.platform === platform)
			.sort((a, b) => order.indexOf(a.reason) - order.indexOf(b.reason) || a.clickedAt - b.clickedAt);
	}

	#rateOf({ currency, eventAt }: ModelConversion): bigint | null {
		return currency === "USD" ? 1_000_000_000n : (this.rates.get(`${currency} ${dayOf(eventAt)}`) ?? null);
	}

	#usd(micros: number | null, { rate }: ModelConversion): number | null {
		if (micros === null || rate === null) return null;
		const usd = roundTo(BigInt(micros) * rate, 1_000_000_000n * CREDIT_STEP);
		return Number.isSafeInteger(usd) ? usd : null;
	}

	/** Sales below zero count as none. */
	#salesOf(conversion: ModelConversion): number | null {
		const sales = this.#usd(conversion.sales, conversion);
		return sales !== null && sales < 0 ? 0 : sales;
	}

	#revenueOf(conversion: ModelConversion): number {
		if (conversion.model !== "CPA" || conversion.click?.reason === "test") return 0;
		return roundTo(BigInt(this.#usd(conversion.payout, conversion) ?? 0) * (conversion.share ?? 0n), 1_000_000n * CREDIT_STEP);
	}

	conversions(): Record<string, unknown>[] {
		return this.#sorted().map((conversion) => ({
			platform: conversion.platform,
			txnid: conversion.txnid,
			stage: conversion.stage,
			status: conversion.status,
			network_status: conversion.word,
			status_unknown: conversion.isUnknown ? 1 : 0,
			verdict: conversion.verdict,
			held_for: conversion.heldFor,
			cid: conversion.cid,
			s2: [...conversion.marks.values()].findLast((mark) => mark !== null) ?? null,
			publisher_click_id: conversion.publisherClickId,
			event_at: conversion.eventAt,
			payout_micros: conversion.payout,
			sales_micros: conversion.sales,
			currency: conversion.currency,
			usd_nanos: conversion.rate === null ? null : Number(conversion.rate),
			gross_micros: this.#usd(conversion.payout, conversion),
			sales_usd_micros: this.#salesOf(conversion),
			revenue_micros: conversion.stage === "settled" ? this.#revenueOf(conversion) : null,
			click_id: conversion.click?.id ?? null,
			attribution: conversion.by,
			publisher_id: conversion.click?.publisher ?? null,
			source_id: conversion.click?.source ?? null,
			pricing_model: conversion.model,
			revenue_share_ppm: conversion.share === null ? null : Number(conversion.share),
			test: conversion.click?.reason === "test" ? 1 : 0,
			first_received_at: conversion.firstReceivedAt,
			retry_at: conversion.retryAt,
		}));
	}

	callbacks(): Record<string, unknown>[] {
		return this.#sorted().flatMap(({ platform, txnid, callbacks }) =>
			callbacks.map(({ seq, status, payout, cid, eventAt, publisher, state }) => ({
				platform,
				txnid,
				seq,
				status,
				payout_micros: payout,
				cid,
				event_at: eventAt,
				publisher_id: publisher,
				state,
			})),
		);
	}

	/**
	 * What daily sums must be: `[publisher, date, source, count, revenue, gross, sales, pending]`. Of campaigns by the event; of publishers and
	 * sources too, but those of a click that was paid by itself by the click, and only if that was billed.
	 */
	sums(of: "publishers" | "campaigns"): unknown[][] {
		const sums = new Map<string, number[]>();
		for (const conversion of this.#conversions.values()) {
			const { click, stage, status } = conversion;
			if (click === null || click.reason === "test" || stage !== "settled" || status === "cancelled") continue;
			const byClick = of === "publishers" && conversion.model === "CPC";
			if (byClick && !isPaidOnce(click)) continue;
			const key = JSON.stringify([click.publisher, dayOf(byClick ? click.clickedAt : conversion.eventAt), click.source ?? ""]);
			const revenue = this.#revenueOf(conversion);
			const worth = [this.#usd(conversion.payout, conversion) ?? 0, this.#salesOf(conversion) ?? 0];
			const added = [1, revenue, ...worth, status === "pending" ? revenue : 0];
			sums.set(
				key,
				(sums.get(key) ?? [0, 0, 0, 0, 0]).map((sum, at) => sum + (added[at] ?? 0)),
			);
		}
		return [...sums].map(([key, sum]) => [...(JSON.parse(key) as string[]), ...sum]).sort(byText);
	}

	/** What a publisher's reports have of conversions: `[id, status, day, revenue, gross, credited]`, micro-dollars. */
	reported(publisher: string): unknown[][] {
		return this.#sorted()
			.filter(({ click, stage, status }) => {
				return click?.publisher === publisher && click.reason !== "test" && stage === "settled" && status !== "cancelled";
			})
			.map((conversion) => {
				const credited = conversion.callbacks.reduce((sum, { status, payout }) => sum + (status === "approved" ? payout : -payout), 0);
				const { platform, txnid, status, eventAt } = conversion;
				// Who is paid by clicks is not told what platforms pay.
				const gross = this.publishers.get(publisher)?.model === "CPA" ? (this.#usd(conversion.payout, conversion) ?? 0) : null;
				const money = [this.#revenueOf(conversion), gross, credited];
				return [conversionIdOf(platform, txnid), status, dayOf(eventAt), ...money];
			})
			.sort(byText);
	}

	/** What all publishers earn by conversions, and what was paid for them, micro-dollars. */
	totals(): [revenue: number, gross: number] {
		const columns = this.sums("campaigns");
		const total = (at: number) => columns.reduce((sum, row) => sum + Number(row[at]), 0);
		return [total(4), total(5)];
	}

	storedClicks(): Record<string, unknown>[] {
		return this.clicks
			.map((click) => ({
				id: click.id,
				reason: click.reason,
				publisher_click_id: click.publisherClickId,
				uid: click.isErased === true ? null : click.uid,
				pricing_model: click.model,
				revenue_share_ppm: click.share === null ? null : Number(click.share),
				revenue_micros: isPaidOnce(click) ? promisedBy(click) : 0,
			}))
			.sort((a, b) => (a.id < b.id ? -1 : 1));
	}

	/** What the daily sums must say of clicks: `[publisher, date, source or none, count, revenue]`. */
	clickSums(bySource: boolean): unknown[][] {
		const billed = [...this.clicks, ...this.removed].filter(({ reason, isCounted }) => reason === null && isCounted);
		const byKey = Map.groupBy(billed, ({ publisher, clickedAt, source }) =>
			JSON.stringify([publisher, dayOf(clickedAt), bySource ? (source ?? "") : ""]),
		);
		const earned = (clicks: readonly ModelClick[]) => clicks.reduce((sum, click) => sum + earnedBy(click), 0);
		return [...byKey].map(([key, clicks]) => [...(JSON.parse(key) as string[]), clicks.length, earned(clicks)]).sort(byText);
	}

	/** What is kept of users in conversions: `[platform, txnid, mark]`. */
	marks(): unknown[][] {
		return this.#sorted().flatMap(({ platform, txnid, marks }) =>
			[...marks.values()].flatMap((mark) => (mark === null ? [] : [[platform, txnid, mark]])),
		);
	}

	/** What is kept of requests, in the order in which they came in. */
	intakes(): Record<string, unknown>[] {
		return this.#intakes.toSorted((a, b) => a.order - b.order).map(({ platform, txnid, cid, mark }) => ({ platform, txnid, cid, mark }));
	}

	#sorted(): ModelConversion[] {
		return [...this.#conversions.values()].sort((a, b) => byText([a.platform, a.txnid], [b.platform, b.txnid]));
	}
}

function promisedBy({ model, bid }: ModelClick): number {
	return model === "CPC" ? bid : 0;
}

function earnedBy(click: ModelClick): number {
	return click.reason === null ? promisedBy(click) : 0;
}

/** Whether it was billed, even if it was taken back since. */
function isPaidOnce({ reason }: ModelClick): boolean {
	return reason === null || reason === "voided";
}

/** Without the control characters of a text, and what is blank around it. */
function readText(text: string | null): string | null {
	return text?.replaceAll(/\p{Cc}/gu, "").trim() || null;
}

function meaningOf(word: string | null, own: ModelPlatform["words"]): { meaning: Status; isUnknown: boolean } {
	if (word === null) return { meaning: "approved", isUnknown: false };
	const said = word.toLowerCase();
	const ownWord = Object.keys(own).find((key) => key.toLowerCase() === said);
	const meaning = own[ownWord ?? ""] ?? MEANING[said];
	return { meaning: meaning ?? "pending", isUnknown: meaning === undefined };
}

/** What a conversion pays by all that was stated, and whether the platform has taken it back by that. */
function amountOf({ stated, corrections, newest, currency }: ModelConversion): { payout: number; reversed: boolean } {
	const own = stated.find(({ order }) => order === newest);
	// A repetition goes on with what it repeats.
	let since = own?.order ?? 0;
	let isBeginning = own?.isStatement === true;
	for (const other of stated.filter(({ order }) => order < since).sort((a, b) => b.order - a.order)) {
		if (isBeginning || other.content !== own?.content) break;
		since = other.order;
		isBeginning = other.isStatement;
	}
	const firstOf = (content: string) => Math.min(...corrections.filter((other) => other.content === content).map(({ order }) => order));
	const counted = corrections.filter(({ order, content }) => order === firstOf(content) && order > since);
	const isForeign = (of: string | null) => of !== null && of !== currency;
	let payout = own?.payout ?? 0;
	for (const correction of counted) if (!isForeign(correction.currency)) payout += correction.payout;
	const wasPositive = stated.some((other) => other.payout > 0 && other.order < newest);
	const isCorrectedAway = counted.length > 0 && (payout <= 0 || counted.some((correction) => isForeign(correction.currency)));
	return { payout, reversed: (own?.payout ?? 0) < 0 || (own?.payout === 0 && wasPositive) || isCorrectedAway };
}

function saidOf(conversion: ModelConversion): Status {
	return amountOf(conversion).reversed || isNotReopened(conversion) ? "cancelled" : conversion.meaning;
}

/** Whether the last cancellation still holds: nothing since then was new, and about what happened no earlier. */
function isNotReopened({ stated }: ModelConversion): boolean {
	const inOrder = stated.toSorted((a, b) => a.order - b.order);
	const isCancelling = (at: number) => {
		const { payout, meaning } = inOrder[at] as Stand;
		return meaning === "cancelled" || payout < 0 || (payout === 0 && inOrder.slice(0, at).some((other) => other.payout > 0));
	};
	const standing = (to: number): { isCancelled: boolean; eventAt: number } => {
		if (to < 0) return { isCancelled: false, eventAt: 0 };
		const { content, eventAt, isStatement } = inOrder[to] as Stand;
		if (isCancelling(to)) return { isCancelled: true, eventAt };
		if (isStatement) return { isCancelled: false, eventAt };
		const before = standing(to - 1);
		const isRepeated = inOrder.slice(0, to).some((other, at) => other.content === content && !isCancelling(at));
		return before.isCancelled && (isRepeated || eventAt < before.eventAt) ? before : { isCancelled: false, eventAt };
	};
	return standing(inOrder.length - 1).isCancelled;
}

function tells(conversion: ModelConversion): string {
	const { cid, word, isUnknown, eventAt, sales, currency } = conversion;
	return JSON.stringify([cid, word, isUnknown, eventAt, amountOf(conversion).payout, sales, currency, saidOf(conversion)]);
}

function isHash(text: string): boolean {
	return /^[0-9a-f]{32}$/i.test(text);
}

export function byText(a: unknown[], b: unknown[]): number {
	return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

function dayOf(at: number): string {
	return new Date(at).toISOString().slice(0, 10);
}

/** value ÷ unit rounded half up, in steps of a ten-thousandth of a dollar. */
function roundTo(value: bigint, unit: bigint): number {
	let quotient = value / unit;
	let rest = value % unit;
	if (rest < 0n) {
		quotient -= 1n;
		rest += unit;
	}
	return Number(rest * 2n >= unit ? quotient + 1n : quotient) * Number(CREDIT_STEP);
}
