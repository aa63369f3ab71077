import type { Word } from "../backtest/conversion-log.ts";
import { LINK_EFFECTS, type Market, trueCampaignEpc } from "./market.ts";
import { choose, normal, type Random, seeded } from "./random.ts";

/** A cell of the market: indexes of what it is made of; keyword -1 is none, and one beyond the list is not listed. */
export type MarketCell = {
	campaign: number;
	publisher: number;
	source: number;
	keyword: number;
	link: keyof typeof LINK_EFFECTS;
	effect: number;
};

export type Price = { epc: number; bid: number };

/** What a platform says of a conversion: no operator voids one here. */
type PlatformStatus = Exclude<Word["status"], "voided">;

/** Who sets prices. */
export type Player = {
	/** Prices of cells from a time on, in USD. */
	prices: (at: number, cells: readonly MarketCell[]) => Price[];
	click: (at: number, id: number, cell: MarketCell, price: Price) => void;
	conversion: (at: number, txnid: number, click: number, cell: MarketCell, status: PlatformStatus, payout: number) => void;
};

/** A won click, as it is scored. */
export type Won = { day: number; cell: MarketCell; price: Price; trueEpc: number };

export const FIRST_AT = Date.UTC(2026, 0, 5);
const DAY_MS = 86_400_000;
const QUARTERS = 4;
const UNLISTED_KEYWORD_EFFECT = 0.9;

/** Above what publishers and campaigns have: a cell's key is one number of its indexes. */
const MAX_SOURCES = 64;
const MAX_KEYWORDS = 8;

type Event = { at: number; txnid: number; click: number; cell: MarketCell; status: PlatformStatus; payout: number };

/** Plays a market to its end. Traffic, rivals and what a click would bring are the same for every player. */
export function play(market: Market, player: Player, score: (won: Won) => void): void {
	const { options } = market;
	const { rivals } = options;
	const cells = new CellTable(market);
	const events = new Map<number, Event[]>();
	const perQuarter = Math.floor(options.opportunitiesPerDay / QUARTERS);
	let id = 0;
	for (let quarter = 0; quarter < options.days * QUARTERS; quarter++) {
		const day = Math.floor(quarter / QUARTERS);
		const from = FIRST_AT + (quarter * DAY_MS) / QUARTERS;
		const traffic = seeded(options.seed * 7_919 + quarter + 1);
		const fraud = options.events.fraud;
		const made = fraud === undefined || day < fraud.fromDay ? 0 : Math.round(perQuarter * fraud.part);
		const chances = Array.from({ length: perQuarter + made }, (_, at) => ({
			cell: at < perQuarter ? cells.draw(traffic) : cells.drawOf(fraud?.publisher ?? 0, traffic),
			rival: Math.exp(rivals.sigma * normal(traffic) + rivals.mean),
			luck: traffic(),
		}));
		const asked = [...new Set(chances.map(({ cell }) => cell))];
		const prices = new Map<MarketCell, Price>();
		for (const [at, price] of player.prices(from, asked).entries()) {
			const cell = asked[at];
			if (cell !== undefined) prices.set(cell, price);
		}
		const due = (events.get(quarter) ?? []).sort((a, b) => a.at - b.at);
		events.delete(quarter);
		let next = 0;
		for (const [at, { cell, rival, luck }] of chances.entries()) {
			const now = Math.floor(from + (at * DAY_MS) / QUARTERS / chances.length);
			for (; next < due.length && (due[next]?.at ?? 0) <= now; next++) tell(player, due[next]);
			id++;
			const price = prices.get(cell);
			const campaign = market.campaigns[cell.campaign];
			const publisher = market.publishers[cell.publisher];
			if (price === undefined || campaign === undefined || publisher === undefined) continue;
			const isWorthless = fraud?.cancelledAfterDays != null && isFraud(market, cell);
			const trueEpc = isWorthless ? 0 : trueCampaignEpc(market, cell.campaign, day) * cell.effect;
			if (price.bid <= 0 || price.bid <= trueEpc * publisher.share * rival) continue;
			score({ day, cell, price, trueEpc });
			player.click(now, id, cell, price);
			schedule(market, { at: now, id, cell, day, arrivingEpc: (campaign.epcByDay[day] ?? 0) * cell.effect, luck }, events);
		}
		for (; next < due.length; next++) tell(player, due[next]);
		// What this quarter's own clicks brought at once.
		for (const event of (events.get(quarter) ?? []).sort((a, b) => a.at - b.at)) tell(player, event);
		events.delete(quarter);
	}
}

/** Whether a cell is of the fraudulent source. */
export function isFraud({ options, publishers }: Market, { publisher, source }: MarketCell): boolean {
	return publisher === options.events.fraud?.publisher && source === (publishers[publisher]?.sources.length ?? 0) - 1;
}

function tell(player: Player, event: Event | undefined): void {
	if (event !== undefined) player.conversion(event.at, event.txnid, event.click, event.cell, event.status, event.payout);
}

