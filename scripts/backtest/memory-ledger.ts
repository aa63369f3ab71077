import { type CampaignTerms, type Cell, cellKey, keywordClass, OTHER_SOURCES } from "../../src/learning/cell.ts";
import {
	type CellHistory,
	type ClickRow,
	type ConversionFacts,
	conversionChange,
	type DelayRow,
	dayOf,
	type EarningRow,
	OTHER_PUBLISHERS,
	type TakenBackRow,
} from "../../src/learning/cohorts.ts";
import { foldClicks, foldEarnings, foldings, foldTakenBack, rowDay, staysAsIs } from "../../src/learning/fold.ts";
import { MAX_FOLLOWED_DELAYS } from "../../src/learning/platform-delays.ts";
import { HISTORY_DAYS } from "../../src/learning/settings.ts";
import { admitSource, idleSources, type KnownSources } from "../../src/learning/sources.ts";
import { namesOf, pairKey } from "../../src/learning/traffic.ts";
import type { LinkType } from "../../src/lib/enums.ts";
import { DAY_MS } from "../../src/lib/time.ts";
import { ConversionLog, type Word } from "./conversion-log.ts";

export type Click = {
	at: number;
	campaign: CampaignTerms;
	publisher: string;
	source: string;
	keyword: string;
	link: LinkType;
	paidMicros: number;
};

type StoredCell = CellHistory & { clicks: ClickRow[]; earnings: EarningRow[]; takenBack: TakenBackRow[] };
type StoredClick = { at: number; cell: StoredCell; platform: string };
type StoredConversion = { click: string; log: ConversionLog };

/** The tables that learning keeps, in memory: what the consumers write in a deployment. */
export class MemoryLedger {
	/** By campaign, then by the key of a cell. */
	readonly cells = new Map<string, Map<string, StoredCell>>();
	readonly sources = new Map<string, KnownSources>();
	/** By platform and publisher, see `pairKey`, then by day and lag. */
	readonly #delays = new Map<string, Map<string, DelayRow>>();
	readonly #clicks = new Map<string, StoredClick>();
	readonly #conversions = new Map<string, StoredConversion>();
	/** Conversions that came before their click. */
	readonly #waiting = new Map<string, string[]>();
	#today = Number.NEGATIVE_INFINITY;
	/** Whether rows may have been written since the day began that the next one drops. */
	#hasOld = false;

