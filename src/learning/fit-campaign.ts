import { type CampaignTerms, type Cell, operatorEpcMicros } from "./cell.ts";
import { type FactorEvidence, NO_EVIDENCE } from "./factor.ts";
import { addCell, Level, type SeenCells } from "./level.ts";
import type { RipeCells } from "./ripen.ts";
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

/** A campaign laid out for fitting: its cells, and the levels that they belong to. */
export type PlacedCampaign = {
	rules: FitRules;
	ripe: RipeCells;
	/** By cell: the operator's number, micro-dollars. */
	operatorMicros: Float64Array;
	seen: SeenCells;
	whole: Level;
	keywords: Level;
	publishers: Level;
	traffic: readonly TrafficKind[];
};

/** Lays out a campaign's cells for fitting. */
export function placeCampaign(ripe: RipeCells, rules: FitRules, traffic: Traffic): PlacedCampaign {
	const { terms, phiMicros, loading } = rules;
	const cells = ripe.histories.map(({ cell }) => cell);
	const column = () => new Float64Array(cells.length);
	const operatorMicros = column();
	const seen = {
		expected: column(),
		squared: column(),
		expectedMicros: column(),
		observed: column(),
		earnedMicros: ripe.earnedMicros,
		clicks: ripe.weighted,
		ripe: ripe.ripe.subarray(0, cells.length),
	};
	for (const [at, { keyword }] of cells.entries()) {
		const micros = operatorEpcMicros(terms, keyword);
		operatorMicros[at] = micros;
		seen.expectedMicros[at] = (ripe.ripe[at] ?? 0) * micros;
		seen.expected[at] = ((ripe.ripe[at] ?? 0) * micros) / phiMicros;
		seen.squared[at] = ((ripe.ripeSquared[at] ?? 0) * micros) / phiMicros;
		seen.observed[at] = isPriced(micros) ? ((ripe.earnedMicros[at] ?? 0) * (1 + loading)) / phiMicros : 0;
	}
	return {
		rules,
		ripe,
		operatorMicros,
		seen,
		whole: new Level(seen, () => ""),
		keywords: new Level(seen, (at) => cells[at]?.keyword ?? ""),
		publishers: new Level(seen, (at) => cells[at]?.publisher ?? ""),
		traffic: cells.map((cell) => traffic.kindOf(cell)),
	};
}

/** Whether clicks tell how good a number is. Where there is none nothing is expected: what came would be laid to others' numbers. */
export function isPriced(operatorMicros: number): boolean {
	return operatorMicros > 0;
}

const PASSES = 2;

/** A campaign's factors, in two passes over its levels, given those of its traffic. */
export function fitCampaign({ rules, whole, keywords, publishers, traffic }: PlacedCampaign): CampaignFactors {
	const { kappa, lowestFactor, highestFactor } = rules.settings;
	const inTraffic = new Float64Array(traffic.length);
	const parts = new Float64Array(traffic.length);
	for (const [at, { factor, standing }] of traffic.entries()) {
		inTraffic[at] = factor;
		parts[at] = standing.publisherPart;
	}
	const others = new Float64Array(traffic.length);
	keywords.reset();
	publishers.reset();
	const factors = { campaign: NO_EVIDENCE, keywords: new Map<string, FactorEvidence>(), publishers: new Map<string, FactorEvidence>() };
	for (let pass = 0; pass < PASSES; pass++) {
		for (let at = 0; at < others.length; at++) others[at] = keywords.factorOf(at) * publishers.factorOf(at) * (inTraffic[at] ?? 1);
		const campaign = whole.fit(others, kappa.campaign).get("") ?? NO_EVIDENCE;
		const factor = Math.min(Math.max(campaign.factor, lowestFactor), highestFactor);
		factors.campaign = { ...campaign, factor };
		for (let at = 0; at < others.length; at++) others[at] = factor * publishers.factorOf(at) * (inTraffic[at] ?? 1);
		factors.keywords = keywords.fit(others, kappa.keyword);
		for (let at = 0; at < others.length; at++) others[at] = factor * keywords.factorOf(at) * (inTraffic[at] ?? 1);
		factors.publishers = publishers.fit(others, kappa.campaignPublisher, parts);
	}
	return factors;
}

/** Adds what a campaign says of its traffic, given its own factors: the last fit's. */
export function tellTraffic({ seen, keywords, publishers, traffic }: PlacedCampaign, { campaign }: CampaignFactors): void {
	for (const [at, { sums }] of traffic.entries())
		addCell(sums, seen, at, campaign.factor * keywords.factorOf(at) * publishers.factorOf(at));
}

/** An amount of a cell times its factors beside the campaign's own, as they were last fitted. */
export function besideCampaign({ keywords, publishers, traffic }: PlacedCampaign, amount: number, at: number): number {
	return amount * keywords.factorOf(at) * publishers.factorOf(at) * (traffic[at]?.factor ?? 1);
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
