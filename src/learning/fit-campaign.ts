import { type Cell, type LinkKind, operatorEpcMicros, type CampaignTerms } from "./cell.ts";
import { emptySums, type FactorEvidence, type FactorSums, readFactor } from "./factor.ts";
import type { RipeCell } from "./ripen.ts";
import type { LearningSettings } from "./settings.ts";

/** What the network's traffic is worth, whatever the campaign: publishers, their sources, kinds of links. 1 where a key is missing. */
export type SharedFactors = {
	publishers: ReadonlyMap<string, FactorEvidence>;
	/** By `sourceKey`. */
	sources: ReadonlyMap<string, FactorEvidence>;
	links: ReadonlyMap<LinkKind, FactorEvidence>;
};

export const NO_SHARED_FACTORS: SharedFactors = { publishers: new Map(), sources: new Map(), links: new Map() };

export function sourceKey(publisher: string, source: string): string {
	return `${publisher}\u0000${source}`;
}

/** What traffic multiplies every campaign's price by. */
export function sharedFactor(shared: SharedFactors, { publisher, source, link }: Cell): number {
	return (
		(shared.publishers.get(publisher)?.factor ?? 1) *
		(shared.sources.get(sourceKey(publisher, source))?.factor ?? 1) *
		(shared.links.get(link)?.factor ?? 1)
	);
}

/** What a campaign's own clicks say of the operator's number: of all of it, of its keywords, of its publishers. */
export type CampaignFactors = {
	campaign: FactorEvidence;
	keywords: ReadonlyMap<string, FactorEvidence>;
	publishers: ReadonlyMap<string, FactorEvidence>;
};

/** A cell while its campaign is fitted: what is expected of it by the operator's number and traffic, in equivalent conversions. */
type Fitted = { ripe: RipeCell; epcMicros: number; expected: number; squared: number; observed: number; keyword: Level; publisher: Level };
type Level = { sums: FactorSums; factor: number };

const PASSES = 2;

/** @param phiMicros what a conversion weighs, see `measurePayouts` @param loading the part that pooled payouts add */
export type FitRules = { terms: CampaignTerms; phiMicros: number; loading: number; settings: LearningSettings };

/** A campaign's factors, in two passes over its levels, given those of its traffic. */
export function fitCampaign(cells: readonly RipeCell[], shared: SharedFactors, rules: FitRules): CampaignFactors {
	const { kappa, lowestFactor, highestFactor } = rules.settings;
	const keywords = new Map<string, Level>();
	const publishers = new Map<string, Level>();
	const fitted = cells.map((ripe) => place(ripe, sharedFactor(shared, ripe.cell), rules, keywords, publishers));
	let campaign = readFactor(emptySums(), kappa.campaign);
	for (let pass = 0; pass < PASSES; pass++) {
		const sums = emptySums();
		for (const cell of fitted) add(sums, cell, cell.keyword.factor * cell.publisher.factor);
		campaign = readFactor(sums, kappa.campaign);
		campaign = { ...campaign, factor: Math.min(Math.max(campaign.factor, lowestFactor), highestFactor) };
		settle(keywords, fitted, (cell) => cell.keyword, (cell) => campaign.factor * cell.publisher.factor, kappa.keyword);
		settle(publishers, fitted, (cell) => cell.publisher, (cell) => campaign.factor * cell.keyword.factor, kappa.campaignPublisher);
	}
	return { campaign, keywords: read(keywords, kappa.keyword), publishers: read(publishers, kappa.campaignPublisher) };
}

function place(ripe: RipeCell, traffic: number, rules: FitRules, keywords: Map<string, Level>, publishers: Map<string, Level>): Fitted {
	const epcMicros = operatorEpcMicros(rules.terms, ripe.cell.keyword) * traffic;
	return {
		ripe,
		epcMicros,
		expected: (ripe.ripe * epcMicros) / rules.phiMicros,
		squared: (ripe.ripeSquared * epcMicros) / rules.phiMicros,
		observed: (ripe.earnedMicros * (1 + rules.loading)) / rules.phiMicros,
		keyword: levelOf(keywords, ripe.cell.keyword),
		publisher: levelOf(publishers, ripe.cell.publisher),
	};
}

function levelOf(levels: Map<string, Level>, key: string): Level {
	let level = levels.get(key);
	if (level === undefined) {
		level = { sums: emptySums(), factor: 1 };
		levels.set(key, level);
	}
	return level;
}

function settle(
	levels: Map<string, Level>,
	cells: readonly Fitted[],
	levelAt: (cell: Fitted) => Level,
	others: (cell: Fitted) => number,
	kappa: number,
): void {
	for (const level of levels.values()) level.sums = emptySums();
	for (const cell of cells) add(levelAt(cell).sums, cell, others(cell));
	for (const level of levels.values()) level.factor = readFactor(level.sums, kappa).factor;
}

function add(sums: FactorSums, cell: Fitted, others: number): void {
	sums.expected += cell.expected * others;
	sums.squared += cell.squared * others;
	sums.observed += cell.observed;
	sums.expectedMicros += cell.ripe.ripe * cell.epcMicros * others;
	sums.earnedMicros += cell.ripe.earnedMicros;
	sums.clicks += cell.ripe.weighted;
	sums.ripe += cell.ripe.ripe;
}

function read(levels: ReadonlyMap<string, Level>, kappa: number): Map<string, FactorEvidence> {
	return new Map([...levels].map(([key, { sums }]) => [key, readFactor(sums, kappa)]));
}

/** What a cell is expected to earn a click by its campaign alone. Micro-dollars. */
export function campaignEpcMicros(terms: CampaignTerms, factors: CampaignFactors | undefined, cell: Cell): number {
	const epcMicros = operatorEpcMicros(terms, cell.keyword);
	if (factors === undefined) return epcMicros;
	return (
		epcMicros *
		factors.campaign.factor *
		(factors.keywords.get(cell.keyword)?.factor ?? 1) *
		(factors.publishers.get(cell.publisher)?.factor ?? 1)
	);
}