	/** Counts a click, once. */
	addClick(id: string, click: Click): boolean {
		if (this.#clicks.has(id)) return false;
		const day = dayOf(click.at);
		const cell = this.#cellOf(click, day);
		this.#clicks.set(id, { at: click.at, cell, platform: click.campaign.platform });
		const stands = this.#rowDay(day);
		const row = findRow(cell.clicks, stands) ?? { day: stands, clicks: 0, paidMicros: 0 };
		if (row.clicks === 0) cell.clicks.push(row);
		row.clicks++;
		row.paidMicros += click.paidMicros;
		for (const txnid of this.#waiting.get(id) ?? []) this.#settle(txnid, null);
		this.#waiting.delete(id);
		return true;
	}

	/** Takes a word on a conversion; one of an unknown click waits for it. */
	addWord(txnid: string, click: string, word: Word): void {
		let conversion = this.#conversions.get(txnid);
		const isNew = conversion === undefined;
		conversion ??= { click, log: new ConversionLog() };
		if (isNew) this.#conversions.set(txnid, conversion);
		const clickedAt = this.#clicks.get(conversion.click)?.at;
		const before = clickedAt === undefined ? null : conversion.log.read(clickedAt);
		conversion.log.add(word);
		if (clickedAt !== undefined) this.#settle(txnid, before);
		else if (isNew) this.#wait(txnid, click);
	}

	#wait(txnid: string, click: string): void {
		const waiting = this.#waiting.get(click);
		if (waiting === undefined) this.#waiting.set(click, [txnid]);
		else waiting.push(txnid);
	}

	/** @param before what has been counted of it */
	#settle(txnid: string, before: ConversionFacts | null): void {
		const conversion = this.#conversions.get(txnid);
		const click = conversion === undefined ? undefined : this.#clicks.get(conversion.click);
		if (conversion === undefined || click === undefined) return;
		const change = conversionChange(before, conversion.log.read(click.at));
		for (const earning of change.earnings) addEarning(click.cell.earnings, { ...earning, day: this.#rowDay(earning.day) });
		for (const { day, conversions } of change.takenBack) addTakenBack(click.cell.takenBack, { day: this.#rowDay(day), conversions });
		const { publisher } = click.cell.cell;
		const pair = pairKey(click.platform, publisher);
		const delays = this.#delays.get(pair) ?? new Map<string, DelayRow>();
		this.#delays.set(pair, delays);
		for (const { day, lag, arrivals, reversals } of change.delays) {
			const key = `${day} ${lag}`;
			const row = delays.get(key) ?? { publisher, day, lag, arrivals: 0, reversals: 0 };
			row.arrivals += arrivals;
			row.reversals += reversals;
			delays.set(key, row);
		}
	}

	#rowDay(day: number): number {
		const stands = rowDay(day, this.#today);
		if (stands < this.#today - HISTORY_DAYS) this.#hasOld = true;
		return stands;
	}

	#cellOf({ campaign, publisher, source, keyword, link }: Click, day: number): StoredCell {
		let known = this.sources.get(publisher);
		if (known === undefined) {
			known = new Map();
			this.sources.set(publisher, known);
		}
		const cell = {
			campaign: campaign.id,
			publisher,
			source: admitSource(known, source, day),
			keyword: keywordClass(campaign, keyword),
			link,
		};
		return this.#stored(cell);
	}

	#stored(cell: Cell): StoredCell {
		let cells = this.cells.get(cell.campaign);
		if (cells === undefined) {
			cells = new Map();
			this.cells.set(cell.campaign, cells);
		}
		const key = cellKey(cell);
		let stored = cells.get(key);
		if (stored === undefined) {
			stored = { cell, clicks: [], earnings: [], takenBack: [] };
			cells.set(key, stored);
		}
		return stored;
	}

	/** What a day's beginning does: weeks are folded, idle sources join the others, what is too old is dropped. */
	beginDay(today: number): void {
		const moves = foldings(today) !== foldings(this.#today) || this.#hasOld;
		this.#today = today;
		this.#hasOld = false;
		this.#retireIdle(today);
		for (const cells of moves ? this.cells.values() : []) {
			for (const [key, cell] of cells) {
				if ([cell.clicks, cell.earnings, cell.takenBack].every((rows) => staysAsIs(rows, today))) continue;
				cell.clicks.splice(0, cell.clicks.length, ...foldClicks(cell.clicks, today));
				cell.earnings.splice(0, cell.earnings.length, ...foldEarnings(cell.earnings, today));
				cell.takenBack.splice(0, cell.takenBack.length, ...foldTakenBack(cell.takenBack, today));
				if (cell.clicks.length + cell.earnings.length + cell.takenBack.length === 0) cells.delete(key);
			}
		}
		this.#forgetClicks(today);
		for (const delays of this.#delays.values()) for (const [key, { day }] of delays) if (day < today - HISTORY_DAYS) delays.delete(key);
	}

	/** Goes back to a day: rows that were dropped or folded since stay so. */
	setBack(today: number): void {
		this.#today = today;
	}

	/** Clicks whose rows are dropped, and what was said of them. They stand in the order of their coming: the first young one ends it. */
	#forgetClicks(today: number): void {
		const before = (today - HISTORY_DAYS) * DAY_MS;
		for (const [id, { at }] of this.#clicks) {
			if (at >= before) break;
			this.#clicks.delete(id);
		}
		for (const [txnid, { log, click }] of this.#conversions) {
			if (log.lastAt >= before) break;
			this.#conversions.delete(txnid);
			this.#waiting.delete(click);
		}
	}

	/** Has idle sources of all publishers join the others in one pass over the cells: of either there may be very many. */
	#retireIdle(today: number): void {
		const retired = new Map<string, ReadonlySet<string>>();
		for (const [publisher, known] of this.sources) {
			const idle = idleSources(known, today);
			for (const source of idle) known.delete(source);
			if (idle.length > 0) retired.set(publisher, new Set(idle));
		}
		for (const cells of retired.size > 0 ? this.cells.values() : []) {
			for (const [key, cell] of cells) {
				if (retired.get(cell.cell.publisher)?.has(cell.cell.source) !== true) continue;
				const others = this.#stored({ ...cell.cell, source: OTHER_SOURCES });
				// A source may have the others' name.
				if (others === cell) continue;
				others.clicks.push(...cell.clicks);
				others.earnings.push(...cell.earnings);
				others.takenBack.push(...cell.takenBack);
				cells.delete(key);
				// Conversions that come later find the others' rows through the click.
				cell.clicks = others.clicks;
				cell.earnings = others.earnings;
				cell.takenBack = others.takenBack;
			}
		}
	}

	/** The rows of platforms' delays, of as many publishers singly as a night has them of. */
	delays(): Map<string, DelayRow[]> {
		const platforms = new Map<string, DelayRow[]>();
		const followed = this.#followedDelays();
		for (const [pair, delays] of this.#delays) {
			const [platform] = namesOf(pair);
			const rows = platforms.get(platform) ?? [];
			platforms.set(platform, rows);
			for (const row of delays.values()) rows.push(followed.has(pair) ? row : { ...row, publisher: OTHER_PUBLISHERS });
		}
		return platforms;
	}

	#followedDelays(): { has: (pair: string) => boolean } {
		if (this.#delays.size <= MAX_FOLLOWED_DELAYS) return this.#delays;
		const sums = [...this.#delays].map(([pair, delays]) => ({
			pair,
			arrivals: [...delays.values()].reduce((sum, row) => sum + row.arrivals, 0),
		}));
		const most = sums.sort((a, b) => b.arrivals - a.arrivals || (a.pair < b.pair ? -1 : 1)).slice(0, MAX_FOLLOWED_DELAYS);
		return new Set(most.map(({ pair }) => pair));
	}
}

/** From the end: most are of the newest day. */
function findRow(rows: readonly ClickRow[], day: number): ClickRow | undefined {
	for (let at = rows.length - 1; at >= 0; at--) if (rows[at]?.day === day) return rows[at];
	return undefined;
}

function addEarning(rows: EarningRow[], earning: EarningRow): void {
	const row = rows.find(({ day, sizeClass }) => day === earning.day && sizeClass === earning.sizeClass);
	if (row === undefined) rows.push(earning);
	else {
		row.conversions += earning.conversions;
		row.netMicros += earning.netMicros;
	}
}

function addTakenBack(rows: TakenBackRow[], { day, conversions }: TakenBackRow): void {
	const row = rows.find((each) => each.day === day);
	if (row === undefined) rows.push({ day, conversions });
	else row.conversions += conversions;
}
