import { type Break, findBreak } from "./breaks.ts";
import type { CampaignTerms } from "./cell.ts";
import type { CellHistory, EarningRow } from "./cohorts.ts";
import { DEFAULT_CURVES, type DelayCurves, maturities } from "./delay-curve.ts";
import {
	type CampaignFactors,
	campaignEpcMicros,
	type FitRules,
	fitCampaign,
	type PlacedCampaign,
	placeCampaign,
	tellTraffic,
} from "./fit-campaign.ts";
import { type Balance, balanceOf } from "./guards.ts";
import { measurePayouts, networkLoading, networkPayout, type PayoutMeasure, payoutSizes } from "./payouts.ts";
import { forgetting, ripenCell } from "./ripen.ts";
import type { LearningSettings } from "./settings.ts";
import { NO_SHARED_FACTORS, type SharedFactors, sharedFactor, Traffic } from "./traffic.ts";

/** A campaign with all that is kept of its clicks. */
type CampaignHistory = { terms: CampaignTerms; cells: readonly CellHistory[]; lastBreak: Break | null };

export type NightInput = {
	/** The day that is beginning: what was clicked on the days before it is learned from. */
	today: number;
	campaigns: readonly CampaignHistory[];
	/** By platform; the default curves where one is missing. */
	curves: ReadonlyMap<string, DelayCurves>;
	settings: LearningSettings;
};

/** What was learned of a campaign. */
type LearnedCampaign = {
	factors: CampaignFactors;
	payouts: PayoutMeasure;
	balance: Balance;
	/** Equivalent conversions that the clicks of the last week are expected to bring. */
	weekExpected: number;
	/** The last one that was found, this night or before. */
	lastBreak: Break | null;
};

export type Learned = {
	today: number;
	campaigns: ReadonlyMap<string, LearnedCampaign>;
	shared: SharedFactors;
	/** The part that pooled payouts add to what counts. */
	loading: number;
};

/** Rounds between the campaigns' own factors and those of their traffic. */
const ROUNDS = 3;

type Slice = {
	history: CampaignHistory;
	payouts: PayoutMeasure;
	maturity: readonly number[];
	rules: FitRules;
	placed: PlacedCampaign;
	lastBreak: Break | null;
};

/**
 * Everything that is learned from what is kept, and from nothing else: the same rows give the same factors, in whatever order they were
 * written. Each step goes campaign by campaign, and hands on only sums by traffic.
 */
export function learnNight(input: NightInput): Learned {
	const { today, settings } = input;
	const traffic = new Traffic();
	const weights = forgetting(settings.halfLifeDays);
	const slices = prepare(input, traffic, weights);
	let shared = fitRounds(slices, traffic, settings);
	let broken = false;
	for (const slice of slices) {
		const found = findBreak(slice.placed, fitCampaign(slice.placed), today, slice.lastBreak);
		if (found === null) continue;
		slice.lastBreak = found;
		slice.placed = place(slice, today, weights, traffic);
		broken = true;
	}
	if (broken) shared = fitRounds(slices, traffic, settings);
	const campaigns = new Map<string, LearnedCampaign>();
	for (const slice of slices) {
		const factors = fitCampaign(slice.placed);
		const { payouts, lastBreak } = slice;
		campaigns.set(slice.history.terms.id, {
			factors,
			payouts,
			balance: addBalances(slice, factors, shared, today),
			lastBreak,
			weekExpected: weekExpected(slice.placed, factors),
		});
	}
	return { today, campaigns, shared, loading: slices[0]?.rules.loading ?? 0 };
}

function prepare({ today, campaigns, curves, settings }: NightInput, traffic: Traffic, weights: readonly number[]): Slice[] {
	const sizes = campaigns.map(({ cells }) => payoutSizes(earnings(cells)));
	const usual = networkPayout(sizes);
	const measured = campaigns.map((history, at) => {
		const own = sizes[at] ?? new Map();
		return { history, sizes: own, payouts: measurePayouts(own, usual, history.terms.epcMicros ?? 0) };
	});
	const loading = networkLoading(measured.map((slice) => ({ sizes: slice.sizes, capMicros: slice.payouts.capMicros })));
	const byPlatform = new Map<string, readonly number[]>();
	return measured.map(({ history, payouts }) => {
		const { terms, lastBreak } = history;
		const maturity = byPlatform.get(terms.platform) ?? maturities(curves.get(terms.platform) ?? DEFAULT_CURVES);
		byPlatform.set(terms.platform, maturity);
		const rules = { terms, phiMicros: payouts.phiMicros, loading, settings };
		const slice = { history, payouts, maturity, rules, lastBreak };
		return { ...slice, placed: place(slice, today, weights, traffic) };
	});
}

function* earnings(cells: readonly CellHistory[]): Iterable<EarningRow> {
	for (const cell of cells) yield* cell.earnings;
}

function place(slice: Omit<Slice, "placed">, today: number, weights: readonly number[], traffic: Traffic): PlacedCampaign {
	const { history, maturity, payouts, lastBreak, rules } = slice;
	const forgottenBefore = lastBreak?.forgottenBefore ?? Number.NEGATIVE_INFINITY;
	const ripening = { today, maturity, capMicros: payouts.capMicros, weights, forgottenBefore };
	const ripe = history.cells.flatMap((cell) => ripenCell(cell, ripening) ?? []);
	return placeCampaign(ripe, rules, traffic);
}

function fitRounds(slices: readonly Slice[], traffic: Traffic, settings: LearningSettings): SharedFactors {
	let shared = NO_SHARED_FACTORS;
	for (let round = 0; round < ROUNDS; round++) {
		traffic.clear();
		for (const { placed } of slices) if (placed.cells.length > 0) tellTraffic(placed, fitCampaign(placed));
		shared = traffic.fit(settings.kappa);
	}
	return shared;
}

function weekExpected({ cells, rules }: PlacedCampaign, { campaign }: CampaignFactors): number {
	let sum = 0;
	for (const { ripe, operatorMicros, keyword, publisher, traffic } of cells) {
		sum += ripe.weekClicks * operatorMicros * keyword.factor * publisher.factor * traffic.factor;
	}
	return (sum * campaign.factor) / rules.phiMicros;
}

function addBalances(
	{ history, maturity, payouts, rules }: Slice,
	factors: CampaignFactors,
	shared: SharedFactors,
	today: number,
): Balance {
	const balance: Balance = { paidMicros: 0, projectedMicros: 0 };
	for (const cell of history.cells) {
		// Publishers who are paid by conversion are promised nothing by click.
		if (!cell.clicks.some(({ paidMicros }) => paidMicros > 0)) continue;
		const epcMicros = campaignEpcMicros(rules.terms, factors, cell.cell) * sharedFactor(shared, cell.cell);
		const part = balanceOf(cell, today, maturity, payouts.capMicros, rules.loading, epcMicros);
		balance.paidMicros += part.paidMicros;
		balance.projectedMicros += part.projectedMicros;
	}
	return balance;
}
