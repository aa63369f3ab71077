import { describe, expect, test } from "vitest";
import { describeEvent, describeEvents } from "../../../scripts/operator/describe-event.ts";

const AT = "2026-11-21T22:33:35.112Z";

describe("unit: an event of a conversion in words", () => {
	test("one that is no longer held says that, whether it was let go or voided", () => {
		const set = { stage: "settled", held_for: null, publisher_revenue: "8.0000" };
		expect(describeEvent({ seq: 3, at: AT, kind: "released", postback: null, set }, "USD")).toBe(
			`${AT}  no longer held: stage settled, earned 8.0000 USD`,
		);
		expect(describeEvent({ seq: 3, at: AT, kind: "changed", postback: null, set }, "USD")).toBe(
			`${AT}  changed: stage settled, no longer held, earned 8.0000 USD`,
		);
	});

	test("one that is held says what for", () => {
		const set = { stage: "quarantined", status: "pending", held_for: "publisher_suspended" };
		expect(describeEvent({ seq: 2, at: AT, kind: "quarantined", postback: null, set, why: "publisher_suspended" }, "USD")).toBe(
			`${AT}  quarantined (publisher suspended): stage quarantined, status pending, held for publisher suspended`,
		);
	});

	test("amounts are in their currency, what a word says already is left out", () => {
		const set = {
			payout: "10.0000",
			currency: "EUR",
			usd_rate: 1.1,
			gross_usd: "11.0000",
			revenue_share: 0.07,
			sales: null,
			test: false,
		};
		expect(describeEvent({ seq: 1, at: AT, kind: "received", postback: "p", set }, "EUR")).toBe(
			`${AT}  received: payout 10.0000 EUR, 1 EUR = 1.1 USD, gross 11.0000 USD, revenue share 7 %, no sales`,
		);
	});

	test("of what changed its currency, each is told in that of its time", () => {
		const sets = [{ payout: "50.0000", currency: "EUR" }, { usd_rate: 1.1 }, { currency: "CHF" }, { sales: "1.0000" }];
		const events = sets.map((set, at) => ({ seq: at + 1, at: AT, kind: "changed" as const, postback: null, set }));
		expect(describeEvents(events, "CHF").map((line) => line.slice(line.lastIndexOf("  ") + 2))).toEqual([
			"changed: payout 50.0000 EUR",
			"changed: 1 EUR = 1.1 USD",
			"changed: currency CHF",
			"changed: sales 1.0000 CHF",
		]);
	});
});
