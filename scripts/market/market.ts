import { exponential, logNormal, normal, type Random, seeded, zipf } from "./random.ts";

/** How a market is made. Sigmas are standard deviations of logarithms. */
export type MarketOptions = {
	seed: number;
	days: number;
	opportunitiesPerDay: number;
	campaigns: number;
	publishers: number;
	/** What the best rival bids, against what a click is truly worth to the publisher: the logarithm's mean and sigma. */
	rivals: { mean: number; sigma: number };
	/** Scales how much publishers, sources, keywords and links differ: 1 is as much as campaigns of one kind do. */
	spread: number;
	/** USD. With the EPC it decides how often clicks buy, and so how much there is to learn from. */
	meanPayout: number;
	/** What happens besides: each measured by itself. */
	events: { reversalsTripleOnDay?: number; millionOnDay?: number; fraud?: Fraud };
};

/** Clicks of one source beside all others, from a day on, that buy far more often and at once. */
type Fraud = {
	fromDay: number;
	part: number;
	/** When its sales are taken back, all of them; null where they stand. */
	cancelledAfterDays: number | null;
	/** The index of the publisher whose last source it is, of which there are no other clicks. */
	publisher: number;
};

type Platform = { id: string; batches: boolean; delayDays: (random: Random) => number; reversed: number };

type Campaign = {
	id: string;
	platform: number;
	/** True gross EPC by day, in USD, before the effects of traffic. */
	epcByDay: Float64Array;
	meanPayout: number;
	payoutSigma: number;
	/** What an operator believes: off by up to a factor of three. */
	operatorEpc: number;
	keywords: { keyword: string; effect: number; operatorEpc: number }[];
	publisherEffects: Float64Array;
};

type Source = { id: string; effect: number };
type MarketPublisher = {
	id: string;
	share: number;
	paidByClick: boolean;
	effect: number;
	sources: Source[];
	sourceSums: Float64Array;
	campaignOrder: Int32Array;
};

export type Market = {
	options: MarketOptions;
	platforms: Platform[];
	campaigns: Campaign[];
	publishers: MarketPublisher[];
	campaignSums: Float64Array;
	publisherSums: Float64Array;
};

export const LINK_EFFECTS = { homepage: 0.85, deeplink: 1.2 } as const;
/** Indexes of publishers that may have a fraudulent source. */
export const FRAUD_PUBLISHERS = { paidByConversion: 2, paidByClick: 3 } as const;
/** How much more often its clicks seem to buy. */
const FRAUD_EFFECT = 5;
/** The index of the platform that takes its time. */
export const SLOW_PLATFORM = 1;
const OPERATOR_ERROR = Math.log(3);
const MAX_DELAY_DAYS = 45;

/** What the campaign of a cell is truly worth a click on a day, in USD, before the effects of traffic. */
export function trueCampaignEpc({ campaigns, platforms, options }: Market, campaignAt: number, day: number): number {
	const campaign = campaigns[campaignAt];
	const reversed = platforms[campaign?.platform ?? 0]?.reversed ?? 0;
	const { reversalsTripleOnDay } = options.events;
	const tripled = reversalsTripleOnDay !== undefined && day >= reversalsTripleOnDay;
	return (campaign?.epcByDay[day] ?? 0) * (tripled ? (1 - 3 * reversed) / (1 - reversed) : 1);
}

/** A network of the usual kind: what the benchmark's figures are about. */
export function usualMarket(seed: number, given: Partial<MarketOptions> = {}): Market {
	return makeMarket({
		seed,
		days: 120,
		opportunitiesPerDay: 6_000,
		campaigns: 24,
		publishers: 16,
		rivals: { mean: -0.25, sigma: 0.4 },
		spread: 0.6,
		meanPayout: 8,
		events: {},
		...given,
	});
}

function makeMarket(options: MarketOptions): Market {
	const random = seeded(options.seed);
	const platforms = makePlatforms(random);
	const publishers = Array.from({ length: options.publishers }, (_, at) => makePublisher(random, at, options));
	const campaigns = Array.from({ length: options.campaigns }, (_, at) => makeCampaign(random, at, options, platforms.length));
	return {
		options,
		platforms,
		campaigns,
		publishers,
		campaignSums: zipf(options.campaigns, 0.9),
		publisherSums: zipf(options.publishers, 0.8),
	};
}

