import { setImmediate } from "node:timers/promises";
import { learning, spoken } from "../../market/learning-players.ts";
import { FRAUD_PUBLISHERS, type Market, usualMarket } from "../../market/market.ts";
import { play } from "../../market/play.ts";
import { naive, operator, oracle } from "../../market/players.ts";
import { type Score, scoreHonest, scorePlayer } from "../../market/score.ts";
import { atLeast, atMost, type Figure, tell } from "../figure.ts";
import type { Bench, Part } from "../part.ts";

/** Networks of other sizes, sources and luck: a figure is the worst of them, but for regret, which is of all their money. */
const SEEDS = [11, 12, 13];
const EVENT_SEED = 14;
/** How late a tripling is known depends on how much the platforms of a network take back: the worst of these. */
const TRIPLE_SEEDS = [EVENT_SEED, 15, 16];
const TRIPLE_DAY = 60;
const MAX_SERVE_SECONDS = 300;
const MILLION_DAY = 60;
/** Days after an event when prices are looked at. */
const LOOK_AFTER_DAYS = 15;

export const learningPart: Part = {
	name: "learning",
	about: "prices that learn, in simulated markets: against an oracle, a 30-day average and the operator's numbers",
	async run(bench) {
		return [...(await playUsual(bench)), ...(await playEvents(bench)), ...(await playFraud(bench)), timeServing(bench)];
	},
};

type Scores = { market: Market; oracle: Score; operator: Score; naive: Score; learning: Score; published: number };

async function playUsual(bench: Bench): Promise<Figure[]> {
	const all: Scores[] = [];
	for (const seed of SEEDS) {
		const market = usualMarket(seed);
		const learner = learning(market);
		const scores = {
			market,
			oracle: scorePlayer(market, oracle(market)),
			operator: scorePlayer(market, operator(market)),
			naive: scorePlayer(market, naive(market)),
			learning: scorePlayer(market, learner),
			published: learner.learner.publishedPrices / market.options.days,
		};
		all.push(scores);
		const { predicted, decileError, overpaid, slowPlatform } = scores.learning;
		bench.say(
			`market ${seed}: oracle ${usd(scores.oracle)}, operator ${usd(scores.operator)}, naive ${usd(scores.naive)}, learned ${usd(scores.learning)}; ` +
				`predicted ${predicted.toFixed(3)}, deciles ${decileError.toFixed(3)}, overpaid ${overpaid.toFixed(4)}, slow platform ${slowPlatform.toFixed(3)}, published ${scores.published.toFixed(1)} a day`,
		);
		// A signal that ends the run is heard between markets.
		await setImmediate();
	}
	const sum = (of: (scores: Scores) => number) => all.reduce((total, scores) => total + of(scores), 0);
	const most = (of: (scores: Scores) => number) => Math.max(...all.map(of));
	const least = (of: (scores: Scores) => number) => Math.min(...all.map(of));
	const best = sum((scores) => scores.oracle.marginUsd);
	const lost = best - sum((scores) => scores.learning.marginUsd);
	const lostByNaive = best - sum((scores) => scores.naive.marginUsd);
	return [
		tell("learning.margin.oracle", best, "USD"),
		tell(
			"learning.margin.operator",
			sum((scores) => scores.operator.marginUsd),
			"USD",
		),
		tell("learning.margin.naive", best - lostByNaive, "USD"),
		tell("learning.margin.learned", best - lost, "USD"),
		atMost("learning.regret", lost / best, "of the oracle's margin", 0.4),
		atMost("learning.regret_of_naive", lost / lostByNaive, "of the 30-day average's", 0.6),
		atLeast(
			"learning.predicted.least",
			least((scores) => scores.learning.predicted),
			"of true",
			0.9,
		),
		atMost(
			"learning.predicted.most",
			most((scores) => scores.learning.predicted),
			"of true",
			1.1,
		),
		atMost(
			"learning.decile_error",
			most((scores) => scores.learning.decileError),
			"mean over deciles",
			0.1,
		),
		tell(
			"learning.worst_decile",
			most((scores) => scores.learning.worstDecile),
			"of true",
		),
		atMost(
			"learning.overpaid",
			most((scores) => scores.learning.overpaid),
			"of money paid by click",
			0.015,
		),
		atLeast(
			"learning.slow_platform.least",
			least((scores) => scores.learning.slowPlatform),
			"of true",
			0.8,
		),
		atMost(
			"learning.slow_platform.most",
			most((scores) => scores.learning.slowPlatform),
			"of true",
			1.25,
		),
		tell("learning.published", sum((scores) => scores.published) / all.length, "prices a day"),
	];
}

