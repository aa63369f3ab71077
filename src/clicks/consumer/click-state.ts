/** What a batch of clicks is decided by, and what becomes of each. */
import type { PricingModel } from "../../lib/enums.ts";
import type { TrafficRule, UnpaidReason } from "../../lib/traffic-rules.ts";
import type { ClickMessage } from "../message.ts";
import type { Spent } from "./decide-pause.ts";
import type { CampaignFacts, PublisherFacts } from "./facts.ts";
import type { Stops } from "./stops.ts";

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

export const campaignDayKey = (campaignId: number, day: string) => `${campaignId} ${day}`;
export const connectionHourKey = (connection: string, hour: number) => `${connection} ${hour}`;
export const networkHourKey = (publisherId: string, network: string, hour: number) => `${publisherId} ${network} ${hour}`;
export const publisherDayKey = (publisherId: string, date: string) => `${date} ${publisherId}`;
export const sourceKey = (publisherId: string, date: string, source: string) => JSON.stringify([publisherId, date, source]);
