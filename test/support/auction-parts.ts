/** Parts of an auction for tests: each has a sound default, so that a test says only what its rule is about. */
import type { AuctionBook, AuctionRequest } from "../../src/bidding/auction.ts";
import { ALL_HOURS, BID_PAY_MS, type BookBrand, type BookCampaign, type BookPublisher } from "../../src/campaign-book/book.ts";
import { DEFAULT_POLICY } from "../../src/lib/traffic-rules.ts";

export function campaign(fields: Partial<BookCampaign> = {}): BookCampaign {
	return {
		campaignId: 1,
		active: true,
		country: "US",
		platformId: 7,
		hasHomepage: true,
		hasDeeplink: true,
		homepageUrl: "https://track.example/c?sub={click_id}",
		deeplinkUrl: "https://track.example/c?sub={click_id}&url={deeplink}",
		epcMicros: 400_000,
		defaultKeywordEpcMicros: null,
		keywordEpcMicros: null,
		capped: false,
		timeZone: null,
		allowedHours: ALL_HOURS,
		traffic: null,
		heldBack: null,
		operatorPrices: null,
		released: null,
		...fields,
	};
}

export function brand(fields: Partial<BookBrand> = {}): BookBrand {
	return {
		brandId: 10,
		domain: "shoes.example",
		aliases: [],
		active: true,
		blockedCountries: [],
		categories: [],
		blocks: null,
		campaigns: [campaign()],
		...fields,
	};
}

export function publisher(fields: Partial<BookPublisher> = {}): BookPublisher {
	return {
		id: "acme",
		number: null,
		identity: "acme_rtb",
		seat: "acme-seat",
		sharePpm: 500_000,
		pricingModel: "CPA",
		blockedBrands: new Map(),
		suspended: false,
		bidPayMs: BID_PAY_MS,
		privacy: "strip",
		traffic: DEFAULT_POLICY,
		openRtb: null,
		fullAnswers: false,
		accessKeys: [],
		restrained: false,
		released: null,
		...fields,
	};
}

export function auctionRequest(fields: Partial<AuctionRequest> = {}): AuctionRequest {
	return {
		country: "US",
		domain: "shoes.example",
		source: null,
		keyword: null,
		deeplink: null,
		homepageInstead: false,
		privateAuction: false,
		floor: { kind: "none" },
		blockedAdvertisers: [],
		allowedSeats: [],
		blockedSeats: [],
		currencies: [],
		privacy: null,
		categories: null,
		tooComplex: false,
		...fields,
	};
}

export function auctionBook(fields: Partial<AuctionBook> = {}): AuctionBook {
	return { publisher: publisher(), brands: [brand()], isPaused: () => false, learned: null, ...fields };
}

/** Hours as the mask in which the book keeps them. */
export function hours(...allowed: number[]): number {
	return allowed.reduce((mask, hour) => mask | (1 << hour), 0);
}
