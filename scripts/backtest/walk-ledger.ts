import { type CampaignTerms, keywordClass, operatorEpcMicros } from "../../src/learning/cell.ts";
import type { LearningSettings } from "../../src/learning/settings.ts";
import { priceOf, priceToMicros } from "../../src/lib/money.ts";
import { DAY_MS } from "../../src/lib/time.ts";
import type { Word } from "./conversion-log.ts";
import { type ClickFacts, Learner, type Publisher } from "./learner.ts";

export type LedgerClick = Omit<ClickFacts, "bidMicros"> & { id: string };

/** That a conversion came to count, or no more does, or is voided; what it is worth at last. */
export type LedgerWord = {
	at: number;
	platform: string;
	txnid: string;
	click: string;
	status: Word["status"];
	grossMicros: number;
	/** By a person, who let go of it while it was held. */
	isConfirmed: boolean;
};

/** Clicks and words in the order of their times. */
export type Ledger = {
	publishers: readonly Publisher[];
	campaigns: readonly CampaignTerms[];
	clicks: readonly LedgerClick[];
	/** Unix milliseconds: clicks before it are left out, since those without a conversion have been removed. Null where none have. */
	completeFrom: number | null;
	words: readonly LedgerWord[];
	/** By click: what its conversions that stand have earned. Micro-dollars. */
	earnedMicros: ReadonlyMap<string, number>;
};

/** A click that is old enough to be judged: what was believed of it when it came, and what it earned. Micro-dollars. */
export type JudgedClick = {
	campaign: string;
	platform: string;
	predictedMicros: number;
	operatorMicros: number;
	earnedMicros: number;
	/** What bids by the operator's numbers, and by what was learned, promise a publisher who is paid by click; 0 for others. */
	operatorPaidMicros: number;
	learnedPaidMicros: number;
};

/**
 * Walks forward through a ledger: each click is priced by what was known before it, and then held against what it earned.
 * @param settleDays clicks of this many last days are not judged: conversions of them are still to come
 * @param settings   the network's where they are left out
 */
export function walkLedger(ledger: Ledger, settleDays: number, settings?: LearningSettings): JudgedClick[] {
	const learner = new Learner("automatic", settings);
	learner.setNetwork(ledger.publishers, ledger.campaigns);
	const campaigns = new Map(ledger.campaigns.map((terms) => [terms.id, terms]));
	const publishers = new Map(ledger.publishers.map((publisher) => [publisher.id, publisher]));
	const until = (ledger.clicks.at(-1)?.at ?? 0) - settleDays * DAY_MS;
	const judged: JudgedClick[] = [];
	let next = 0;
	for (const click of ledger.clicks) {
		for (let word = ledger.words[next]; word !== undefined && word.at <= click.at; word = ledger.words[++next]) {
			learner.passTo(word.at);
			const { platform, txnid, at, status, grossMicros, isConfirmed } = word;
			learner.ledger.addWord(JSON.stringify([platform, txnid]), word.click, { at, status, payoutMicros: grossMicros, isConfirmed });
		}
		learner.passTo(click.at);
		const terms = campaigns.get(click.campaign);
		const publisher = publishers.get(click.publisher);
		const price = learner.price(click);
		// Of what is no more in the network nothing can be reckoned.
		if (terms === undefined || publisher === undefined || price === null) continue;
		if (click.at <= until) {
			const operatorMicros = operatorEpcMicros(terms, keywordClass(terms, click.keyword));
			judged.push({
				campaign: terms.id,
				platform: terms.platform,
				predictedMicros: price.epcMicros,
				operatorMicros,
				earnedMicros: ledger.earnedMicros.get(click.id) ?? 0,
				operatorPaidMicros: publisher.paidByClick ? priceToMicros(priceOf(operatorMicros, publisher.sharePpm)) : 0,
				learnedPaidMicros: publisher.paidByClick ? price.bidMicros : 0,
			});
		}
		learner.addClick(click.id, { ...click, bidMicros: price.bidMicros });
	}
	return judged;
}