type Bought = { at: number; id: number; cell: MarketCell; day: number; arrivingEpc: number; luck: number };

/** What a click brings, if anything: when we hear of it, what it pays, and whether it is taken back. */
function schedule(market: Market, { at, id, cell, day, arrivingEpc, luck }: Bought, events: Map<number, Event[]>): void {
	const campaign = market.campaigns[cell.campaign];
	const platform = market.platforms[campaign?.platform ?? 0];
	if (campaign === undefined || platform === undefined) return;
	const { reversalsTripleOnDay, millionOnDay } = market.options.events;
	const usually = arrivingEpc / (campaign.meanPayout * (1 - platform.reversed));
	if (luck >= usually) return;
	const random = seeded(id * 2_654_435 + market.options.seed);
	const million = day === millionOnDay && campaign === market.campaigns[5];
	const payout = million ? 1_000_000 : payoutOf(campaign.meanPayout, campaign.payoutSigma, random);
	const settle = (time: number) => (platform.batches ? (Math.floor(time / DAY_MS) + 1) * DAY_MS + DAY_MS / 4 : time);
	if (isFraud(market, cell)) {
		add(events, { at, txnid: id, click: id, cell, status: "approved", payout });
		const stands = market.options.events.fraud?.cancelledAfterDays ?? null;
		if (stands !== null) add(events, { at: at + stands * DAY_MS, txnid: id, click: id, cell, status: "cancelled", payout });
		return;
	}
	const approvedAt = settle(at + platform.delayDays(random) * DAY_MS);
	add(events, { at: approvedAt, txnid: id, click: id, cell, status: "approved", payout });
	const tripled = reversalsTripleOnDay !== undefined && day >= reversalsTripleOnDay;
	if (random() >= platform.reversed * (tripled ? 3 : 1)) return;
	add(events, { at: settle(approvedAt + (3 + 32 * random()) * DAY_MS), txnid: id, click: id, cell, status: "cancelled", payout });
}

function payoutOf(mean: number, sigma: number, random: Random): number {
	const value = mean * Math.exp(sigma * normal(random) - sigma ** 2 / 2);
	return Math.round(value * 100) / 100 || 0.01;
}

function add(events: Map<number, Event[]>, event: Event): void {
	const quarter = Math.floor(((event.at - FIRST_AT) * QUARTERS) / DAY_MS);
	const list = events.get(quarter);
	if (list === undefined) events.set(quarter, [event]);
	else list.push(event);
}

/** Every cell once, with what its traffic multiplies the campaign's worth by. */
class CellTable {
	readonly #market: Market;
	readonly #cells = new Map<number, MarketCell>();

	constructor(market: Market) {
		this.#market = market;
	}

	draw(random: Random): MarketCell {
		const { publisherSums, publishers } = this.#market;
		const publisherAt = choose(publisherSums, random());
		const source = choose(publishers[publisherAt]?.sourceSums ?? new Float64Array(1), random());
		return this.#drawOf(publisherAt, source, random);
	}

	/** A click of a publisher's last source. */
	drawOf(publisher: number, random: Random): MarketCell {
		return this.#drawOf(publisher, (this.#market.publishers[publisher]?.sources.length ?? 0) - 1, random);
	}

	#drawOf(publisherAt: number, source: number, random: Random): MarketCell {
		const { publishers, campaignSums, campaigns } = this.#market;
		const publisher = publishers[publisherAt];
		const campaign = publisher?.campaignOrder[choose(campaignSums, random())] ?? 0;
		const keywords = campaigns[campaign]?.keywords.length ?? 0;
		const keyword = random() < 0.5 ? -1 : Math.floor(random() * (keywords + 1));
		const link = random() < 0.4 ? "deeplink" : "homepage";
		const key =
			(((campaign * publishers.length + publisherAt) * MAX_SOURCES + source) * MAX_KEYWORDS + keyword + 1) * 2 +
			Number(link === "deeplink");
		let cell = this.#cells.get(key);
		if (cell === undefined) {
			cell = {
				campaign,
				publisher: publisherAt,
				source,
				keyword,
				link,
				effect: this.#effect(campaign, publisherAt, source, keyword, link),
			};
			this.#cells.set(key, cell);
		}
		return cell;
	}

	#effect(campaignAt: number, publisherAt: number, source: number, keyword: number, link: keyof typeof LINK_EFFECTS): number {
		const campaign = this.#market.campaigns[campaignAt];
		const publisher = this.#market.publishers[publisherAt];
		const worded = keyword === -1 ? 1 : (campaign?.keywords[keyword]?.effect ?? UNLISTED_KEYWORD_EFFECT);
		return (
			(publisher?.effect ?? 1) *
			(publisher?.sources[source]?.effect ?? 1) *
			(campaign?.publisherEffects[publisherAt] ?? 1) *
			worded *
			LINK_EFFECTS[link]
		);
	}
}
