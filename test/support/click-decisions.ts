/** Batches of clicks that are decided in memory: the facts and the state as the consumer reads them, kept as it writes them. */
import { visitWindowMs } from "../../src/clicks/consumer/batch-visits.ts";
import {
	type ClickState,
	campaignDayKey,
	connectionHourKey,
	type Decided,
	type DecidedClick,
	networkHourKey,
	type PaidVisit,
	publisherDayKey,
	sourceKey,
} from "../../src/clicks/consumer/click-state.ts";
import { policyOf } from "../../src/clicks/consumer/click-terms.ts";
import { decideClicks } from "../../src/clicks/consumer/decide-clicks.ts";
import { budgetCostOf, type Spent } from "../../src/clicks/consumer/decide-pause.ts";
import type { CampaignFacts, Facts, PublisherFacts } from "../../src/clicks/consumer/facts.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { DEFAULT_POLICY } from "../../src/lib/traffic-rules.ts";

export const NOON = Date.parse("2026-11-18T12:00:00Z");

export function publisherFacts(fields: Partial<PublisherFacts> = {}): PublisherFacts {
	return { id: "acme", pricingModel: "CPC", sharePpm: 500_000, traffic: null, ...fields };
}

export function campaignFacts(fields: Partial<CampaignFacts> = {}): CampaignFacts {
	return {
		campaignId: 5001,
		platform: "northwind",
		epcMicros: 400_000,
		timezone: "UTC",
		traffic: null,
		dailyClickCap: null,
		dailyBudgetMicros: null,
		totalBudgetMicros: null,
		budgetBasis: "publisher",
		...fields,
	};
}

export function facts(fields: Partial<Facts> = {}): Facts {
	return {
		publishers: new Map([["acme_rtb", publisherFacts()]]),
		campaigns: new Map([[5001, campaignFacts()]]),
		platforms: new Map(),
		keywords: new Map(),
		domains: new Map([[1, "shoes.example"]]),
		traffic: DEFAULT_POLICY,
		sources: new Set(),
		placed: new Map(),
		...fields,
	};
}

let made = 0;

/** A click of a visitor of its own; a hash of its own too. */
export function click(fields: Partial<ClickMessage> = {}): ClickMessage {
	const name = String(++made).padStart(8, "0");
	return {
		format: 1,
		id: `click-${name}`,
		at: NOON,
		hash: name.padStart(32, "0"),
		kind: "openrtb",
		publisher: "acme_rtb",
		brandId: 1,
		campaignId: 5001,
		bidMicros: 200_000,
		connection: `connection-${name}`,
		userAgentHash: "browser",
		...fields,
	};
}

export const EMPTY_STATE: ClickState = {
	version: 0,
	isLearned: true,
	storedIds: new Set(),
	billedHashes: new Set(),
	spentOnDays: new Map(),
	spentEver: new Map(),
	visits: [],
	paidOfNetworks: new Map(),
	unpaidStored: new Map(),
	sourceCounts: new Map(),
	knownSources: new Set(),
	soldOnDayBefore: new Set(),
	stops: new Map(),
};

/** Stands in for the database: what decided batches leave behind, by the tables' own keys. */
export class DecidedLedger {
	readonly rows: DecidedClick[] = [];
	readonly unpaid = new Map<string, { stored: number; dropped: number }>();
	readonly #facts: Facts;
	readonly #storedIds = new Set<string>();
	readonly #billedHashes = new Set<string>();
	readonly #visits: PaidVisit[] = [];
	readonly #networks = new Map<string, number>();
	readonly #spentOnDays = new Map<string, Spent>();
	readonly #spentEver = new Map<number, Spent>();
	readonly #sourceCounts = new Map<string, number>();
	readonly #sources = new Set<string>();

	constructor(of: Facts) {
		this.#facts = of;
	}

	take(messages: readonly ClickMessage[]): Decided {
		const decided = decideClicks(messages, this.#facts, {
			...EMPTY_STATE,
			storedIds: this.#storedIds,
			billedHashes: this.#billedHashes,
			visits: this.#visitsNear(messages),
			spentOnDays: this.#spentOnDays,
			spentEver: this.#spentEver,
			paidOfNetworks: this.#networks,
			unpaidStored: new Map([...this.unpaid].map(([key, { stored }]) => [key, stored])),
			sourceCounts: this.#sourceCounts,
			knownSources: this.#sources,
		});
		for (const row of decided.clicks) this.#write(row);
		for (const { publisherId, network, hour, clickCount } of decided.networks) {
			const key = networkHourKey(publisherId, network, hour);
			this.#networks.set(key, (this.#networks.get(key) ?? 0) + clickCount);
		}
		for (const { connection, hour, stored, dropped } of decided.unpaid) {
			const key = connectionHourKey(connection, hour);
			const known = this.unpaid.get(key) ?? { stored: 0, dropped: 0 };
			this.unpaid.set(key, { stored: known.stored + stored, dropped: known.dropped + dropped });
		}
		for (const { publisherId, date } of decided.newSources) {
			const key = publisherDayKey(publisherId, date);
			this.#sourceCounts.set(key, (this.#sourceCounts.get(key) ?? 0) + 1);
		}
		return decided;
	}

	paid(): DecidedClick[] {
		return this.rows.filter(({ reason }) => reason === null);
	}

	/** As the consumer reads them: those around the times of the batch. */
	#visitsNear(messages: readonly ClickMessage[]): PaidVisit[] {
		let from = Number.POSITIVE_INFINITY;
		let to = Number.NEGATIVE_INFINITY;
		for (const message of messages) {
			const windowMs = visitWindowMs(policyOf(this.#facts, message));
			from = Math.min(from, message.at - windowMs);
			to = Math.max(to, message.at + windowMs);
		}
		return this.#visits.filter(({ clickedAt }) => clickedAt >= from && clickedAt <= to);
	}

	#write(row: DecidedClick): void {
		const { click: of, publisher, campaign, reason, localDay, utcDay, sourceId } = row;
		this.rows.push(row);
		this.#storedIds.add(of.id);
		if (reason !== null) return;
		this.#billedHashes.add(of.hash);
		const day = campaignDayKey(of.campaignId, localDay);
		const costMicros = budgetCostOf(campaign?.budgetBasis ?? "publisher", row);
		this.#spentOnDays.set(day, plus(this.#spentOnDays.get(day), costMicros));
		this.#spentEver.set(of.campaignId, plus(this.#spentEver.get(of.campaignId), costMicros));
		if (publisher === undefined) return;
		this.#sources.add(sourceKey(publisher.id, utcDay, sourceId ?? ""));
		const { id, connection, userAgentHash: browser, network = "", brandId, at } = of;
		if (connection === undefined || browser === undefined) return;
		const userAgentHash = browser + network;
		this.#visits.push({ clickId: id, publisherId: publisher.id, connection, userAgentHash, brandId, clickedAt: at, isVoided: false });
	}
}

function plus(spent: Spent = { clicks: 0, micros: 0 }, micros: number): Spent {
	return { clicks: spent.clicks + 1, micros: spent.micros + micros };
}
