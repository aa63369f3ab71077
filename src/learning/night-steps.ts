/** The steps of a night, campaign by campaign: what one hands on to the next is sums by traffic, so that no two need be in memory. */
import { type Break, findBreak, weighOlder } from "./breaks.ts";
import type { CampaignTerms, Cell } from "./cell.ts";
import type { CellHistory } from "./cohorts.ts";
import { type CurvesOf, curvesOf, DEFAULT_CURVES, MaturityTables, type PlatformCurves } from "./delay-curve.ts";
import {
	besideCampaign,
	type CampaignFactors,
	campaignEpcMicros,
	type FitRules,
	fitCampaign,
	type PlacedCampaign,
	placeCampaign,
	tellTraffic,
} from "./fit-campaign.ts";
import { type Balance, balanceOf } from "./guards.ts";
import { measurePayouts, type PayoutMeasure, type PayoutSizes, payoutSizes } from "./payouts.ts";
import { addReversals, reversalsOf } from "./reversals.ts";
import { forgetting, ripenCells } from "./ripen.ts";
import type { LearningSettings } from "./settings.ts";
import { type SharedFactors, sharedFactor, type Traffic } from "./traffic.ts";

/** A campaign with all that is kept of its clicks. */
export type CampaignHistory = { terms: CampaignTerms; settings: LearningSettings; cells: readonly CellHistory[]; lastBreak: Break | null };

/** What was learned of a campaign. */
export type LearnedCampaign = {
	factors: CampaignFactors;
	payouts: PayoutMeasure;
	balance: Balance;
	/** Equivalent conversions that the clicks of the last week are expected to bring. */
	weekExpected: number;
	/** What those clicks are believed to be worth beyond the operator's numbers, by what the campaign's and keywords' factors say. Micro-dollars. */
	weekGainMicros: number;
	/** The last one that was found, this night or before. */
	lastBreak: Break | null;
};

/** What holds for all campaigns of a night. */
export type NightRules = {
	/** The day that is beginning: what was clicked on the days before it is learned from. */
	today: number;
	curves: (platform: string) => CurvesOf;
	tables: MaturityTables;
	/** By age in days, see `forgetting`. */
	weights: readonly number[];
	/** The network's usual payout, see `networkPayout`, and what pooled payouts add. */
	usualMicros: number | null;
	loading: number;
};

/** Rounds between the campaigns' own factors and those of their traffic; as many again where something broke. */
export const ROUNDS = 4;

/** A campaign laid out for fitting. */
export type LaidCampaign = {
	history: CampaignHistory;
	payouts: PayoutMeasure;
	curves: CurvesOf;
	fit: FitRules;
	placed: PlacedCampaign;
};

/** @param curves by platform; the default where one is missing */
export function nightRules(
	today: number,
	curves: ReadonlyMap<string, PlatformCurves>,
	halfLifeDays: number,
	payouts: Pick<NightRules, "usualMicros" | "loading">,
): NightRules {
	const byPlatform = new Map<string, CurvesOf>();
	const ofPlatform = (platform: string) => {
		const known = byPlatform.get(platform) ?? curvesOf(curves.get(platform) ?? DEFAULT_CURVES);
		byPlatform.set(platform, known);
		return known;
	};
	return { today, curves: ofPlatform, tables: new MaturityTables(), weights: forgetting(halfLifeDays), ...payouts };
}

/** Lays out a campaign, and the kinds of traffic that it is of. @param sizes of its payouts */
export function layCampaign(
	history: CampaignHistory,
	rules: NightRules,
	traffic: Traffic,
	sizes: PayoutSizes = payoutSizes(history.cells),
): LaidCampaign {
	const { terms, settings } = history;
	const payouts = measurePayouts(sizes, rules.usualMicros, terms.epcMicros ?? 0);
	const fit = { terms, phiMicros: payouts.phiMicros, loading: rules.loading, settings };
	const laid = { history, payouts, curves: rules.curves(terms.platform), fit };
	return { ...laid, placed: place(laid, rules, traffic) };
}

