/** What becomes of a batch of clicks: pure. It is written only if nothing it rests on has changed since it was read. */
import { OTHER_KEYWORDS } from "../../learning/cell.ts";
import type { PricingModel } from "../../lib/enums.ts";
import { hashSource } from "../../lib/hash.ts";
import { beforeShare, priceOf, priceToMicros } from "../../lib/money.ts";
import { HOUR_MS, hourOf, localDay, MINUTE_MS, utcDay } from "../../lib/time.ts";
import { layPolicies, type TrafficPolicy, type TrafficRule, type UnpaidReason } from "../../lib/traffic-rules.ts";
import type { ClickMessage } from "../message.ts";
import { type ClickFacts, judge } from "../payable.ts";
import { budgetCostOf, hasCap, rateSlotOf, type Spent } from "./decide-pause.ts";
import type { CampaignFacts, Facts, PublisherFacts } from "./facts.ts";
import { readStopFacts, type Stops } from "./stops.ts";

/** A click that was paid. */
export type PaidVisit = {
	clickId: string;
	publisherId: string;
	connection: string;
	/** With the network of the site behind it, where there is one. */
	userAgentHash: string;
	brandId: number;
	clickedAt: number;
	/** It was taken back: nothing repeats it, but it still counts among those of its hour, or each void would let as many more through. */
	isVoided: boolean;
};

/** What the database knows beside {@link Facts}, at one moment. */
export type ClickState = {
	version: number;
	/** Whether paid clicks are added to what prices are learned from. */
	isLearned: boolean;
	/** Clicks of the batch that are written already. */
	storedIds: ReadonlySet<string>;
	/** Hashes of the batch that another click was billed by, voided ones too. */
	billedHashes: ReadonlySet<string>;
	/** What campaigns have spent, on the basis of their budgets, on a day of theirs, by {@link campaignDayKey}, and on all days, by id. */
	spentOnDays: ReadonlyMap<string, Spent>;
	spentEver: ReadonlyMap<number, Spent>;
	/** Paid clicks of the same connections, around the times of the batch. */
	visits: readonly PaidVisit[];
	/** Paid clicks of IPv6 networks, by {@link networkHourKey}. */
	paidOfNetworks: ReadonlyMap<string, number>;
	/** Unpaid clicks that were stored, by {@link connectionHourKey}. */
	unpaidStored: ReadonlyMap<string, number>;
	/** Sources that a publisher's day has, by {@link publisherDayKey}, and those of the batch among them, by {@link sourceKey}. */
	sourceCounts: ReadonlyMap<string, number>;
	knownSources: ReadonlySet<string>;
	/** Of the others those that had a sale on the day before. */
	soldOnDayBefore: ReadonlySet<string>;
	/** What has stopped of the publishers, brands and campaigns of the batch. */
	stops: Stops;
};

export type DecidedClick = {
	click: ClickMessage;
	publisher: PublisherFacts | undefined;
	campaign: CampaignFacts | undefined;
	/** platforms.id of whoever got the user; null where nobody knows the campaign. */
	platform: string | null;
	/** Null where it is billed and counted. */
	reason: UnpaidReason | null;
	flags: readonly TrafficRule[];
	bidMicros: number;
	/** What it costs before the publisher's share, micro-dollars. */
	grossMicros: number;
	/** How the publisher is paid for it, and its part of its conversions; null where nobody knows the publisher. */
	pricingModel: PricingModel | null;
	sharePpm: number | null;
	/** What the click itself earns the publisher: the bid of a billed click of a CPC publisher, else 0. */
	revenueMicros: number;
	sourceId: string | null;
	/** The keyword as prices are learned by it; null for none. */
	keywordClass: string | null;
	/** The source likewise: see `hashSource`. */
	sourceHash: string;
	utcDay: string;
	/** Day on the clocks of the campaign. */
	localDay: string;
	/** Slot of ten seconds in which the campaign's pace counts it; null where the campaign has no cap. */
	rateSlot: number | null;
};

