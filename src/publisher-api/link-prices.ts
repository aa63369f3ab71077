/** What links of campaigns are worth to a publisher now: by what was learned, where the redirect pays by it. */
import { LEARNED_KEY, LearnedFactors, parseLearned } from "../campaign-book/learned.ts";
import { bakePrices, isRestrained, readLearning } from "../campaign-book/publisher/bake-prices.ts";
import type { Database } from "../db/client.ts";
import type { Publisher } from "../keys/key-owners.ts";
import type { LinkType } from "../lib/enums.ts";
import type { Campaign, LinkTerms } from "./offers.ts";

export type LinkPricesDeps = { db: Database; kv: KVNamespace; now: () => number };

/** A campaign's columns that its price is made of. */
type PricedRow = { campaignId: number; platform: string; epcMicros: number | null; epcLearning: string | null };

type Price = Pick<Campaign, "epcMicros" | "heldBack" | "operatorPrices" | "released">;

export type LinkPrices = {
	terms: LinkTerms;
	/** The prices of campaigns without a keyword, as the book has them. */
	priceCampaigns: (rows: readonly PricedRow[]) => Promise<(campaignId: number) => Price>;
};

/** @param source the name that the links give the place they stand in; null for none, or one that is not known yet */
export async function readLinkPrices({ db, kv, now }: LinkPricesDeps, publisher: Publisher, source: string | null): Promise<LinkPrices> {
	const { id, pricingModel, revenueSharePpm: sharePpm, epcLearning } = publisher;
	const learning = await readLearning(db, now());
	if (!learning.setsPrices || isRestrained(epcLearning)) {
		return { terms: { sharePpm, reckonings: null }, priceCampaigns: async (rows) => pricesOf(rows) };
	}
	const released = learning.released.publishers.get(id) ?? null;
	const text = await kv.get(LEARNED_KEY);
	const learned = new LearnedFactors(text === null ? null : parseLearned(text));
	const reckon = (link: LinkType) => learned.reckon({ id, pricingModel, released }, source, link, learning.at);
	return {
		terms: { sharePpm, reckonings: { homepage: reckon("homepage"), deeplink: reckon("deeplink") } },
		priceCampaigns: async (rows) => {
			const baked = await bakePrices(db, { ...learning, hasRestrained: released !== null }, rows.map(withoutKeywords));
			return pricesOf(baked);
		},
	};
}

/** A click on a link has no keyword. */
function withoutKeywords(row: PricedRow) {
	return { ...row, defaultKeywordEpcMicros: null, keywordEpcMicros: {} };
}

const NO_PRICE: Price = { epcMicros: null, heldBack: null, operatorPrices: null, released: null };

function pricesOf(rows: readonly (PricedRow & Partial<Omit<Price, "epcMicros">>)[]): (campaignId: number) => Price {
	const prices = new Map(
		rows.map(({ campaignId, epcMicros, heldBack = null, operatorPrices = null, released = null }): [number, Price] => [
			campaignId,
			{ epcMicros, heldBack, operatorPrices, released },
		]),
	);
	return (campaignId) => prices.get(campaignId) ?? NO_PRICE;
}
