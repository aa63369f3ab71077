import { type Market, trueCampaignEpc } from "./market.ts";
import { FIRST_AT, type MarketCell, type Player, type Price } from "./play.ts";

const DAY_MS = 86_400_000;

function operatorEpc(market: Market, { campaign, keyword }: MarketCell): number {
	const known = market.campaigns[campaign];
	if (known === undefined) return 0;
	return keyword === -1 ? known.operatorEpc : (known.keywords[keyword]?.operatorEpc ?? known.operatorEpc);
}

function bidOf(market: Market, cell: MarketCell, epc: number): Price {
	return { epc, bid: epc * (market.publishers[cell.publisher]?.share ?? 0) };
}

const silent = { click: () => {}, conversion: () => {} };

/** Knows what every click is worth. */
export function oracle(market: Market): Player {
	return {
		...silent,
		prices: (at, cells) => {
			const day = Math.floor((at - FIRST_AT) / DAY_MS);
			return cells.map((cell) => bidOf(market, cell, trueCampaignEpc(market, cell.campaign, day) * cell.effect));
		},
	};
}

/** Bids the numbers that the operator typed. */
export function operator(market: Market): Player {
	return { ...silent, prices: (_, cells) => cells.map((cell) => bidOf(market, cell, operatorEpc(market, cell))) };
}

const NAIVE_DAYS = 30;
const NAIVE_LEAST_CLICKS = 50;

/** Bids what a campaign's clicks of the last 30 days have earned so far. */
export function naive(market: Market): Player {
	const days = market.campaigns.map(() => new Map<number, { clicks: number; earned: number }>());
	const clickDays = new Map<number, number>();
	const dayOf = (at: number) => Math.floor((at - FIRST_AT) / DAY_MS);
	const row = (campaign: number, day: number) => {
		const known = days[campaign]?.get(day) ?? { clicks: 0, earned: 0 };
		days[campaign]?.set(day, known);
		return known;
	};
	return {
		prices: (at, cells) => {
			const today = dayOf(at);
			const averages = days.map((rows) => {
				let [clicks, earned] = [0, 0];
				for (const [day, each] of rows) {
					if (day < today - NAIVE_DAYS) rows.delete(day);
					else [clicks, earned] = [clicks + each.clicks, earned + each.earned];
				}
				return clicks < NAIVE_LEAST_CLICKS ? null : Math.max(0, earned / clicks);
			});
			return cells.map((cell) => bidOf(market, cell, averages[cell.campaign] ?? operatorEpc(market, cell)));
		},
		click: (at, id, cell) => {
			clickDays.set(id, dayOf(at));
			row(cell.campaign, dayOf(at)).clicks++;
		},
		conversion: (_at, _txnid, click, cell, status, payout) => {
			row(cell.campaign, clickDays.get(click) ?? 0).earned += status === "approved" ? payout : -payout;
		},
	};
}