export type Decided = {
	clicks: DecidedClick[];
	/** Paid clicks by IPv6 network and hour, with those before and how many an hour may have; without end where none is unpaid for it. */
	networks: PaidNetwork[];
	/** Unpaid clicks by connection and hour: `stored` ones are among `clicks`, `dropped` ones are only counted. */
	unpaid: { connection: string; hour: number; stored: number; dropped: number }[];
	/** Sources that are new to a publisher's day. */
	newSources: { publisherId: string; date: string; sourceCount: 1 }[];
};

export type PaidNetwork = { publisherId: string; network: string; hour: number; before: number; clickCount: number; most: number };

/**
 * Sources that a publisher's day may have; what comes beyond them is counted under `other`. Anyone may make up names on a public link: those
 * are let in while a day has few, one that a bid was asked for while it has twice as many, one with a sale on the day before three times.
 */
export const MAX_SOURCES_PER_DAY = 1_000;
export const OTHER_SOURCE = "other";
/** Unpaid clicks of a connection that an hour stores. */
export const MAX_UNPAID_PER_HOUR = 600;

export const campaignDayKey = (campaignId: number, day: string) => `${campaignId} ${day}`;
export const connectionHourKey = (connection: string, hour: number) => `${connection} ${hour}`;
export const networkHourKey = (publisherId: string, network: string, hour: number) => `${publisherId} ${network} ${hour}`;
export const publisherDayKey = (publisherId: string, date: string) => `${date} ${publisherId}`;
export const sourceKey = (publisherId: string, date: string, source: string) => JSON.stringify([publisherId, date, source]);

/** The earliest and latest paid click that may make one of these times a repeat or too many, milliseconds around them. */
export function visitWindowMs(policy: TrafficPolicy): number {
	return Math.max(HOUR_MS, policy.repeatMinutes * MINUTE_MS);
}

/** The policy of a click; the network's own where nobody knows the publisher or campaign. */
export function policyOf(facts: Facts, { publisher, campaignId }: ClickMessage): TrafficPolicy {
	return layPolicies(facts.traffic, facts.publishers.get(publisher)?.traffic ?? null, facts.campaigns.get(campaignId)?.traffic ?? null);
}

/** Decides a batch in the order in which the clicks were made; of messages with one id the first counts. */
export function decideClicks(messages: readonly ClickMessage[], facts: Facts, state: ClickState): Decided {
	const byId = new Map<string, ClickMessage>();
	for (const message of messages) if (!byId.has(message.id) && !state.storedIds.has(message.id)) byId.set(message.id, message);
	const ledger = new Ledger(facts, state);
	for (const click of [...byId.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))) ledger.take(click);
	return ledger.close();
}

/** The state as it changes from click to click of a batch. */
class Ledger {
	readonly #facts: Facts;
	readonly #billed: Set<string>;
	readonly #days: Map<string, Spent>;
	readonly #ever: Map<number, Spent>;
	readonly #visits = new Map<string, PaidVisit[]>();
	readonly #networks = new Map<string, PaidNetwork>();
	readonly #networksBefore: ReadonlyMap<string, number>;
	readonly #unpaid = new Map<string, { connection: string; hour: number; before: number; stored: number; dropped: number }>();
	readonly #unpaidBefore: ReadonlyMap<string, number>;
	readonly #sourceCounts: Map<string, number>;
	readonly #knownSources: ReadonlySet<string>;
	readonly #soldOnDayBefore: ReadonlySet<string>;
	readonly #metSources = new Set<string>();
	readonly #stops: Stops;
	readonly #decided: Decided = { clicks: [], networks: [], unpaid: [], newSources: [] };

	constructor(facts: Facts, state: ClickState) {
		this.#facts = facts;
		this.#billed = new Set(state.billedHashes);
		this.#days = new Map(state.spentOnDays);
		this.#ever = new Map(state.spentEver);
		this.#networksBefore = state.paidOfNetworks;
		this.#unpaidBefore = state.unpaidStored;
		this.#sourceCounts = new Map(state.sourceCounts);
		this.#knownSources = state.knownSources;
		this.#soldOnDayBefore = state.soldOnDayBefore;
		this.#stops = state.stops;
		for (const visit of state.visits) this.#keepVisit(visit);
	}

