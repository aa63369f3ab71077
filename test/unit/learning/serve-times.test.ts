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
	return lines.toSorted((a, b) => a.at - b.at);
}

describe("unit: times of lines", () => {
	it("may count from 0: nothing depends on what year it is", () => {
		const usual = new Session().sayAll(market(START, 40)).told;
		expect(usual.faults).toEqual([]);
		expect(usual.answers.at(-1)).not.toEqual(usual.answers[0]);
		expect(new Session().sayAll(market(0, 40)).told).toEqual(usual);
	});
});