function makePlatforms(random: Random): Platform[] {
	const mixture = (fast: number, fastDays: number, slowDays: number) => (chance: Random) =>
		Math.min(MAX_DELAY_DAYS, exponential(chance, chance() < fast ? fastDays : slowDays));
	const reversed = () => 0.05 + 0.15 * random();
	return [
		{ id: "swift", batches: false, delayDays: mixture(0.8, 0.1, 3), reversed: reversed() },
		{ id: "slow", batches: false, delayDays: mixture(0.2, 2, 18), reversed: reversed() },
		{ id: "batch", batches: true, delayDays: mixture(0.6, 0.5, 6), reversed: reversed() },
		{ id: "mixed", batches: false, delayDays: mixture(0.5, 0.5, 10), reversed: reversed() },
	];
}

function makePublisher(random: Random, at: number, { campaigns, spread, events }: MarketOptions): MarketPublisher {
	const count = 2 + Math.floor(60 * random() ** 2);
	const sources = Array.from({ length: count }, (_, source) => ({ id: `tag-${at}-${source}`, effect: logNormal(random, 0.4 * spread) }));
	// One large source sends clicks that never buy.
	const third = sources[2];
	if (at === 1 && third !== undefined) third.effect = 0.01;
	if (at === events.fraud?.publisher) sources.push({ id: "fraud", effect: FRAUD_EFFECT });
	const campaignOrder = Int32Array.from({ length: campaigns }, (_, campaign) => campaign);
	// Every publisher has its own favourites: some swaps among neighbours in the common order.
	for (let swap = 0; swap < campaigns; swap++) {
		const from = Math.floor(random() * campaigns);
		const to = Math.min(campaigns - 1, from + Math.floor(random() * 30));
		[campaignOrder[from], campaignOrder[to]] = [campaignOrder[to] ?? 0, campaignOrder[from] ?? 0];
	}
	return {
		id: `publisher-${at}`,
		share: 0.7 + 0.15 * random(),
		paidByClick: at % 2 === 1,
		effect: logNormal(random, 0.25 * spread),
		sources,
		sourceSums: zipf(count, 1),
		campaignOrder,
	};
}

function makeCampaign(random: Random, at: number, options: MarketOptions, platforms: number): Campaign {
	const base = 0.2 * logNormal(random, 0.7);
	const epcByDay = new Float64Array(options.days);
	const drift = 0.01 + 0.01 * random();
	const breakDay = random() < 0.15 ? Math.floor(options.days * (0.2 + 0.6 * random())) : options.days;
	const breakFactor = random() < 0.6 ? 0.3 + 0.3 * random() : 1.8 + random();
	let walk = 1;
	for (let day = 0; day < options.days; day++) {
		walk *= Math.exp(drift * normal(random) - drift ** 2 / 2);
		epcByDay[day] = base * walk * (day >= breakDay ? breakFactor : 1);
	}
	const operatorEpc = cents(base * Math.exp(OPERATOR_ERROR * (2 * random() - 1)));
	const keywords = Array.from({ length: Math.floor(6 * random()) }, (_, keyword) => {
		const effect = logNormal(random, 0.4 * options.spread);
		return {
			keyword: `keyword ${keyword}`,
			effect,
			operatorEpc: cents(operatorEpc * effect * Math.exp(0.3 * options.spread * normal(random))),
		};
	});
	return {
		id: `campaign-${at}`,
		platform: Math.floor(random() * platforms),
		epcByDay,
		meanPayout: options.meanPayout * logNormal(random, 0.6),
		payoutSigma: random() < 0.3 ? 0 : 0.3 + 0.9 * random(),
		operatorEpc,
		keywords,
		publisherEffects: Float64Array.from({ length: options.publishers }, () => logNormal(random, 0.2 * options.spread)),
	};
}

/** Four decimals, never zero. */
function cents(value: number): number {
	return Math.max(0.0001, Math.round(value * 10_000) / 10_000);
}