function place(laid: Omit<LaidCampaign, "placed">, rules: NightRules, traffic: Traffic): PlacedCampaign {
	const { history, curves, payouts, fit } = laid;
	const weights = weighOlder(rules.weights, history.lastBreak, rules.today);
	const maturity = (cell: Cell) => rules.tables.of(curves(cell.publisher), traffic.standingOf(cell).reversalLevel);
	const ripening = { today: rules.today, maturity, capMicros: payouts.capMicros, weights };
	return placeCampaign(ripenCells(history.cells, ripening), fit, traffic);
}

/** Adds what a campaign says of its traffic, by the traffic's factors in force. */
export function tellOfCampaign({ placed }: LaidCampaign): void {
	if (placed.traffic.length > 0) tellTraffic(placed, fitCampaign(placed));
}

/** Adds what was taken back of a campaign's conversions: before any is laid out, since clicks are read by it. */
export function tellReversals({ terms, cells }: CampaignHistory, { today, weights, curves }: NightRules, traffic: Traffic): void {
	const ofPlatform = curves(terms.platform);
	for (const history of cells) {
		const { publisher } = history.cell;
		addReversals(traffic.kindOf(history.cell).reversals, reversalsOf(history, ofPlatform(publisher), today, weights));
	}
}

/** The break of a campaign whose traffic is fitted, where there is a new one. */
export function breakOfCampaign({ placed, history }: LaidCampaign, { today }: NightRules): Break | null {
	return findBreak(placed, fitCampaign(placed), today, history.lastBreak);
}

/** What is learned of a campaign in the end. */
export function closeCampaign(laid: LaidCampaign, rules: NightRules, shared: SharedFactors): LearnedCampaign {
	const { placed, payouts, history } = laid;
	const factors = fitCampaign(placed);
	return {
		factors,
		payouts,
		balance: addBalances(laid, factors, shared, rules),
		lastBreak: history.lastBreak,
		...weekOf(placed, factors),
	};
}

function weekOf(placed: PlacedCampaign, { campaign }: CampaignFactors): Pick<LearnedCampaign, "weekExpected" | "weekGainMicros"> {
	const { operatorMicros, ripe, rules, keywords } = placed;
	let [worth, gain] = [0, 0];
	for (let at = 0; at < operatorMicros.length; at++) {
		const ofCell = besideCampaign(placed, (ripe.weekClicks[at] ?? 0) * (operatorMicros[at] ?? 0), at) * campaign.factor;
		worth += ofCell;
		gain += ofCell * (1 - 1 / (campaign.factor * keywords.factorOf(at)));
	}
	return { weekExpected: worth / rules.phiMicros, weekGainMicros: gain };
}

function addBalances(
	{ history, curves, payouts, fit, placed }: LaidCampaign,
	factors: CampaignFactors,
	shared: SharedFactors,
	{ today, tables }: NightRules,
): Balance {
	const balance: Balance = { paidMicros: 0, projectedMicros: 0 };
	const { ripe } = placed;
	let next = 0;
	for (const cell of history.cells) {
		const at = ripe.histories[next] === cell ? next++ : null;
		// Publishers who are paid by conversion are promised nothing by click.
		if (at === null ? cell.clicks.every(({ paidMicros }) => paidMicros <= 0) : ripe.paid[at] === 0) continue;
		const epcMicros =
			at === null
				? campaignEpcMicros(fit.terms, factors, cell.cell) * sharedFactor(shared, cell.cell)
				: besideCampaign(placed, (placed.operatorMicros[at] ?? 0) * factors.campaign.factor, at);
		const level = at === null ? 1 : (placed.traffic[at]?.standing.reversalLevel ?? 1);
		const maturity = tables.of(curves(cell.cell.publisher), level);
		const part = balanceOf(cell, today, maturity, payouts.capMicros, fit.loading, epcMicros);
		balance.paidMicros += part.paidMicros;
		balance.projectedMicros += part.projectedMicros;
	}
	return balance;
}
