import { counted, countedAs } from "../../src/lib/counted.ts";
import { formatUsd } from "../../src/lib/money.ts";
import type { JudgedClick } from "./walk-ledger.ts";

const DECILES = 10;

type Compared = { name: string; clicks: number; operatorMicros: number; predictedMicros: number; earnedMicros: number };

export type LedgerReport = {
	all: Compared;
	deciles: Compared[];
	platforms: Compared[];
	/** By how many clicks campaigns have. */
	sizes: Compared[];
	/** Of publishers who are paid by click: what clicks earned, less what was promised for them. */
	margin: { earnedMicros: number; operatorMicros: number; learnedMicros: number };
	/** Campaigns with clicks that are paid as such, and those that were promised more than they earned. */
	overpaid: { campaigns: number; operator: number; learned: number };
};

/** What a walk comes to. */
export function reportLedger(judged: readonly JudgedClick[]): LedgerReport {
	const byPrediction = judged.toSorted((a, b) => a.predictedMicros - b.predictedMicros);
	const of = (part: number) => Math.floor((judged.length * part) / DECILES);
	const deciles = Array.from({ length: DECILES }, (_, at) => compare(`decile ${at + 1}`, byPrediction.slice(of(at), of(at + 1))));
	const byCampaign = Map.groupBy(judged, ({ campaign }) => campaign);
	const bySize = Map.groupBy(judged, ({ campaign }) => sizeOf(byCampaign.get(campaign)?.length ?? 0));
	const paidByClick = judged.filter(({ operatorPaidMicros, learnedPaidMicros }) => operatorPaidMicros + learnedPaidMicros > 0);
	const earnedMicros = sum(paidByClick, (click) => click.earnedMicros);
	const paidCampaigns = [...Map.groupBy(paidByClick, ({ campaign }) => campaign).values()];
	const isOverpaid = (clicks: readonly JudgedClick[], paid: (click: JudgedClick) => number) =>
		sum(clicks, paid) > sum(clicks, (click) => click.earnedMicros);
	return {
		all: compare("all", judged),
		deciles: deciles.filter(({ clicks }) => clicks > 0),
		platforms: [...Map.groupBy(judged, ({ platform }) => platform)].sort(byName).map(([name, clicks]) => compare(name, clicks)),
		sizes: [...bySize]
			.sort(([, a], [, b]) => (a.length === b.length ? 0 : b.length - a.length))
			.map(([name, clicks]) => compare(name, clicks)),
		margin: {
			earnedMicros,
			operatorMicros: earnedMicros - sum(paidByClick, (click) => click.operatorPaidMicros),
			learnedMicros: earnedMicros - sum(paidByClick, (click) => click.learnedPaidMicros),
		},
		overpaid: {
			campaigns: paidCampaigns.length,
			operator: paidCampaigns.filter((clicks) => isOverpaid(clicks, (click) => click.operatorPaidMicros)).length,
			learned: paidCampaigns.filter((clicks) => isOverpaid(clicks, (click) => click.learnedPaidMicros)).length,
		},
	};
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
	return a < b ? -1 : 1;
}

function sizeOf(clicks: number): string {
	if (clicks < 1_000) return "campaigns of fewer than 1,000 clicks";
	return clicks < 10_000 ? "campaigns of 1,000 to 9,999 clicks" : "campaigns of 10,000 clicks and more";
}

function compare(name: string, clicks: readonly JudgedClick[]): Compared {
	return {
		name,
		clicks: clicks.length,
		operatorMicros: sum(clicks, (click) => click.operatorMicros),
		predictedMicros: sum(clicks, (click) => click.predictedMicros),
		earnedMicros: sum(clicks, (click) => click.earnedMicros),
	};
}

function sum(clicks: readonly JudgedClick[], of: (click: JudgedClick) => number): number {
	return clicks.reduce((total, click) => total + of(click), 0);
}

/** What it cannot know. */
const UNKNOWN = [
	"What it cannot know:",
	"  which auctions other bids would have won or lost: only clicks that came are held against what they earned;",
	"  what a changed price would have done to the traffic that publishers send;",
	"  the operator's numbers of then: all clicks are held against those of now, and settings of epc_learning are the defaults;",
	"  payouts before they were corrected: conversions count with what they are worth at last, on the day they were settled.",
];

/** A report in words. @param settleDays as the walk had it */
export function describeReport({ all, deciles, platforms, sizes, margin, overpaid }: LedgerReport, settleDays: number): string {
	if (all.clicks === 0) return `There is no paid click older than ${settleDays} days: nothing can be judged.`;
	return [
		`${counted(all.clicks, "click")} judged; those of the last ${settleDays} days are not.`,
		"",
		"USD: by the operator's numbers, predicted, earned, predicted : earned",
		...[all, ...platforms, ...sizes, ...deciles].map(describe),
		"",
		`Clicks that are paid as such earned ${usd(margin.earnedMicros)}: margin ${usd(margin.operatorMicros)} at the operator's numbers, ${usd(margin.learnedMicros)} at what was learned.`,
		`Of ${counted(overpaid.campaigns, "campaign")} with such clicks, ${countedAs(overpaid.operator, "is", "are")} overpaid at the operator's numbers, ${overpaid.learned} at what was learned.`,
		"",
		...UNKNOWN,
	].join("\n");
}

function describe({ name, clicks, operatorMicros, predictedMicros, earnedMicros }: Compared): string {
	const ratio = earnedMicros === 0 ? "–" : (predictedMicros / earnedMicros).toFixed(2);
	return `  ${name}: ${counted(clicks, "click")}, ${usd(operatorMicros)}, ${usd(predictedMicros)}, ${usd(earnedMicros)}, ${ratio}`;
}

function usd(micros: number): string {
	return formatUsd(Math.round(micros / 100) * 100);
}