	take(click: ClickMessage): void {
		const publisher = this.#facts.publishers.get(click.publisher);
		const campaign = this.#facts.campaigns.get(click.campaignId);
		const terms = termsOf(click, publisher, campaign);
		const day = localDay(campaign?.timezone ?? "UTC", click.at);
		const policy = policyOf(this.#facts, click);
		const judged =
			click.reason === undefined
				? judge(this.#factsOf(click, publisher, campaign, terms, day, policy), policy)
				: { reason: click.reason, flags: [] };
		if (judged.reason !== null && !this.#mayStore(click)) return;
		const date = utcDay(click.at);
		const source = click.texts?.subi ?? click.texts?.psorc ?? null;
		const isBilled = judged.reason === null;
		this.#decided.clicks.push({
			click,
			publisher,
			campaign,
			platform: platformOf(click, campaign, this.#facts),
			reason: judged.reason,
			// A rule that flags may have been found at the redirect and here.
			flags: [...new Set([...(click.flags ?? []), ...judged.flags])],
			...terms,
			revenueMicros: isBilled && terms.pricingModel === "CPC" ? terms.bidMicros : 0,
			sourceId: isBilled && publisher !== undefined ? this.#sourceOf(click, publisher.id, date, source) : source,
			keywordClass: keywordClassOf(click, this.#facts),
			sourceHash: click.sourceHash ?? hashSource(source),
			utcDay: date,
			localDay: day,
			rateSlot: campaign === undefined || !hasCap(campaign) ? null : rateSlotOf(click.at),
		});
		if (!isBilled) return;
		this.#count(click, publisher, day, campaign === undefined ? 0 : budgetCostOf(campaign.budgetBasis, terms));
		this.#countNetwork(click, publisher, policy);
	}

	close(): Decided {
		this.#decided.networks = [...this.#networks.values()];
		this.#decided.unpaid = [...this.#unpaid.values()].map(({ before: _, ...counted }) => counted);
		return this.#decided;
	}

	#factsOf(
		click: ClickMessage,
		publisher: PublisherFacts | undefined,
		campaign: CampaignFacts | undefined,
		terms: Terms,
		day: string,
		policy: TrafficPolicy,
	): ClickFacts {
		return {
			...readStopFacts(click, this.#facts, this.#stops),
			duplicate: this.#billed.has(click.hash),
			...this.#visitFacts(click, publisher, policy),
			...(campaign === undefined ? {} : this.#capFacts(campaign, day, terms)),
		};
	}

	/** Nothing is told of a click whose publisher is not known, and little of one whose connection is not. */
	#visitFacts(click: ClickMessage, publisher: PublisherFacts | undefined, policy: TrafficPolicy): ClickFacts {
		if (publisher === undefined) return {};
		const { connection, at, brandId } = click;
		const isOfFullNetwork = this.#paidOfNetwork(click, publisher) >= policy.networkPerHour;
		if (connection === undefined) return { velocity: isOfFullNetwork };
		const near = this.#visits.get(visitsKey(publisher.id, connection)) ?? [];
		// Without a User-Agent its address is known, and no visitor.
		const browser = browserOf(click);
		const ofVisitor = near.filter((visit) => visit.userAgentHash === browser);
		return {
			repeat: ofVisitor.some(
				(visit) => !visit.isVoided && visit.brandId === brandId && Math.abs(visit.clickedAt - at) < policy.repeatMinutes * MINUTE_MS,
			),
			velocity: isOfFullNetwork || hasHourOf(policy.visitorPerHour, ofVisitor, at) || hasHourOf(policy.addressPerHour, near, at),
		};
	}

	/** Paid clicks of the click's hour, of its network where that is an IPv6 one. */
	#paidOfNetwork(click: ClickMessage, { id }: PublisherFacts): number {
		const network = networkOfClick(click);
		if (network === null) return 0;
		const key = networkHourKey(id, network, hourOf(click.at));
		return (this.#networksBefore.get(key) ?? 0) + (this.#networks.get(key)?.clickCount ?? 0);
	}

	#countNetwork(click: ClickMessage, publisher: PublisherFacts | undefined, { modes, networkPerHour }: TrafficPolicy): void {
		const network = networkOfClick(click);
		if (network === null || publisher === undefined) return;
		const hour = hourOf(click.at);
		const key = networkHourKey(publisher.id, network, hour);
		const counted = this.#networks.get(key);
		const before = this.#networksBefore.get(key) ?? 0;
		// Where a number decides nothing, no batch need be decided again for it.
		const most = modes.velocity === "unpaid" ? networkPerHour : Number.MAX_SAFE_INTEGER;
		if (counted === undefined) this.#networks.set(key, { publisherId: publisher.id, network, hour, before, clickCount: 1, most });
		else {
			counted.clickCount++;
			counted.most = Math.min(counted.most, most);
		}
	}

	/** Whether counting a click would pass a cap or a budget. */
	#capFacts(campaign: CampaignFacts, day: string, terms: Terms): ClickFacts {
		const costMicros = budgetCostOf(campaign.budgetBasis, terms);
		const { campaignId, dailyClickCap, dailyBudgetMicros, totalBudgetMicros } = campaign;
		const today = this.#days.get(campaignDayKey(campaignId, day)) ?? NOTHING;
		const ever = this.#ever.get(campaignId) ?? NOTHING;
		return {
			over_cap: dailyClickCap !== null && today.clicks + 1 > dailyClickCap,
			over_budget:
				(dailyBudgetMicros !== null && today.micros + costMicros > dailyBudgetMicros) ||
				(totalBudgetMicros !== null && ever.micros + costMicros > totalBudgetMicros),
		};
	}

	#count(click: ClickMessage, publisher: PublisherFacts | undefined, day: string, costMicros: number): void {
		const { hash, campaignId } = click;
		this.#billed.add(hash);
		const dayKey = campaignDayKey(campaignId, day);
		this.#days.set(dayKey, plus(this.#days.get(dayKey), costMicros));
		this.#ever.set(campaignId, plus(this.#ever.get(campaignId), costMicros));
		const visit = visitOf(click, publisher);
		if (visit !== null) this.#keepVisit(visit);
	}

