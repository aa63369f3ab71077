import { type Market, SLOW_PLATFORM } from "./market.ts";
import { isFraud, type Player, play, type Won } from "./play.ts";

/** Days before which prices are still the operator's mistakes: what is predicted is judged after them. */
const SETTLED_DAY = 30;

export type Score = {
	marginUsd: number;
	clicks: number;
	/** Predicted over true earnings of won clicks after SETTLED_DAY, and over all days. */
	predicted: number;
	predictedAllDays: number;
	/** By decile of predicted EPC: the mean and the largest distance of predicted : true from 1. */
	decileError: number;
	worstDecile: number;
	/** Of money paid by click, the part that campaigns were paid beyond what they earned. */
	overpaid: number;
	slowPlatform: number;
	byCampaign: Map<number, { predicted: number; truth: number; clicks: number }>;
};

/** Plays a market and scores it by what clicks are truly worth, whatever luck they had. */
export function scorePlayer(market: Market, player: Player, from = SETTLED_DAY): Score {
	let [marginUsd, clicks, allPredicted, allTrue, slowPredicted, slowTrue] = [0, 0, 0, 0, 0, 0];
	const balances = new Balances(market);
	const byCampaign: Score["byCampaign"] = new Map();
	const judged: { predicted: number; truth: number }[] = [];
	play(market, player, (won: Won) => {
		balances.add(won);
		const { day, cell, price, trueEpc } = won;
		const publisher = market.publishers[cell.publisher];
		const byClick = publisher?.paidByClick === true;
		marginUsd += trueEpc - (byClick ? price.bid : trueEpc * (publisher?.share ?? 0));
		clicks++;
		allPredicted += price.epc;
		allTrue += trueEpc;
		if (day < from) return;
		judged.push({ predicted: price.epc, truth: trueEpc });
		const sum = byCampaign.get(cell.campaign) ?? { predicted: 0, truth: 0, clicks: 0 };
		byCampaign.set(cell.campaign, { predicted: sum.predicted + price.epc, truth: sum.truth + trueEpc, clicks: sum.clicks + 1 });
		if (market.campaigns[cell.campaign]?.platform !== SLOW_PLATFORM) return;
		slowPredicted += price.epc;
		slowTrue += trueEpc;
	});
	const ratios = deciles(judged);
	const errors = ratios.map((ratio) => Math.abs(ratio - 1));
	const total = judged.reduce((sum, each) => ({ predicted: sum.predicted + each.predicted, truth: sum.truth + each.truth }), {
		predicted: 0,
		truth: 0,
	});
	return {
		marginUsd,
		clicks,
		predicted: total.predicted / total.truth,
		predictedAllDays: allPredicted / allTrue,
		decileError: errors.reduce((sum, error) => sum + error, 0) / errors.length,
		worstDecile: Math.max(...errors),
		overpaid: balances.overpaid,
		slowPlatform: slowPredicted / slowTrue,
		byCampaign,
	};
}

/** What campaigns have paid by click, against what those clicks earn. */
class Balances {
	readonly #market: Market;
	readonly #byCampaign = new Map<number, number>();
	#paid = 0;

	constructor(market: Market) {
		this.#market = market;
	}

	add({ cell, price, trueEpc }: Won): void {
		if (this.#market.publishers[cell.publisher]?.paidByClick !== true) return;
		this.#paid += price.bid;
		this.#byCampaign.set(cell.campaign, (this.#byCampaign.get(cell.campaign) ?? 0) + price.bid - trueEpc);
	}

	/** See `Score`. */
	get overpaid(): number {
		let over = 0;
		for (const balance of this.#byCampaign.values()) over += Math.max(0, balance);
		return over / this.#paid;
	}
}

const WINDOW_DAYS = 10;

/**
 * Predicted over true earnings by each ten days from a day on: of publishers without fraud, and of the fraudulent one's other sources.
 * And what all of it overpaid, see `Score`.
 */
export type HonestScore = { others: number[]; own: number[] } & Pick<Score, "overpaid">;

export function scoreHonest(market: Market, player: Player, from: number): HonestScore {
	type Sums = { predicted: number; truth: number };
	const windows: { others: Sums[]; own: Sums[] } = { others: [], own: [] };
	const balances = new Balances(market);
	play(market, player, (won: Won) => {
		balances.add(won);
		const { day, cell, price, trueEpc } = won;
		if (day < from || isFraud(market, cell)) return;
		const sums = cell.publisher === market.options.events.fraud?.publisher ? windows.own : windows.others;
		const at = Math.floor((day - from) / WINDOW_DAYS);
		const { predicted, truth } = sums[at] ?? { predicted: 0, truth: 0 };
		sums[at] = { predicted: predicted + price.epc, truth: truth + trueEpc };
	});
	const ratios = (sums: readonly Sums[]) => sums.map(({ predicted, truth }) => predicted / truth);
	return { others: ratios(windows.others), own: ratios(windows.own), overpaid: balances.overpaid };
}

function deciles(judged: { predicted: number; truth: number }[]): number[] {
	const sorted = judged.toSorted((a, b) => a.predicted - b.predicted);
	return Array.from({ length: 10 }, (_, at) => {
		let [predicted, truth] = [0, 0];
		for (let index = Math.floor((sorted.length * at) / 10); index < Math.floor((sorted.length * (at + 1)) / 10); index++) {
			predicted += sorted[index]?.predicted ?? 0;
			truth += sorted[index]?.truth ?? 0;
		}
		return predicted / truth;
	});
}
