import { exponential, logNormal, normal, type Random, seeded, zipf } from "./random.ts";

/** How a market is made. Sigmas are standard deviations of logarithms. */
export type MarketOptions = {
	seed: number;
	days: number;
	opportunitiesPerDay: number;
	campaigns: number;
	publishers: number;
	/** What happens besides: each measured by itself. */
	events: { reversalsTripleOnDay?: number; millionOnDay?: number };
};

export type Platform = { id: string; batches: boolean; delayDays: (random: Random) => number; reversed: number };

export type Campaign = {
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

export type Source = { id: string; effect: number };
export type MarketPublisher = {
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
/** The index of the platform that takes its time. */
export const SLOW_PLATFORM = 1;
const OPERATOR_ERROR = Math.log(3);
const MOST_DELAY_DAYS = 45;

export function makeMarket(options: MarketOptions): Market {
	const random = seeded(options.seed);
	const platforms = makePlatforms(random);
	const publishers = Array.from({ length: options.publishers }, (_, at) => makePublisher(random, at, options.campaigns));
	const campaigns = Array.from({ length: options.campaigns }, (_, at) => makeCampaign(random, at, options, platforms.length));
	return { options, platforms, campaigns, publishers, campaignSums: zipf(options.campaigns, 0.9), publisherSums: zipf(options.publishers, 0.8) };
}

function makePlatforms(random: Random): Platform[] {
	const mixture = (fast: number, fastDays: number, slowDays: number) => (chance: Random) =>
		Math.min(MOST_DELAY_DAYS, exponential(chance, chance() < fast ? fastDays : slowDays));
	const reversed = () => 0.05 + 0.15 * random();
	return [
		{ id: "swift", batches: false, delayDays: mixture(0.8, 0.1, 3), reversed: reversed() },
		{ id: "slow", batches: false, delayDays: mixture(0.2, 2, 18), reversed: reversed() },
		{ id: "batch", batches: true, delayDays: mixture(0.6, 0.5, 6), reversed: reversed() },
		{ id: "mixed", batches: false, delayDays: mixture(0.5, 0.5, 10), reversed: reversed() },
	];
}

function makePublisher(random: Random, at: number, campaigns: number): MarketPublisher {
	const count = 2 + Math.floor(60 * random() ** 2);
	const sources = Array.from({ length: count }, (_, source) => ({ id: `tag-${at}-${source}`, effect: logNormal(random, 0.4) }));
	// One large source sends clicks that never buy.
	const third = sources[2];
	if (at === 1 && third !== undefined) third.effect = 0.01;
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
		paidByClick: at % 2 === 0 || at === 1,
		effect: logNormal(random, 0.25),
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
		const effect = logNormal(random, 0.4);
		return { keyword: `keyword ${keyword}`, effect, operatorEpc: cents(operatorEpc * effect * Math.exp(0.3 * normal(random))) };
	});
	return {
		id: `campaign-${at}`,
		platform: Math.floor(random() * platforms),
		epcByDay,
		meanPayout: 25 * logNormal(random, 0.8),
		payoutSigma: random() < 0.3 ? 0 : 0.3 + 0.9 * random(),
		operatorEpc,
		keywords,
		publisherEffects: Float64Array.from({ length: options.publishers }, () => logNormal(random, 0.2)),
	};
}

/** Four decimals, never zero. */
function cents(value: number): number {
	return Math.max(0.0001, Math.round(value * 10_000) / 10_000);
}