	#keepVisit(visit: PaidVisit): void {
		const key = visitsKey(visit.publisherId, visit.connection);
		const known = this.#visits.get(key);
		if (known === undefined) this.#visits.set(key, [visit]);
		else known.push(visit);
	}

	/** Counts an unpaid click by its connection's hour; false where that has stored as many as it may. */
	#mayStore({ connection, at }: ClickMessage): boolean {
		if (connection === undefined) return true;
		const hour = hourOf(at);
		const key = connectionHourKey(connection, hour);
		const counted = this.#unpaid.get(key) ?? { connection, hour, before: this.#unpaidBefore.get(key) ?? 0, stored: 0, dropped: 0 };
		this.#unpaid.set(key, counted);
		const hasRoom = counted.before + counted.stored < MAX_UNPAID_PER_HOUR;
		if (hasRoom) counted.stored++;
		else counted.dropped++;
		return hasRoom;
	}

	#sourceOf({ sourceHash }: ClickMessage, publisherId: string, date: string, source: string | null): string | null {
		if (source === null) return null;
		const key = sourceKey(publisherId, date, source);
		if (this.#knownSources.has(key) || this.#metSources.has(key)) return source;
		const dayKey = publisherDayKey(publisherId, date);
		const count = this.#sourceCounts.get(dayKey) ?? 0;
		const isOfBid = sourceHash !== undefined && sourceHash === hashSource(source);
		const shares = this.#soldOnDayBefore.has(key) ? 3 : isOfBid ? 2 : 1;
		if (count >= shares * MAX_SOURCES_PER_DAY) return OTHER_SOURCE;
		this.#metSources.add(key);
		this.#sourceCounts.set(dayKey, count + 1);
		this.#decided.newSources.push({ publisherId, date, sourceCount: 1 });
		return source;
	}
}

