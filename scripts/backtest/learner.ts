import type { Break } from "../../src/learning/breaks.ts";
import { type CampaignTerms, type Cell, keywordClass, NO_KEYWORD, OTHER_KEYWORDS, operatorEpcMicros } from "../../src/learning/cell.ts";
import { type CellHistory, dayOf } from "../../src/learning/cohorts.ts";
import { nextCreep } from "../../src/learning/creep.ts";
import type { PlatformCurves } from "../../src/learning/delay-curve.ts";
import { type ExplainedPrice, explainPrice } from "../../src/learning/explain.ts";
import { caution, firstGuards, type Guards, overpaidGuard } from "../../src/learning/guards.ts";
import type { LearningMode } from "../../src/learning/modes.ts";
import { type Learned, learnNight } from "../../src/learning/night.ts";
import { learnCurves } from "../../src/learning/platform-delays.ts";
import { type LearnedPrice, type PriceInput, priceCell } from "../../src/learning/price.ts";
import { levelRules } from "../../src/learning/publish-step.ts";
import { DEFAULT_SETTINGS, type LearningSettings } from "../../src/learning/settings.ts";
import { sourceClass } from "../../src/learning/sources.ts";
import { factorAgainst, LISTED_KEYWORDS, numberOf } from "../../src/learning/stored.ts";
import { namesOf } from "../../src/learning/traffic.ts";
import type { FactorLevel, LinkType } from "../../src/lib/enums.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/time.ts";
import { BelievedTime } from "./believed-time.ts";
import { FactorBoard } from "./factor-board.ts";
import { HeldLines } from "./held-lines.ts";
import { MemoryLedger } from "./memory-ledger.ts";

export type Publisher = { id: string; sharePpm: number; paidByClick: boolean };

export type PricedClick = { campaign: string; publisher: string; source: string; keyword: string | null; link: LinkType };

export type ClickFacts = {
	at: number;
	campaign: string;
	publisher: string;
	source: string;
	keyword: string;
	link: LinkType;
	bidMicros: number;
};

/** Longer silences are passed over: nothing that was clicked before them is remembered. */
const MAX_GAP_DAYS = 400;

