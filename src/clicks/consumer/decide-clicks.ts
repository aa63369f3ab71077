/** What becomes of a batch of clicks: pure. It is written only if nothing it rests on has changed since it was read. */
import { hashSource } from "../../lib/hash.ts";
import { localDay, utcDay } from "../../lib/time.ts";
import type { TrafficPolicy } from "../../lib/traffic-rules.ts";
import type { ClickMessage } from "../message.ts";
import { type ClickFacts, judge } from "../payable.ts";
import { Sources, UnpaidClicks } from "./batch-bounds.ts";
import { BatchVisits } from "./batch-visits.ts";
import { type ClickState, campaignDayKey, type Decided, type DecidedClick } from "./click-state.ts";
import { keywordClassOf, platformOf, policyOf, type Terms, termsOf } from "./click-terms.ts";
import { budgetCostOf, hasCap, rateSlotOf, type Spent } from "./decide-pause.ts";
import type { CampaignFacts, Facts, PublisherFacts } from "./facts.ts";
import { readStopFacts, type Stops } from "./stops.ts";

/** Decides a batch in the order in which the clicks were made; of messages with one id the first counts. */
export function decideClicks(messages: readonly ClickMessage[], facts: Facts, state: ClickState): Decided {
	const byId = new Map<string, ClickMessage>();
	for (const message of messages) if (!byId.has(message.id) && !state.storedIds.has(message.id)) byId.set(message.id, message);
	const ledger = new Ledger(facts, state);
	for (const click of [...byId.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))) ledger.take(click);
	return ledger.close();
}

/** The state as it changes from click to click of a batch. */
class Ledger {
	readonly #facts: Facts;
	readonly #stops: Stops;
	readonly #billed: Set<string>;
	readonly #days: Map<string, Spent>;
	readonly #ever: Map<number, Spent>;
	readonly #visits: BatchVisits;
	readonly #unpaid: UnpaidClicks;
	readonly #sources: Sources;
	readonly #clicks: DecidedClick[] = [];

	constructor(facts: Facts, state: ClickState) {
		this.#facts = facts;
		this.#stops = state.stops;
		this.#billed = new Set(state.billedHashes);
		this.#days = new Map(state.spentOnDays);
		this.#ever = new Map(state.spentEver);
		this.#visits = new BatchVisits(state);
		this.#unpaid = new UnpaidClicks(state);
		this.#sources = new Sources(state);
	}

	take(click: ClickMessage): void {
		const publisher = this.#facts.publishers.get(click.publisher);
		const campaign = this.#facts.campaigns.get(click.campaignId);
		const terms = termsOf(click, publisher, campaign);
		const day = localDay(campaign?.timezone ?? "UTC", click.at);
		const policy = policyOf(this.#facts, click);
		const judged =
			click.reason === undefined
				? judge(this.#factsOf(click, publisher, campaign, terms, day, policy), policy)
				: { reason: click.reason, flags: [] };
		if (judged.reason !== null && !this.#unpaid.mayStore(click, judged.reason)) return;
		const date = utcDay(click.at);
		const source = click.texts?.subi ?? click.texts?.psorc ?? null;
		const isBilled = judged.reason === null;
		this.#clicks.push({
			click,
			publisher,
			campaign,
			platform: platformOf(click, campaign, this.#facts),
			reason: judged.reason,
			// A rule that flags may have been found at the redirect and here.
			flags: [...new Set([...(click.flags ?? []), ...judged.flags])],
			...terms,
			revenueMicros: isBilled && terms.pricingModel === "CPC" ? terms.bidMicros : 0,
			sourceId: isBilled && publisher !== undefined ? this.#sources.of(click, publisher.id, date, source) : source,
			keywordClass: keywordClassOf(click, this.#facts),
			sourceHash: click.sourceHash ?? hashSource(source),
			utcDay: date,
			localDay: day,
			rateSlot: campaign === undefined || !hasCap(campaign) ? null : rateSlotOf(click.at),
		});
		if (!isBilled) return;
		this.#spend(click, day, campaign === undefined ? 0 : budgetCostOf(campaign.budgetBasis, terms));
		this.#visits.count(click, publisher, policy);
	}

	close(): Decided {
		return { clicks: this.#clicks, networks: this.#visits.networks, unpaid: this.#unpaid.counted, newSources: this.#sources.added };
	}

	#factsOf(
		click: ClickMessage,
		publisher: PublisherFacts | undefined,
		campaign: CampaignFacts | undefined,
		terms: Terms,
		day: string,
		policy: TrafficPolicy,
	): ClickFacts {
		return {
			...readStopFacts(click, this.#facts, this.#stops),
			duplicate: this.#billed.has(click.hash),
			...this.#visits.factsOf(click, publisher, policy),
			...(campaign === undefined ? {} : this.#capFacts(campaign, day, terms)),
		};
	}

	/** Whether counting a click would pass a cap or a budget. */
	#capFacts(campaign: CampaignFacts, day: string, terms: Terms): ClickFacts {
		const costMicros = budgetCostOf(campaign.budgetBasis, terms);
		const { campaignId, dailyClickCap, dailyBudgetMicros, totalBudgetMicros } = campaign;
		const today = this.#days.get(campaignDayKey(campaignId, day)) ?? NOTHING;
		const ever = this.#ever.get(campaignId) ?? NOTHING;
		return {
			over_cap: dailyClickCap !== null && today.clicks + 1 > dailyClickCap,
			over_budget:
				(dailyBudgetMicros !== null && today.micros + costMicros > dailyBudgetMicros) ||
				(totalBudgetMicros !== null && ever.micros + costMicros > totalBudgetMicros),
		};
	}

	#spend({ hash, campaignId }: ClickMessage, day: string, costMicros: number): void {
		this.#billed.add(hash);
		const dayKey = campaignDayKey(campaignId, day);
		this.#days.set(dayKey, plus(this.#days.get(dayKey), costMicros));
		this.#ever.set(campaignId, plus(this.#ever.get(campaignId), costMicros));
	}
}

const NOTHING: Spent = { clicks: 0, micros: 0 };

function plus(spent: Spent = NOTHING, micros: number): Spent {
	return { clicks: spent.clicks + 1, micros: spent.micros + micros };
}
