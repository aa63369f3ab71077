/** What was said of a conversion, told in any order, again, and by whoever repeats themselves. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversionLog, type Word } from "../../../scripts/backtest/conversion-log.ts";
import { MemoryLedger } from "../../../scripts/backtest/memory-ledger.ts";
import type { ConversionFacts } from "../../../src/learning/cohorts.ts";
import { DAY_MS } from "../../../src/lib/time.ts";

/** The rule itself, of all words in the order of their time. */
function readWords(words: readonly Word[]): ConversionFacts | null {
	const said: Word[] = [];
	for (const word of words) {
		if (said.some(({ at, status, payoutMicros }) => at === word.at && status === word.status && payoutMicros === word.payoutMicros))
			continue;
		said.push(word);
	}
	said.sort((a, b) => a.at - b.at || Number(a.status === "cancelled") - Number(b.status === "cancelled"));
	let facts = null as ConversionFacts | null;
	for (const { at, status, payoutMicros } of said) {
		if (status === "approved") {
			const netMicros = payoutMicros ?? facts?.netMicros ?? 0;
			facts = { clickedAt: 0, approvedAt: facts?.approvedAt ?? at, reversedAt: null, netMicros, isConfirmed: false };
		} else if (facts !== null && facts.reversedAt === null) facts.reversedAt = at;
	}
	return facts;
}

const word: fc.Arbitrary<Word> = fc.record({
	at: fc.nat(5),
	status: fc.constantFrom("approved", "cancelled"),
	payoutMicros: fc.constantFrom(null, 1, 2, 3),
});

const MANY = 100_000;

describe("unit: what was said of a conversion", () => {
	it("is what all words say in the order of their time, after each of them", () => {
		fc.assert(
			fc.property(fc.array(word, { maxLength: 12 }), (words) => {
				const log = new ConversionLog();
				for (const [at, said] of words.entries()) {
					log.add(said);
					expect(log.read(0)).toEqual(readWords(words.slice(0, at + 1)));
					expect(log.lastAt).toBe(Math.max(...words.slice(0, at + 1).map((each) => each.at)));
				}
			}),
			{ numRuns: Number(process.env.PROPERTY_RUNS || 2_000) },
		);
	});

	it.each([
		["many conversions that wait for one click", (at: number) => ({ txnid: `t${at}`, status: "approved" as const })],
		["many approvals of one conversion", () => ({ txnid: "t", status: "approved" as const })],
		[
			"and cancellations of it between them",
			(at: number) => ({ txnid: "t", status: at % 2 ? ("approved" as const) : ("cancelled" as const) }),
		],
	])("%s cost no more than others", (_, wordOf) => {
		const ledger = new MemoryLedger();
		const tell = (from: number) => {
			for (let at = from; at < from + MANY; at++) {
				const { txnid, status } = wordOf(at);
				ledger.addWord(txnid, "click", { at, status, payoutMicros: 1 + (at % 1_000) });
			}
		};
		tell(0);
		const terms = { id: "a", platform: "p", epcMicros: 1, defaultKeywordEpcMicros: null, keywordEpcMicros: new Map<string, number>() };
		const click = { at: 0, campaign: terms, publisher: "cpa", source: "s", keyword: "", link: "homepage", paidMicros: 0 } as const;
		ledger.addClick("click", click);
		tell(MANY);
		ledger.beginDay(Math.floor((2 * MANY) / DAY_MS) + 1);
		const earnings = [...(ledger.cells.get("a")?.values() ?? [])].flatMap((cell) => cell.earnings);
		const isOne = wordOf(0).txnid === "t";
		expect(earnings.reduce((sum, { conversions }) => sum + conversions, 0)).toBe(isOne ? 1 : 2 * MANY);
	});
});
