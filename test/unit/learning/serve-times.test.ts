/** `npm run backtest -- --serve`, and the times that its lines tell. */
import { describe, expect, it } from "vitest";
import { Learner } from "../../../scripts/backtest/learner.ts";
import { readLine } from "../../../scripts/backtest/messages.ts";
import { answerLine } from "../../../scripts/backtest/serve.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";

/** As many whole weeks after 0 as there are: weeks of rows begin on the same days. */
const START = Date.UTC(2026, 0, 1);
const CELLS = ["a", "b"].flatMap((campaign) => ["cpa", "cpc"].map((publisher) => [campaign, publisher, "s1", null, "homepage"]));
const NETWORK = {
	type: "network",
	publishers: ["cpa", "cpc"].map((id) => ({ id, revenue_share: 0.8, pricing_model: id })),
	campaigns: ["a", "b"].map((id) => ({ id, platform: "p", epc: 0.2 })),
};

type Told = { answers: unknown[]; faults: string[] };

/** A learner that is told lines as `--serve` is, and what came of it. */
class Session {
	readonly learner = new Learner();
	readonly told: Told = { answers: [], faults: [] };

	constructor() {
		this.say(NETWORK);
	}

	say(line: unknown): void {
		const tell = (fault: string) => this.told.faults.push(fault);
		try {
			const answer = answerLine(this.learner, readLine(JSON.stringify(line)), tell);
			if (answer !== null) this.told.answers.push(JSON.parse(answer));
		} catch (error) {
			tell(error instanceof Error ? error.message : String(error));
		}
	}

	sayAll(lines: readonly unknown[]): this {
		for (const line of lines) this.say(line);
		return this;
	}
}

type Timed = Record<string, unknown> & { at: number };

function clickAt(at: number, id: string, campaign = "a"): Timed {
	return { type: "click", at, id, campaign, publisher: "cpa", source: "s1", keyword: null, link: "homepage", bid: 0.1 };
}

function pricesAt(at: number): Timed {
	return { type: "prices", at, cells: CELLS };
}

/** What is clicked and bought on some days from a time on, four times a day with prices; sales come within weeks, some are taken back. */
function market(start: number, days: number, clicksADay = 80): Timed[] {
	const lines: Timed[] = [];
	for (let day = 0; day < days; day++) {
		for (let quarter = 0; quarter < 4; quarter++) lines.push(pricesAt(start + day * DAY_MS + quarter * 6 * HOUR_MS));
		for (let number = 0; number < clicksADay; number++) {
			const at = start + day * DAY_MS + Math.floor((number * DAY_MS) / clicksADay) + MINUTE_MS;
			const id = `${day}-${number}`;
			const publisher = number % 3 === 0 ? "cpc" : "cpa";
			lines.push({ ...clickAt(at, id, number % 2 === 0 ? "a" : "b"), publisher, source: `s${number % 4}` });
			if ((day * 31 + number * 7) % 13 > 1) continue;
			const sale = { type: "conversion", txnid: id, click: id, platform: "p", payout: 4 + (number % 5) };
			const late = ((day * 17 + number) % 60) * DAY_MS * ((number % 8) / 8);
			lines.push({ ...sale, at: at + late, status: "approved" });
			if (number % 9 === 0) lines.push({ ...sale, at: at + late + 9 * DAY_MS, status: "cancelled" });
		}
	}
	return lines.filter(({ at }) => at < start + days * DAY_MS).toSorted((a, b) => a.at - b.at);
}

describe("unit: times of lines", () => {
	it("may count from 0: nothing depends on what year it is", () => {
		const usual = new Session().sayAll(market(START, 40)).told;
		expect(usual.faults).toEqual([]);
		expect(usual.answers.at(-1)).not.toEqual(usual.answers[0]);
		expect(new Session().sayAll(market(0, 40)).told).toEqual(usual);
	});
});