async function playEvents(bench: Bench): Promise<Figure[]> {
	const tripled: number[] = [];
	for (const seed of TRIPLE_SEEDS) {
		const market = usualMarket(seed, { events: { reversalsTripleOnDay: TRIPLE_DAY } });
		const { predicted } = scorePlayer(market, learning(market), TRIPLE_DAY + LOOK_AFTER_DAYS);
		tripled.push(predicted);
		bench.say(`market ${seed}, reversals tripled: predicted ${predicted.toFixed(3)}`);
		await setImmediate();
	}
	const paid = usualMarket(EVENT_SEED, { events: { millionOnDay: MILLION_DAY } });
	const million = scorePlayer(paid, learning(paid), MILLION_DAY + LOOK_AFTER_DAYS);
	bench.say(`a payout of a million: predicted ${million.predicted.toFixed(3)}`);
	await setImmediate();
	return [
		atMost("learning.reversals_tripled", Math.max(...tripled), "of true", 1.25),
		atLeast("learning.million.least", million.predicted, "of true", 0.88),
		atMost("learning.million.most", million.predicted, "of true", 1.15),
	];
}

/** Of clicks of one source beside all others, and what others' predictions may come to of true. */
const FRAUDS = [
	{ name: "fraud_5", part: 0.05, least: 0.9, most: 1.1 },
	{ name: "fraud_20", part: 0.2, least: 0.8, most: 1.25 },
] as const;
const FRAUD_DAY = 30;
const FRAUD_DAYS = 80;

/** Fraud of one source, and the prices of other publishers: the worst ten days of each. */
async function playFraud(bench: Bench): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const { name, part, least, most } of FRAUDS) {
		for (const cancelledAfterDays of [10, null]) {
			const fraud = { fromDay: FRAUD_DAY, part, cancelledAfterDays, publisher: FRAUD_PUBLISHERS.paidByConversion };
			const market = usualMarket(EVENT_SEED, { days: FRAUD_DAYS, events: { fraud } });
			const ratios = scoreHonest(market, learning(market), FRAUD_DAY).others;
			const kind = cancelledAfterDays === null ? "fast" : "cancelled";
			bench.say(`fraud of ${part}, ${kind}: others predicted ${listRatios(ratios)}`);
			figures.push(atLeast(`learning.${name}.${kind}.least`, Math.min(...ratios), "of true", least));
			figures.push(atMost(`learning.${name}.${kind}.most`, Math.max(...ratios), "of true", most));
			await setImmediate();
		}
	}
	return [...figures, ...(await playPaidFraud(bench))];
}

/** Sales that are made up and taken back late, at a publisher who is paid by click, from the first day on. */
const PAID_FRAUD = { fromDay: 0, part: 0.05, cancelledAfterDays: 25, publisher: FRAUD_PUBLISHERS.paidByClick };

async function playPaidFraud(bench: Bench): Promise<Figure[]> {
	const market = usualMarket(EVENT_SEED, { events: { fraud: PAID_FRAUD } });
	const { others, own, overpaid } = scoreHonest(market, learning(market), FRAUD_DAY);
	const honest = `others predicted ${listRatios(others)}, its publisher's other sources ${listRatios(own)}`;
	bench.say(`fraud of ${PAID_FRAUD.part}, paid by click: overpaid ${overpaid.toFixed(4)}, ${honest}`);
	await setImmediate();
	return [
		atMost("learning.fraud_paid.overpaid", overpaid, "of money paid by click", 0.015),
		atLeast("learning.fraud_paid.least", Math.min(...others), "of true", 0.9),
		atMost("learning.fraud_paid.most", Math.max(...others), "of true", 1.1),
		tell("learning.fraud_paid.own_publisher", own.at(-1) ?? 0, "of true, in the last ten days"),
	];
}

function listRatios(ratios: readonly number[]): string {
	return ratios.map((ratio) => ratio.toFixed(3)).join(", ");
}

/** The protocol of `--serve`: 120 days of 30,000 opportunities, lines of text both ways. */
function timeServing(bench: Bench): Figure {
	const market = usualMarket(EVENT_SEED, { opportunitiesPerDay: 30_000, campaigns: 120 });
	const before = process.cpuUsage();
	play(market, spoken(market), () => {});
	const { user, system } = process.cpuUsage(before);
	bench.say("served 120 days");
	return atMost("learning.serve", (user + system) / 1e6, "s of CPU", MAX_SERVE_SECONDS);
}

function usd({ marginUsd }: Score): string {
	return `${Math.round(marginUsd)} USD`;
}
