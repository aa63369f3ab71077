import type { LearningSettings } from "../../src/learning/settings.ts";
import { Learner } from "../backtest/learner.ts";
import { answerLine } from "../backtest/serve.ts";
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

/** The production learner, by the lines of `--serve`. */
export function learning(market: Market, settings?: LearningSettings): Player & { learner: Learner } {
	const learner = new Learner("automatic", settings);
	answerLine(learner, {
		type: "network",
		platforms: market.platforms,
		publishers: market.publishers.map(({ id, share, paidByClick }) => ({
			id,
			revenue_share: share,
			pricing_model: paidByClick ? "CPC" : "CPA",
		})),
		campaigns: market.campaigns.map(({ id, platform, operatorEpc: epc, keywords }) => ({
			id,
			platform: market.platforms[platform]?.id ?? "",
			epc: micros(epc),
			default_keyword_epc: null,
			keyword_epc: Object.fromEntries(keywords.map(({ keyword, operatorEpc: own }) => [keyword, micros(own)])),
		})),
	});
	const names = (cell: MarketCell) => {
		const campaign = market.campaigns[cell.campaign];
		const publisher = market.publishers[cell.publisher];
		return {
			campaign: campaign?.id ?? "",
			publisher: publisher?.id ?? "",
			source: publisher?.sources[cell.source]?.id ?? "",
			keyword: cell.keyword === -1 ? "" : (campaign?.keywords[cell.keyword]?.keyword ?? "another"),
			link: cell.link,
		};
	};
	return {
		learner,
		prices: (at, cells) => {
			learner.passTo(at);
			return cells.map((cell) => {
				const price = learner.price(names(cell));
				return { epc: (price?.epcMicros ?? 0) / 1e6, bid: (price?.bidMicros ?? 0) / 1e6 };
			});
		},
		click: (at, id, cell, { bid }) => answerLine(learner, { type: "click", at, id: String(id), ...names(cell), bid: micros(bid) }),
		conversion: (at, txnid, click, cell, status, payout) =>
			answerLine(learner, {
				type: "conversion",
				at,
				txnid: String(txnid),
				click: String(click),
				platform: market.platforms[market.campaigns[cell.campaign]?.platform ?? 0]?.id ?? "",
				status,
				payout: micros(payout),
			}),
	};
}

function micros(usd: number): number {
	return Math.round(usd * 1e6);
}