describe("unit: a time that is wrong", () => {
	const DAYS = 40;
	const lines = market(START, DAYS);
	const plain = new Session().sayAll(lines).told;
	/** Lines with others among them, before the first of a day. */
	const withOthers = (day: number, others: readonly Timed[]): Timed[] => {
		const at = lines.findIndex((line) => line.at >= START + day * DAY_MS);
		return lines.toSpliced(at, 0, ...others);
	};
	const AHEAD = /: at lies \d+ days ahead/;

	it.each([4, 59, 100, 20_000])("of one click, %d days ahead, changes no price until its time has come", (days) => {
		const session = new Session().sayAll(withOthers(10, [clickAt(START + (10 + days) * DAY_MS, "bad")]));
		expect(session.told.faults).toEqual([expect.stringMatching(AHEAD)]);
		const until = Math.min(DAYS, 10 + days) * 4;
		expect(session.told.answers.slice(0, until)).toEqual(plain.answers.slice(0, until));
		const clicks = [...(session.learner.ledger.cells.get("a")?.values() ?? [])].flatMap((cell) => cell.clicks);
		const counted = DAYS * 40 + (days === 4 ? 1 : 0);
		expect(clicks.reduce((sum, row) => sum + row.clicks, 0)).toBe(counted);
	});

	it("of one line of prices, 100 days ahead, changes none", () => {
		const { answers, faults } = new Session().sayAll(withOthers(10, [pricesAt(START + 110 * DAY_MS)])).told;
		expect(faults).toEqual([expect.stringMatching(AHEAD)]);
		expect(answers.toSpliced(40, 1)).toEqual(plain.answers);
	});

	it.each([4, 30, 59])("of one line of prices, %d days ahead, is believed, and mended by the clicks of a day", (days) => {
		const session = new Session().sayAll(withOthers(10, [pricesAt(START + (10 + days) * DAY_MS)]));
		expect(session.learner.now).toBe(plainNow());
		expectAlike(session.told.answers.slice(-40), plain.answers.slice(-40));
	});

	it.each([4, 100, 20_000])("of the first click, %d days ahead, is mended within hours", (days) => {
		const session = new Session().sayAll([clickAt(START + days * DAY_MS, "bad"), ...lines]);
		expect(session.learner.now).toBe(plainNow());
		// The clicks of the first hours were taken for old.
		expectAlike(session.told.answers.slice(40), plain.answers.slice(40));
	});

	it("of the first click, 56 years behind, is mended within a day", () => {
		const { answers, faults } = new Session().sayAll([clickAt(0, "bad"), ...lines]).told;
		expect(faults).toHaveLength(19);
		expect(answers.slice(4)).toEqual(plain.answers.slice(4));
	});

	it("of as many lines as are believed takes the time along, and back within a day", () => {
		const bad = Array.from({ length: 25 }, (_, at) => clickAt(START + 110 * DAY_MS, `bad${at}`));
		const session = new Session().sayAll(withOthers(10, bad));
		expect(session.learner.now).toBe(plainNow());
		// But for the few days that it takes back.
		expectAlike(session.told.answers.slice(-40), plain.answers.slice(-40));
	});

	/** Within a step that prices are published by, and some more: rows of days that were taken for old stand as weeks. */
	function expectAlike(answers: readonly unknown[], usual: readonly unknown[]): void {
		const epcs = (all: readonly unknown[]) => all.flatMap((answer) => (answer as { epc: number[] }).epc);
		const others = epcs(answers);
		const parts = epcs(usual).map((epc, at) => (others[at] ?? 0) / epc);
		expect(Math.min(...parts)).toBeGreaterThan(0.92);
		expect(Math.max(...parts)).toBeLessThan(1.08);
	}

	function plainNow(): number {
		return Math.floor((lines.at(-1)?.at ?? 0) / HOUR_MS) * HOUR_MS;
	}

	it("holds up nothing where each line lies days after the last", () => {
		const session = new Session();
		for (let number = 0; number < 100; number++) session.say(clickAt(START + number * 5 * DAY_MS, `c${number}`));
		expect(session.learner.now).toBeGreaterThan(START + 75 * 5 * DAY_MS);
	});
});

describe("unit: times that are as they may be", () => {
	it("prices are of the time that they are asked for, though nothing was clicked for weeks", () => {
		const session = new Session().sayAll(market(START, 20));
		const at = START + 50 * DAY_MS;
		session.say(pricesAt(at));
		expect([session.learner.now, session.told.faults]).toEqual([at, []]);
	});

	it("sales that are told of weeks late, in a row, do not set the time back", () => {
		const lines = market(START, 40);
		const late = Array.from({ length: 100 }, (_, number) => {
			const id = `2-${number % 80}`;
			return {
				type: "conversion",
				at: START + 3 * DAY_MS,
				txnid: `late${number}`,
				click: id,
				platform: "p",
				status: "approved",
				payout: 1,
			};
		});
		const session = new Session().sayAll([...lines, ...late]);
		expect(session.learner.now).toBeGreaterThan(START + 39 * DAY_MS);
	});

	it("clicks that come two days late, or again, do not set the time back", () => {
		const lines = market(START, 20);
		const session = new Session().sayAll(lines);
		const now = session.learner.now;
		session.sayAll(lines.filter((line) => line.type === "click"));
		for (let number = 0; number < 50; number++) session.say(clickAt((now ?? 0) - 2 * DAY_MS, `late${number}`));
		expect(session.learner.now).toBe(now);
		expect(session.told.faults).toEqual([]);
	});

	it("a sale that is told of before its time counts once that has come", () => {
		const sale = { type: "conversion", txnid: "t", click: "c", platform: "p", status: "approved", payout: 5 };
		const lines = [clickAt(START, "c"), { ...sale, at: START + 30 * DAY_MS }];
		const session = new Session().sayAll(lines);
		const earned = () => [...(session.learner.ledger.cells.get("a")?.values() ?? [])].flatMap(({ earnings }) => earnings).length;
		for (let day = 1; day < 30; day++) session.say(pricesAt(START + day * DAY_MS));
		expect(earned()).toBe(0);
		session.say(pricesAt(START + 30 * DAY_MS));
		expect(earned()).toBe(1);
	});
});
