import { Learner } from "../backtest/learner.ts";
import { readLine } from "../backtest/messages.ts";
import { answerLine } from "../backtest/serve.ts";
import type { Market } from "./market.ts";
import type { MarketCell, Player, Price } from "./play.ts";

/** The names of a cell, as lines of `--serve` have them. */
function nameCell(market: Market, cell: MarketCell) {
	const campaign = market.campaigns[cell.campaign];
	const publisher = market.publishers[cell.publisher];
	return {
		campaign: campaign?.id ?? "",
		publisher: publisher?.id ?? "",
		source: publisher?.sources[cell.source]?.id ?? "",
		keyword: cell.keyword === -1 ? "" : (campaign?.keywords[cell.keyword]?.keyword ?? "another"),
		link: cell.link,
		platform: market.platforms[campaign?.platform ?? 0]?.id ?? "",
	};
}

function writeNetwork(market: Market): string {
	return JSON.stringify({
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
			epc,
			default_keyword_epc: null,
			keyword_epc: Object.fromEntries(keywords.map(({ keyword, operatorEpc }) => [keyword, operatorEpc])),
		})),
	});
}

/** The production learner, called as `--serve` calls it. */
export function learning(market: Market): Player & { learner: Learner } {
	const learner = new Learner();
	answerLine(learner, readLine(writeNetwork(market)));
	return {
		learner,
		prices: (at, cells) => {
			learner.passTo(at);
			return cells.map((cell) => {
				const price = learner.price(nameCell(market, cell));
				return { epc: (price?.epcMicros ?? 0) / 1e6, bid: (price?.bidMicros ?? 0) / 1e6 };
			});
		},
		click: (at, id, cell, { bid }) =>
			answerLine(learner, { type: "click", at, id: String(id), ...nameCell(market, cell), bid: Math.round(bid * 1e6) }),
		conversion: (at, txnid, click, cell, status, payout) => {
			const { platform } = nameCell(market, cell);
			const line = { type: "conversion", at, txnid: String(txnid), click: String(click), platform, status } as const;
			answerLine(learner, { ...line, payout: Math.round(payout * 1e6) });
		},
	};
}

/** The same by lines of text both ways: what `--serve` costs. */
export function spoken(market: Market): Player {
	const learner = new Learner();
	const tell = (line: unknown) => answerLine(learner, readLine(JSON.stringify(line)));
	answerLine(learner, readLine(writeNetwork(market)));
	return {
		prices: (at, cells) => {
			const asked = cells.map((each) => {
				const { campaign, publisher, source, keyword, link } = nameCell(market, each);
				return [campaign, publisher, source, keyword, link];
			});
			const { epc, bid } = JSON.parse(tell({ type: "prices", at, cells: asked }) ?? "{}") as { epc: number[]; bid: number[] };
			return cells.map((_, index): Price => ({ epc: epc[index] ?? 0, bid: bid[index] ?? 0 }));
		},
		click: (at, id, cell, { bid }) => {
			tell({ type: "click", at, id: String(id), ...nameCell(market, cell), bid });
		},
		conversion: (at, txnid, click, cell, status, payout) => {
			tell({ type: "conversion", at, txnid, click: String(click), platform: nameCell(market, cell).platform, status, payout });
		},
	};
}
