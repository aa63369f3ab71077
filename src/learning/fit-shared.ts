import type { LinkKind } from "./cell.ts";
import { emptySums, type FactorEvidence, type FactorSums, readFactor } from "./factor.ts";
import { type CampaignFactors, campaignEpcMicros, type FitRules, type SharedFactors, sourceKey } from "./fit-campaign.ts";
import type { RipeCell } from "./ripen.ts";
import type { Kappa } from "./settings.ts";

/** What all campaigns together say of one kind of traffic: few rows, however many campaigns there are. */
export type TrafficSums = { publisher: string; source: string; link: LinkKind; sums: FactorSums };

/** By publisher, source and link. */
export type Traffic = Map<string, TrafficSums>;

/** Adds what a campaign's cells say of their traffic, given the campaign's own factors: a slice of the night. */
export function addTraffic(traffic: Traffic, cells: readonly RipeCell[], factors: CampaignFactors, rules: FitRules): void {
	const { terms, phiMicros, loading } = rules;
	for (const ripe of cells) {
		const { publisher, source, link } = ripe.cell;
		const key = `${sourceKey(publisher, source)}\u0000${link}`;
		let row = traffic.get(key);
		if (row === undefined) {
			row = { publisher, source, link, sums: emptySums() };
			traffic.set(key, row);
		}
		const epcMicros = campaignEpcMicros(terms, factors, ripe.cell);
		const { sums } = row;
		sums.expected += (ripe.ripe * epcMicros) / phiMicros;
		sums.squared += (ripe.ripeSquared * epcMicros) / phiMicros;
		sums.observed += (ripe.earnedMicros * (1 + loading)) / phiMicros;
		sums.expectedMicros += ripe.ripe * epcMicros;
		sums.earnedMicros += ripe.earnedMicros;
		sums.clicks += ripe.weighted;
		sums.ripe += ripe.ripe;
	}
}

const PASSES = 2;

type Row = TrafficSums & { sourceKey: string };

/** The factors of publishers, their sources and kinds of links, in two passes over the levels. */
export function fitShared(traffic: Traffic, kappa: Kappa): SharedFactors {
	const rows: Row[] = [...traffic.values()].map((row) => ({ ...row, sourceKey: sourceKey(row.publisher, row.source) }));
	let publishers = new Map<string, FactorEvidence>();
	let sources = new Map<string, FactorEvidence>();
	let links = new Map<LinkKind, FactorEvidence>();
	for (let pass = 0; pass < PASSES; pass++) {
		publishers = fitLevel(rows, (row) => row.publisher, (row) => at(sources, row.sourceKey) * at(links, row.link), kappa.publisher);
		sources = fitLevel(rows, (row) => row.sourceKey, (row) => at(publishers, row.publisher) * at(links, row.link), kappa.source);
		links = fitLevel(rows, (row) => row.link, (row) => at(publishers, row.publisher) * at(sources, row.sourceKey), kappa.link);
	}
	return { publishers, sources, links };
}

function at<Key>(level: ReadonlyMap<Key, FactorEvidence>, key: Key): number {
	return level.get(key)?.factor ?? 1;
}

function fitLevel<Key>(rows: readonly Row[], keyOf: (row: Row) => Key, others: (row: Row) => number, kappa: number): Map<Key, FactorEvidence> {
	const sums = new Map<Key, FactorSums>();
	for (const row of rows) {
		const key = keyOf(row);
		let sum = sums.get(key);
		if (sum === undefined) {
			sum = emptySums();
			sums.set(key, sum);
		}
		const factor = others(row);
		sum.expected += row.sums.expected * factor;
		sum.squared += row.sums.squared * factor;
		sum.observed += row.sums.observed;
		sum.expectedMicros += row.sums.expectedMicros * factor;
		sum.earnedMicros += row.sums.earnedMicros;
		sum.clicks += row.sums.clicks;
		sum.ripe += row.sums.ripe;
	}
	return new Map([...sums].map(([key, sum]) => [key, readFactor(sum, kappa)]));
}
