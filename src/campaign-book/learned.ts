/**
 * What prices are multiplied by beyond what is baked into them: kinds of traffic, publishers' exceptions of campaigns, and what campaigns
 * hold back. KV key `book:learned`, one small JSON that is read with the manifest where that says that prices are learned.
 */
import type { LinkType, PricingModel } from "../lib/enums.ts";
import { hashSource } from "../lib/hash.ts";
import { ownOf } from "../lib/json.ts";
import { HELD_SCALE, priceOf } from "../lib/money.ts";
import { keepNear, laterRelease, type Release } from "../lib/release.ts";
import type { BookCampaign, CampaignPrices } from "./book.ts";
import { BOOK_FORMAT, parseObject } from "./format.ts";

export const LEARNED_KEY = "book:learned";

/** Factors are numbers; those that are 1 are absent. */
export type LearnedWire = {
	format: typeof BOOK_FORMAT;
	links?: Partial<Record<LinkType, number>>;
	/** By publishers.id. */
	publishers?: Record<string, PublisherFactorsWire>;
	/** The most that any campaign bids above its price, in parts of HELD_SCALE. */
	h?: number;
};

export type PublisherFactorsWire = {
	f?: number;
	/** By `hashSource`. */
	s?: Record<string, number>;
	/** Of sources that are not in that list: there where all that are followed singly are, or where less is bid by it. */
	o?: number;
	/** By campaign id. */
	c?: Record<string, number>;
};

/** What the campaigns' prices are multiplied by in one request. */
export type Reckoning = {
	readonly traffic: number;
	readonly campaigns: Readonly<Record<string, number>> | null;
	/** No campaign's bid is more than this many times its price in the book. */
	readonly most: number;
	/** Whether the publisher is paid by click, or may be. */
	readonly byClick: boolean;
	/** Of the publisher. */
	readonly released: Release | null;
	/** Unix milliseconds. */
	readonly now: number;
};

type Asking = { readonly id: string; readonly pricingModel: PricingModel | null; readonly released: Release | null };

/** The factors of one reading of the key. */
export class LearnedFactors {
	readonly #links: Partial<Record<LinkType, number>>;
	readonly #publishers: ReadonlyMap<string, PublisherFactorsWire & { highest: number }>;
	readonly #mostHeld: number;

	/** @param wire null where the key is not there: then nothing is known but what the book itself has */
	constructor(wire: LearnedWire | null) {
		this.#links = wire?.links ?? {};
		this.#publishers = new Map(
			Object.entries(wire?.publishers ?? {}).map(([id, own]) => [id, { ...own, highest: Math.max(1, ...Object.values(own.c ?? {})) }]),
		);
		this.#mostHeld = (wire === null ? MAX_UNKNOWN : (wire.h ?? HELD_SCALE)) / HELD_SCALE;
	}

	/** @param source the publisher's own name of the place, as its clicks will have it; null for none */
	reckon({ id, pricingModel, released }: Asking, source: string | null, link: LinkType, now: number): Reckoning {
		const own = this.#publishers.get(id);
		// Clicks without a source are a source of their own.
		const ofSource = (own?.s === undefined ? undefined : ownOf(own.s, hashSource(source))) ?? own?.o ?? 1;
		const traffic = (this.#links[link] ?? 1) * (own?.f ?? 1) * ofSource;
		const campaigns = own?.c ?? null;
		// At least 1: a campaign that was let go of lately is not bid all of what its traffic takes away.
		const most = Math.max(1, traffic * (own?.highest ?? 1)) * this.#mostHeld;
		return { traffic, campaigns, most, byClick: pricingModel !== "CPA", released, now };
	}
}

/** As much as src/learning lets a campaign creep, where the key does not tell. */
const MAX_UNKNOWN = 3 * HELD_SCALE;

/** Reads the key; null where it is unreadable, or of a format that this code does not know. */
export function parseLearned(text: string): LearnedWire | null {
	const value = parseObject(text);
	return value?.format === BOOK_FORMAT ? (value as LearnedWire) : null;
}

/** A campaign as publishers are bid it to whom learned prices are not bid: by the operator's numbers. */
export function operatorView(campaign: BookCampaign): BookCampaign {
	return campaign.operatorPrices === null ? campaign : { ...campaign, ...campaign.operatorPrices };
}

type Reckoned = Pick<BookCampaign, "campaignId" | "heldBack" | "released">;

/**
 * What a campaign's clicks are reckoned to earn in a request, micro-dollars.
 * @param epcMicros      its price in the book, gross
 * @param operatorMicros the operator's number for the same, asked for where the campaign or the publisher was let go of lately
 */
export function reckonEpc(
	epcMicros: number,
	{ campaignId, heldBack, released }: Reckoned,
	reckoning: Reckoning | null,
	operatorMicros: () => number | null,
): number {
	// Campaigns that are pinned, or only advised, are not told apart but by this.
	if (reckoning === null || heldBack === null) return epcMicros;
	const { traffic, campaigns } = reckoning;
	const factor = campaigns === null ? traffic : traffic * (ownOf(campaigns, String(campaignId)) ?? 1);
	const learned = factor === 1 ? epcMicros : Math.round(epcMicros * factor);
	const release = laterRelease(released, reckoning.released);
	return release === null ? learned : keepNear(learned, operatorMicros() ?? epcMicros, release, reckoning.now);
}

/** What of that is bid, before the publisher's share. Micro-dollars. */
export function holdBack(epcMicros: number, { heldBack }: Pick<BookCampaign, "heldBack">, reckoning: Reckoning | null): number {
	if (reckoning === null || heldBack === null) return epcMicros;
	return Math.round((epcMicros * (reckoning.byClick ? heldBack.byClick : heldBack.all)) / HELD_SCALE);
}

/**
 * What a click on a tracking link is reckoned to earn, gross micro-dollars, and what it pays or promises, in ten-thousandths of a USD: by
 * the campaign's price without a keyword. The redirect pays it, and whoever tells publishers of it tells this.
 */
export function reckonLink(
	campaign: Reckoned & Pick<BookCampaign, "epcMicros"> & { readonly operatorPrices: Pick<CampaignPrices, "epcMicros"> | null },
	sharePpm: number,
	reckoning: Reckoning | null,
): { grossMicros: number; price: number } {
	const grossMicros = reckonEpc(campaign.epcMicros ?? 0, campaign, reckoning, () => campaign.operatorPrices?.epcMicros ?? null);
	return { grossMicros, price: priceOf(holdBack(grossMicros, campaign, reckoning), sharePpm) };
}