/** A network that learns, at the time that it is told: the hourly and nightly steps of production code over tables in memory. */
export class Learner {
	readonly ledger = new MemoryLedger();
	readonly #mode: LearningMode;
	readonly settings: LearningSettings;
	readonly #campaigns = new Map<string, CampaignTerms>();
	readonly #publishers = new Map<string, Publisher>();
	/** Baked prices by campaign and keyword; campaigns' exceptions by publisher; traffic. */
	readonly #boards = {
		prices: new FactorBoard(),
		exceptions: new FactorBoard(),
		publishers: new FactorBoard(),
		sources: new FactorBoard(),
		links: new FactorBoard(),
	};
	/** Of campaigns that had clicks before this hour. */
	readonly #guards = new Map<string, Guards>();
	/** What was promised for clicks since the night, and what they are expected to earn. */
	readonly #sinceNight = new Map<string, { paidMicros: number; projectedMicros: number }>();
	readonly #creeps = new Map<string, number>();
	#hour: number | null = null;
	#hasClicks = false;
	readonly #believed = new BelievedTime();
	readonly #held = new HeldLines();
	learned: Learned | null = null;
	/** Prices of campaigns and keywords that were published. */
	publishedPrices = 0;

	constructor(mode: LearningMode = "automatic", settings: LearningSettings = DEFAULT_SETTINGS) {
		this.#mode = mode;
		this.settings = settings;
	}

	/** Takes over the network's terms. Numbers that have changed are learned against at once. */
	setNetwork(publishers: readonly Publisher[], campaigns: readonly CampaignTerms[]): void {
		for (const publisher of publishers) this.#publishers.set(publisher.id, publisher);
		const changed = campaigns.flatMap((terms) => {
			const before = this.#campaigns.get(terms.id);
			return before === undefined || sameTerms(before, terms) ? [] : [{ terms, before }];
		});
		for (const terms of campaigns) this.#campaigns.set(terms.id, terms);
		if (changed.length === 0 || this.#hour === null) return;
		const learned = this.learned;
		this.#learn(dayOf(this.#hour * HOUR_MS));
		for (const { terms, before } of changed) {
			const campaign = learned?.campaigns.get(terms.id)?.factors.campaign;
			if (campaign === undefined) continue;
			const numbers = Object.fromEntries([...classesOf(before), LISTED_KEYWORDS].map((keyword) => [keyword, numberOf(before, keyword)]));
			for (const keyword of classesOf(terms)) {
				this.#boards.prices.renumber(terms.id, keyword, (factor) =>
					factorAgainst(factor, terms, { campaign, numbers }, keyword, this.settings),
				);
			}
		}
	}

	/** The time up to which steps have run; null before the first. */
	get now(): number | null {
		return this.#hour === null ? null : this.#hour * HOUR_MS;
	}

	/** Whether there is anything to learn from: before it no time is passed but what it is. */
	get hasClicks(): boolean {
		return this.#hasClicks;
	}

	/**
	 * Passes to a line's time, unless it lies far ahead and those before it did not, too.
	 * @param isAsked whether the line asks for prices
	 * @returns whether its time has come
	 */
	reach(at: number, isAsked: boolean): boolean {
		const now = this.now;
		const to = now === null || !this.#hasClicks ? at : this.#believed.forward(now, at, isAsked);
		if (to === null) return false;
		this.passTo(to);
		if (to === at) return true;
		return this.reach(at, isAsked);
	}

	/** Keeps what a line far ahead says until its time has come. */
	hold(at: number, write: () => void): void {
		this.#held.hold(Math.floor(at / HOUR_MS), write);
	}

	/** Runs the steps that are due by a time; once there are clicks, times before the last are taken as now. */
	passTo(at: number): void {
		const hour = Math.floor(at / HOUR_MS);
		if (this.#hour === null || !this.#hasClicks || hour - this.#hour > (MAX_GAP_DAYS * DAY_MS) / HOUR_MS) {
			this.#hour = hour - 1;
			this.#held.releaseBefore(hour);
		}
		while (this.#hour < hour) {
			this.#hour++;
			if ((this.#hour * HOUR_MS) % DAY_MS === 0) this.#night(dayOf(this.#hour * HOUR_MS));
			this.#publish(this.#hour * HOUR_MS);
			this.#held.release(this.#hour);
		}
	}

	/** Goes back to a time that others were wrongly ahead of: what was learned and published then does not bind what comes. */
	#setBack(at: number): void {
		this.#hour = Math.floor(at / HOUR_MS);
		this.ledger.setBack(dayOf(at));
		for (const board of Object.values(this.#boards)) board.setBack(this.#hour * HOUR_MS);
		this.#sinceNight.clear();
		this.#learn(dayOf(at));
	}

	#night(today: number): void {
		this.ledger.beginDay(today);
		this.#sinceNight.clear();
		this.#learn(today);
		const { creep } = this.settings;
		for (const id of creep === 0 ? [] : this.#campaigns.keys()) {
			this.#creeps.set(id, nextCreep(this.#creeps.get(id) ?? 1, this.learned?.campaigns.get(id)?.weekExpected ?? 0, creep));
		}
	}

	#learn(today: number): void {
		const platforms = new Set([...this.#campaigns.values()].map(({ platform }) => platform));
		const curves = new Map<string, PlatformCurves>();
		const delays = this.ledger.delays();
		for (const platform of platforms) curves.set(platform, learnCurves(delays.get(platform) ?? [], today));
		const learned = learnNight({
			today,
			curves,
			settings: this.settings,
			campaigns: [...this.#clicked()].map(([terms, cells]) => ({
				terms,
				settings: this.settings,
				cells: [...cells],
				lastBreak: this.#lastBreak(terms.id, today),
			})),
		});
		this.learned = learned;
		for (const board of Object.values(this.#boards)) board.letGo();
		for (const [terms] of this.#clicked()) {
			for (const [keyword, target] of this.#priceTargets(terms)) this.#boards.prices.aim(terms.id, keyword, target);
			for (const [publisher, { factor }] of learned.campaigns.get(terms.id)?.factors.publishers ?? []) {
				this.#boards.exceptions.aim(terms.id, publisher, factor);
			}
		}
		for (const [publisher, { factor }] of learned.shared.publishers) this.#boards.publishers.aim(publisher, "", factor);
		for (const [key, { factor }] of learned.shared.sources) this.#boards.sources.aim(...namesOf(key), factor);
		for (const [link, { factor }] of learned.shared.links) this.#boards.links.aim(link, "", factor);
	}

	/** The campaigns that were ever clicked, in the network's order, and their cells: of the others, however many, nothing is learned. */
	*#clicked(): Iterable<[CampaignTerms, Iterable<CellHistory>]> {
		for (const terms of this.#campaigns.values()) {
			const cells = this.ledger.cells.get(terms.id);
			if (cells !== undefined) yield [terms, cells.values()];
		}
	}

	/** None of a day that is still to come, where the time was set back. */
	#lastBreak(campaign: string, today: number): Break | null {
		const last = this.learned?.campaigns.get(campaign)?.lastBreak ?? null;
		return last === null || last.day > today ? null : last;
	}

	*#priceTargets(terms: CampaignTerms): Iterable<[string, number]> {
		const factors = this.learned?.campaigns.get(terms.id)?.factors;
		if (factors === undefined) return;
		for (const keyword of classesOf(terms)) {
			yield [keyword, factors.campaign.factor * (factors.keywords.get(keyword)?.factor ?? 1)];
		}
	}

	#publish(now: number): void {
		const { prices, exceptions, publishers, sources, links } = this.#boards;
		const rulesOf = (level: FactorLevel) => levelRules(this.settings, level);
		this.publishedPrices += prices.publish(now, rulesOf("price"));
		exceptions.publish(now, rulesOf("campaign_publisher"));
		publishers.publish(now, rulesOf("publisher"));
		sources.publish(now, rulesOf("source"));
		links.publish(now, rulesOf("link"));
		for (const id of this.ledger.cells.keys()) this.#guards.set(id, this.#guardsOf(id));
	}

	#guardsOf(campaign: string): Guards {
		const { kappa, allowanceMicros, caution: strength } = this.settings;
		const known = this.learned?.campaigns.get(campaign);
		const since = this.#sinceNight.get(campaign);
		const balance = {
			paidMicros: (known?.balance.paidMicros ?? 0) + (since?.paidMicros ?? 0),
			projectedMicros: (known?.balance.projectedMicros ?? 0) + (since?.projectedMicros ?? 0),
		};
		return {
			caution: caution(strength, kappa.campaign, known?.factors.campaign.observed ?? 0),
			overpaid: overpaidGuard(balance, allowanceMicros),
		};
	}

	/** Counts a click. @returns what is wrong with it, or null */
	addClick(id: string, click: ClickFacts): string | null {
		const campaign = this.#campaigns.get(click.campaign);
		const publisher = this.#publishers.get(click.publisher);
		if (campaign === undefined) return `click ${id}: unknown campaign ${click.campaign}`;
		if (publisher === undefined) return `click ${id}: unknown publisher ${click.publisher}`;
		const paidMicros = publisher.paidByClick ? click.bidMicros : 0;
		const { at, source, keyword, link } = click;
		const counted = this.ledger.addClick(id, { at, campaign, publisher: publisher.id, source, keyword, link, paidMicros });
		this.#hasClicks = true;
		const back = counted && !this.#held.isReleasing && this.now !== null ? this.#believed.back(this.now, at) : null;
		if (back !== null) this.#setBack(back);
		if (!counted || paidMicros === 0) return null;
		const since = this.#sinceNight.get(campaign.id) ?? { paidMicros: 0, projectedMicros: 0 };
		since.paidMicros += paidMicros;
		since.projectedMicros += this.price(click)?.epcMicros ?? 0;
		this.#sinceNight.set(campaign.id, since);
		return null;
	}

	/** The price of a click, or null where there is no such campaign or publisher. */
	price(click: PricedClick): LearnedPrice | null {
		const input = this.#inputOf(click);
		return input === null ? null : priceCell({ ...input.price, operatorMicros: operatorEpcMicros(input.terms, input.cell.keyword) });
	}

	/** The same with what made it. */
	explain(click: PricedClick): ExplainedPrice | null {
		const input = this.#inputOf(click);
		return input === null ? null : explainPrice(input.terms, input.cell, input.price, this.learned);
	}

	#inputOf(click: PricedClick): { terms: CampaignTerms; cell: Cell; price: Omit<PriceInput, "operatorMicros"> } | null {
		const terms = this.#campaigns.get(click.campaign);
		const publisher = this.#publishers.get(click.publisher);
		if (terms === undefined || publisher === undefined) return null;
		const keyword = keywordClass(terms, click.keyword);
		const known = this.ledger.sources.get(publisher.id);
		const source = known === undefined ? click.source : sourceClass(known, click.source);
		const price = {
			factors: {
				campaignKeyword: this.#boards.prices.factor(terms.id, keyword),
				publisher: this.#boards.publishers.factor(publisher.id, ""),
				source: this.#boards.sources.factor(publisher.id, source),
				campaignPublisher: this.#boards.exceptions.factor(terms.id, publisher.id),
				link: this.#boards.links.factor(click.link, ""),
			},
			mode: this.#mode,
			sharePpm: publisher.sharePpm,
			creep: this.#creeps.get(terms.id) ?? 1,
			guards: publisher.paidByClick ? (this.#guards.get(terms.id) ?? firstGuards(this.settings)) : null,
		};
		return { terms, cell: { campaign: terms.id, publisher: publisher.id, source, keyword, link: click.link }, price };
	}
}

function classesOf(terms: CampaignTerms): string[] {
	return [NO_KEYWORD, OTHER_KEYWORDS, ...terms.keywordEpcMicros.keys()];
}

function sameTerms(a: CampaignTerms, b: CampaignTerms): boolean {
	const text = (terms: CampaignTerms) =>
		JSON.stringify([terms.platform, terms.epcMicros, terms.defaultKeywordEpcMicros, [...terms.keywordEpcMicros].toSorted()]);
	return text(a) === text(b);
}
