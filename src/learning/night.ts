import { type Break, findBreak } from "./breaks.ts";
import type { CampaignTerms } from "./cell.ts";
import type { CellHistory } from "./cohorts.ts";
import { type DelayCurves, DEFAULT_CURVES, maturities } from "./delay-curve.ts";
import { campaignEpcMicros, type CampaignFactors, fitCampaign, type FitRules, NO_SHARED_FACTORS, sharedFactor, type SharedFactors } from "./fit-campaign.ts";
import { addTraffic, fitShared, type Traffic } from "./fit-shared.ts";
import { type Balance, balanceOf } from "./guards.ts";
import { measurePayouts, networkLoading, networkPayout, type PayoutMeasure, type PayoutSizes, payoutSizes } from "./payouts.ts";
import { type RipeCell, ripenCell } from "./ripen.ts";
import type { LearningSettings } from "./settings.ts";

/** A campaign with all that is kept of its clicks. */
export type CampaignHistory = { terms: CampaignTerms; cells: readonly CellHistory[]; lastBreak: Break | null };

export type NightInput = {
	/** The day that is beginning: what was clicked on the days before it is learned from. */
	today: number;
	campaigns: readonly CampaignHistory[];
	/** By platform; the default curves where one is missing. */
	curves: ReadonlyMap<string, DelayCurves>;
	settings: LearningSettings;
};

/** What was learned of a campaign. */
export type LearnedCampaign = {
	factors: CampaignFactors;
	payouts: PayoutMeasure;
	balance: Balance;
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

type Slice = { history: CampaignHistory; sizes: PayoutSizes; payouts: PayoutMeasure; maturity: number[]; rules: FitRules; ripe: RipeCell[]; lastBreak: Break | null };

/**
 * Everything that is learned from what is kept, and from nothing else: the same rows give the same factors, in whatever order they were
 * written. Each step goes campaign by campaign, and hands on only sums by traffic.
 */
export function learnNight(input: NightInput): Learned {
	const { today, settings } = input;
	const slices = prepare(input);
	let shared = fitRounds(slices, settings);
	let broken = false;
	for (const slice of slices) {
		const factors = fitCampaign(slice.ripe, shared, slice.rules);
		const found = findBreak(slice.ripe, factors, shared, slice.rules, today, slice.lastBreak);
		if (found === null) continue;
		slice.lastBreak = found;
		slice.ripe = ripen(slice, input);
		broken = true;
	}
	if (broken) shared = fitRounds(slices, settings);
	const campaigns = new Map<string, LearnedCampaign>();
	for (const slice of slices) {
		const factors = fitCampaign(slice.ripe, shared, slice.rules);
		campaigns.set(slice.history.terms.id, {
			factors,
			payouts: slice.payouts,
			balance: addBalances(slice, factors, shared, today),
			lastBreak: slice.lastBreak,
		});
	}
	return { today, campaigns, shared, loading: slices[0]?.rules.loading ?? 0 };
}

function prepare(input: NightInput): Slice[] {
	const { campaigns, curves, settings } = input;
	const sizes = campaigns.map(({ cells }) => payoutSizes(earnings(cells)));
	const usual = networkPayout(sizes);
	const measured = campaigns.map((history, at) => {
		const own = sizes[at] ?? new Map();
		return { history, sizes: own, payouts: measurePayouts(own, usual, history.terms.epcMicros ?? 0) };
	});
	const loading = networkLoading(measured.map((slice) => ({ sizes: slice.sizes, capMicros: slice.payouts.capMicros })));
	const byPlatform = new Map<string, number[]>();
	return measured.map(({ history, sizes: own, payouts }) => {
		const { terms, lastBreak } = history;
		const maturity = byPlatform.get(terms.platform) ?? maturities(curves.get(terms.platform) ?? DEFAULT_CURVES);
		byPlatform.set(terms.platform, maturity);
		const rules = { terms, phiMicros: payouts.phiMicros, loading, settings };
		const slice: Slice = { history, sizes: own, payouts, maturity, rules, ripe: [], lastBreak };
		slice.ripe = ripen(slice, input);
		return slice;
	});
}

function* earnings(cells: readonly CellHistory[]) {
	for (const cell of cells) yield* cell.earnings;
}

function ripen({ history, maturity, payouts, lastBreak }: Slice, { today, settings }: NightInput): RipeCell[] {
	const forgottenBefore = lastBreak?.forgottenBefore ?? Number.NEGATIVE_INFINITY;
	const rules = { today, maturity, capMicros: payouts.capMicros, halfLifeDays: settings.halfLifeDays, forgottenBefore };
	return history.cells.flatMap((cell) => ripenCell(cell, rules) ?? []);
}

function fitRounds(slices: readonly Slice[], settings: LearningSettings): SharedFactors {
	let shared = NO_SHARED_FACTORS;
	for (let round = 0; round < ROUNDS; round++) {
		const traffic: Traffic = new Map();
		for (const { ripe, rules } of slices) {
			if (ripe.length > 0) addTraffic(traffic, ripe, fitCampaign(ripe, shared, rules), rules);
		}
		shared = fitShared(traffic, settings.kappa);
	}
	return shared;
}

function addBalances({ history, maturity, payouts, rules }: Slice, factors: CampaignFactors, shared: SharedFactors, today: number): Balance {
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
