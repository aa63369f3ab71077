import type { PlatformCurves } from "./delay-curve.ts";
import {
	breakOfCampaign,
	type CampaignHistory,
	closeCampaign,
	type LaidCampaign,
	type LearnedCampaign,
	layCampaign,
	type NightRules,
	nightRules,
	ROUNDS,
	tellOfCampaign,
	tellReversals,
} from "./night-steps.ts";
import {
	addLoading,
	type LoadingSums,
	loadingOf,
	measurePayouts,
	NO_LOADING,
	networkPayout,
	type PayoutSizes,
	payoutSizes,
} from "./payouts.ts";
import type { LearningSettings } from "./settings.ts";
import { NO_SHARED_FACTORS, type SharedFactors, Traffic } from "./traffic.ts";

export type NightInput = {
	/** The day that is beginning: what was clicked on the days before it is learned from. */
	today: number;
	campaigns: readonly CampaignHistory[];
	/** By platform; the default curves where one is missing. */
	curves: ReadonlyMap<string, PlatformCurves>;
	/** The network's. */
	settings: LearningSettings;
};

export type Learned = {
	today: number;
	campaigns: ReadonlyMap<string, LearnedCampaign>;
	shared: SharedFactors;
	/** The part that pooled payouts add to what counts. */
	loading: number;
};

/**
 * Everything that is learned from what is kept, and from nothing else: the same rows give the same factors, in whatever order they were
 * written. The steps are those of a night over tables, with all campaigns in memory.
 */
export function learnNight(input: NightInput): Learned {
	const { today, settings, curves } = input;
	const traffic = new Traffic();
	const sizes = input.campaigns.map(({ cells }) => payoutSizes(cells));
	const rules = nightRules(today, curves, settings.halfLifeDays, measureNetwork(input.campaigns, sizes));
	for (const history of input.campaigns) tellReversals(history, rules, traffic);
	traffic.stand(settings.kappa);
	const laid = input.campaigns.map((history, at) => layCampaign(history, rules, traffic, sizes[at]));
	let shared = fitRounds(laid, traffic, settings);
	let isBroken = false;
	for (const [at, each] of laid.entries()) {
		const lastBreak = breakOfCampaign(each, rules);
		if (lastBreak === null) continue;
		laid[at] = layCampaign({ ...each.history, lastBreak }, rules, traffic);
		isBroken = true;
	}
	if (isBroken) shared = fitRounds(laid, traffic, settings);
	const campaigns = new Map(laid.map((each) => [each.history.terms.id, closeCampaign(each, rules, shared)]));
	return { today, campaigns, shared, loading: rules.loading };
}

function measureNetwork(campaigns: readonly CampaignHistory[], sizes: readonly PayoutSizes[]): Pick<NightRules, "usualMicros" | "loading"> {
	const usualMicros = networkPayout(sizes);
	const sums: LoadingSums = { ...NO_LOADING };
	for (const [at, { terms }] of campaigns.entries()) {
		const own = sizes[at] ?? new Map();
		addLoading(sums, own, measurePayouts(own, usualMicros, terms.epcMicros ?? 0).capMicros);
	}
	return { usualMicros, loading: loadingOf(sums) };
}

function fitRounds(campaigns: readonly LaidCampaign[], traffic: Traffic, settings: LearningSettings): SharedFactors {
	let shared = NO_SHARED_FACTORS;
	for (let round = 0; round < ROUNDS; round++) {
		traffic.clear();
		for (const laid of campaigns) tellOfCampaign(laid);
		shared = traffic.fit(settings.kappa, round === ROUNDS - 1);
	}
	return shared;
}
