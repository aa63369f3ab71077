import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { correct, readPayouts, state, totalOf, wasPositiveBefore, writePayouts } from "../../../src/conversions/payouts.ts";

/** `+80` states 80, `-8` corrects by it; the place in the list is the order of receipt, and what reads alike has one content. */
function replay(said: readonly string[], order: readonly number[] = said.map((_, at) => at)) {
	let payouts = readPayouts("");
	let speaker = "";
	for (const at of order) {
		const [word = "", currency = null] = (said[at] ?? "").split(" ");
		const id = String(at).padStart(4, "0");
		if (word.startsWith("-")) payouts = correct(payouts, [id, Number(word), `${word} ${currency}`, currency]);
		else {
			payouts = state(payouts, [id, Number(word), word]);
			if (id > speaker) speaker = id;
		}
		payouts = readPayouts(writePayouts(payouts));
	}
	return totalOf(payouts, speaker, "USD");
}

describe("unit: what stated payouts come to", () => {
	test.each<[string[], number, boolean]>([
		[["+80"], 80, false],
		[["+80", "-8"], 72, false],
		[["+80", "-8", "-8"], 72, false],
		[["+80", "-8", "-9"], 63, false],
		[["+80", "-80"], 0, true],
		[["+80", "-81"], -1, true],
		[["-8"], -8, true],
		[["-8", "+80"], 80, false],
		[["+80", "-8", "+100"], 100, false],
		[["+80", "-8", "+100", "-8"], 100, false],
		[["+80", "-8", "+80"], 72, false],
		[["+80", "-8", "+100", "+80"], 80, false],
		[["+80", "-8", "+80", "-8"], 72, false],
		[["+80", "-8 EUR"], 80, true],
		[["+80", "-8 USD"], 72, false],
		[["+0"], 0, false],
		[["+80", "+0"], 0, true],
		[["+0", "+80"], 80, false],
		[["+80", "+0", "+90"], 90, false],
		[["+0", "+80", "+0"], 0, true],
	])("%j come to %d, taken back: %j", (said, payoutMicros, isReversed) => {
		expect(replay(said)).toEqual({ payoutMicros, isReversed });
	});

	test("a payout below zero that is stated takes back", () => {
		const payouts = state(readPayouts(""), ["1", -80, "a"]);
		expect(totalOf(payouts, "1", "USD")).toEqual({ payoutMicros: -80, isReversed: true });
	});

	test("more than forty corrections take back, and no more are kept", () => {
		const said = ["+1000000", ...Array.from({ length: 100 }, (_, at) => `-${at + 1}`)];
		expect(replay(said.slice(0, 41))).toEqual({ payoutMicros: 1_000_000 - 820, isReversed: false });
		expect(replay(said).isReversed).toBe(true);
		const kept = said
			.slice(1)
			.reduce((payouts, _, at) => correct(payouts, [String(at).padStart(3, "0"), -1, String(at), null]), readPayouts(""));
		expect(kept.corrections.length).toBeLessThan(45);
	});

	test.each([38, 39, 40, 41, 100])("a repetition goes on with what it repeats, however often: %d times", (times) => {
		const said = ["+70", "+80", "-8", ...Array.from({ length: times }, () => "+80")];
		const places = said.map((_, at) => at);
		for (const order of [places, [...places.slice(3), 2, 0, 1], places.toReversed()]) {
			expect(replay(said, order)).toEqual({ payoutMicros: 72, isReversed: false });
		}
		expect(replay([...said, "+70", "+80"])).toEqual({ payoutMicros: 80, isReversed: false });
	});

	test("of many statements the first above zero and the newest are kept", () => {
		let payouts = state(state(readPayouts(""), ["0000", 0, "none yet"]), ["0001", 5, "first"]);
		for (let at = 2; at < 200; at++) payouts = state(payouts, [String(at).padStart(4, "0"), 0, String(at)]);
		expect(payouts.stated.length).toBeLessThan(45);
		expect(totalOf(payouts, "0199", "USD").isReversed).toBe(true);
		expect([wasPositiveBefore(payouts, "0001"), wasPositiveBefore(payouts, "0002")]).toEqual([false, true]);
	});

	test("the order of arrival does not matter", () => {
		const word = fc.constantFrom("+80", "+80", "+100", "+0", "-8", "-8", "-80", "-5 EUR");
		const history = fc.array(word, { minLength: 1, maxLength: 12 }).chain((said) => {
			const places = said.map((_, at) => at);
			return fc.record({ said: fc.constant(said), order: fc.shuffledSubarray(places, { minLength: places.length }) });
		});
		fc.assert(
			fc.property(history, ({ said, order }) => {
				expect(replay(said, [...order, ...order])).toEqual(replay(said));
			}),
			{ numRuns: 2_000 },
		);
	});
});