type Terms = Pick<DecidedClick, "bidMicros" | "grossMicros" | "pricingModel" | "sharePpm">;

/** What a click is paid by: as it was fixed when it was made. What its message does not tell is as publisher and campaign have it now. */
function termsOf(click: ClickMessage, publisher: PublisherFacts | undefined, campaign: CampaignFacts | undefined): Terms {
	const sharePpm = click.sharePpm ?? publisher?.sharePpm ?? null;
	const epcMicros = click.grossMicros ?? campaign?.epcMicros ?? 0;
	const bidMicros = click.bidMicros ?? priceToMicros(priceOf(epcMicros, sharePpm ?? 0));
	// A message of an earlier version tells the bid alone.
	const grossMicros = click.grossMicros ?? (click.bidMicros === undefined ? epcMicros : beforeShare(bidMicros, sharePpm ?? 0));
	if (publisher === undefined) return { bidMicros, grossMicros, pricingModel: null, sharePpm: null };
	return { bidMicros, grossMicros, pricingModel: click.pricingModel ?? publisher.pricingModel, sharePpm };
}

/** A campaign may have gone to another platform since. A number that none has any more, or more than one, does not tell. */
function platformOf({ platformId }: ClickMessage, campaign: CampaignFacts | undefined, { platforms }: Facts): string | null {
	if (campaign === undefined) return null;
	const [platform, ...others] = platformId === undefined ? [] : (platforms.get(platformId) ?? []);
	return platform === undefined || others.length > 0 ? campaign.platform : platform;
}

function keywordClassOf({ campaignId, keyword }: ClickMessage, { keywords }: Facts): string | null {
	return keyword === undefined ? null : (keywords.get(campaignId)?.get(keyword) ?? OTHER_KEYWORDS);
}

/** Of a click that had none: it counts for its address, and repeats no visitor's. */
const NO_USER_AGENT = "";

/** A browser of a connection: that of another network of the site is another visitor's, though it is as many others are. */
function browserOf({ userAgentHash, network = "" }: ClickMessage): string | undefined {
	return userAgentHash === undefined ? undefined : userAgentHash + network;
}

/** The IPv6 network of 48 bits that a click came from; null for an IPv4 one, which has few more addresses than people. */
export function networkOfClick({ ipPrefix }: ClickMessage): string | null {
	return ipPrefix?.endsWith(WIDE_NETWORK) ? ipPrefix : null;
}

const WIDE_NETWORK = "::/48";

/** A paid click as the visit that later ones are held against; null where its connection or publisher is not known. */
export function visitOf(click: ClickMessage, publisher: PublisherFacts | undefined): PaidVisit | null {
	const { id, connection, brandId, at } = click;
	if (connection === undefined || publisher === undefined) return null;
	const userAgentHash = browserOf(click) ?? NO_USER_AGENT;
	return { clickId: id, publisherId: publisher.id, connection, userAgentHash, brandId, clickedAt: at, isVoided: false };
}

/** Whether any hour of which `at` is a part has as many visits: clicks arrive out of order, and later ones may be paid already. */
function hasHourOf(count: number, visits: readonly PaidVisit[], at: number): boolean {
	if (visits.length < count) return false;
	const times = visits.map(({ clickedAt }) => clickedAt).filter((time) => Math.abs(time - at) < HOUR_MS);
	if (times.length < count) return false;
	times.sort((a, b) => a - b);
	let most = 0;
	let first = 0;
	for (const [last, time] of times.entries()) {
		while ((times[first] ?? time) <= Math.max(time, at) - HOUR_MS) first++;
		most = Math.max(most, last - first + 1);
	}
	return most >= count;
}

const NOTHING: Spent = { clicks: 0, micros: 0 };

function plus(spent: Spent = NOTHING, micros: number): Spent {
	return { clicks: spent.clicks + 1, micros: spent.micros + micros };
}

function visitsKey(publisherId: string, connection: string): string {
	return `${connection} ${publisherId}`;
}
