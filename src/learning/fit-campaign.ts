import { type CampaignTerms, type Cell, operatorEpcMicros } from "./cell.ts";
import { emptySums, type FactorEvidence, type FactorSums, readFactor } from "./factor.ts";
import type { RipeCell } from "./ripen.ts";
import type { LearningSettings } from "./settings.ts";
import type { Traffic, TrafficKind } from "./traffic.ts";

/** What a campaign's own clicks say of the operator's number: of all of it, of its keywords, of its publishers. */
export type CampaignFactors = {
	campaign: FactorEvidence;
	keywords: ReadonlyMap<string, FactorEvidence>;
	publishers: ReadonlyMap<string, FactorEvidence>;
};

/** @param phiMicros what a conversion weighs, see `measurePayouts` @param loading the part that pooled payouts add */
export type FitRules = { terms: CampaignTerms; phiMicros: number; loading: number; settings: LearningSettings };

/** A cell in its campaign: what the operator's number expects of it, in equivalent conversions, and the levels that it belongs to. */
type PlacedCell = {
	ripe: RipeCell;
	operatorMicros: number;
	expected: number;
	squared: number;
	observed: number;
	keyword: Level;
	publisher: Level;
	traffic: TrafficKind;
};
type Level = { sums: FactorSums; factor: number };

export type PlacedCampaign = {
	rules: FitRules;
	cells: readonly PlacedCell[];
	keywords: Map<string, Level>;
	publishers: Map<string, Level>;
};

/** Lays out a campaign's cells for fitting. */
export function placeCampaign(ripe: readonly RipeCell[], rules: FitRules, traffic: Traffic): PlacedCampaign {
	const { terms, phiMicros, loading } = rules;
	const keywords = new Map<string, Level>();
	const publishers = new Map<string, Level>();
	const cells = ripe.map((each): PlacedCell => {
		const operatorMicros = operatorEpcMicros(terms, each.cell.keyword);
		return {
			ripe: each,
			operatorMicros,
			expected: (each.ripe * operatorMicros) / phiMicros,
			squared: (each.ripeSquared * operatorMicros) / phiMicros,
			observed: (each.earnedMicros * (1 + loading)) / phiMicros,
			keyword: levelOf(keywords, each.cell.keyword),
			publisher: levelOf(publishers, each.cell.publisher),
			traffic: traffic.kindOf(each.cell),
		};
	});
	return { rules, cells, keywords, publishers };
}

function levelOf(levels: Map<string, Level>, key: string): Level {
	let level = levels.get(key);
	if (level === undefined) {
		level = { sums: emptySums(), factor: 1 };
		levels.set(key, level);
	}
	return level;
}

const PASSES = 2;

/** A campaign's factors, in two passes over its levels, given those of its traffic. */
export function fitCampaign({ rules, cells, keywords, publishers }: PlacedCampaign): CampaignFactors {
	const { kappa, lowestFactor, highestFactor } = rules.settings;
	for (const level of [...keywords.values(), ...publishers.values()]) level.factor = 1;
	let campaign = readFactor(emptySums(), kappa.campaign);
	for (let pass = 0; pass < PASSES; pass++) {
		const sums = emptySums();
		for (const cell of cells) addCell(sums, cell, cell.keyword.factor * cell.publisher.factor * cell.traffic.factor);
		campaign = readFactor(sums, kappa.campaign);
		const { factor } = campaign;
		campaign.factor = Math.min(Math.max(factor, lowestFactor), highestFactor);
		clear(keywords);
		for (const cell of cells) addCell(cell.keyword.sums, cell, campaign.factor * cell.publisher.factor * cell.traffic.factor);
		settle(keywords, kappa.keyword);
		clear(publishers);
		for (const cell of cells) addCell(cell.publisher.sums, cell, campaign.factor * cell.keyword.factor * cell.traffic.factor);
		settle(publishers, kappa.campaignPublisher);
	}
	return { campaign, keywords: read(keywords, kappa.keyword), publishers: read(publishers, kappa.campaignPublisher) };
}

function clear(levels: ReadonlyMap<string, Level>): void {
	for (const level of levels.values()) level.sums = emptySums();
}

function settle(levels: ReadonlyMap<string, Level>, kappa: number): void {
	for (const level of levels.values()) level.factor = readFactor(level.sums, kappa).factor;
}

function addCell(sums: FactorSums, cell: PlacedCell, others: number): void {
	sums.expected += cell.expected * others;
	sums.squared += cell.squared * others;
	sums.observed += cell.observed;
	sums.expectedMicros += cell.ripe.ripe * cell.operatorMicros * others;
	sums.earnedMicros += cell.ripe.earnedMicros;
	sums.clicks += cell.ripe.weighted;
	sums.ripe += cell.ripe.ripe;
}

function read(levels: ReadonlyMap<string, Level>, kappa: number): Map<string, FactorEvidence> {
	return new Map([...levels].map(([key, { sums }]) => [key, readFactor(sums, kappa)]));
}

/** Adds what a campaign says of its traffic, given its own factors: the last fit's. */
export function tellTraffic({ cells }: PlacedCampaign, factors: CampaignFactors): void {
	for (const cell of cells) addCell(cell.traffic.sums, cell, factors.campaign.factor * cell.keyword.factor * cell.publisher.factor);
}

/** What a cell is expected to earn a click by its campaign alone. Micro-dollars. */
export function campaignEpcMicros(terms: CampaignTerms, factors: CampaignFactors, cell: Cell): number {
	return (
		operatorEpcMicros(terms, cell.keyword) *
		factors.campaign.factor *
		(factors.keywords.get(cell.keyword)?.factor ?? 1) *
		(factors.publishers.get(cell.publisher)?.factor ?? 1)
	);
}
