import { describe, expect, test } from "vitest";
import { blank } from "../../../src/conversions/conversion-changes.ts";
import { type HoldFacts, holdOf, releasedUpTo } from "../../../src/conversions/holds.ts";

const USD = 1_000_000;
const FACTS: HoldFacts = { platformMaxMicros: null, campaignMaxMicros: null, clickReason: null, isPublisherSuspended: false };
const APPROVED = { status: "approved", test: false, verdict: null } as const;
const RELEASED = { ...APPROVED, verdict: "released" } as const;

const hold = (conversion: Parameters<typeof holdOf>[0], grossUsd: number, facts: Partial<HoldFacts> = {}, salesUsd = 0) =>
	holdOf(
		conversion,
		{ grossMicros: grossUsd * USD, salesUsdMicros: salesUsd * USD },
		{ ...FACTS, ...facts },
		releasedUpTo(null, conversion),
	);

describe("unit: what keeps a conversion from being credited", () => {
	test("a payout above 10,000 USD, where nobody says otherwise", () => {
		expect([hold(APPROVED, 10_000), hold(APPROVED, 10_000.0001)]).toEqual([null, "amount"]);
	});

	test.each([
		[{ platformMaxMicros: 50_000 * USD }, 50_000],
		[{ campaignMaxMicros: 20 * USD }, 20],
		[{ platformMaxMicros: 50_000 * USD, campaignMaxMicros: 20 * USD }, 20],
		[{ platformMaxMicros: 30 * USD, campaignMaxMicros: 50_000 * USD }, 30],
		[{ platformMaxMicros: 5_000_000 * USD }, 1_000_000],
	])("one above the lower of platform and campaign, and never above a million: %j", (facts, most) => {
		expect([hold(APPROVED, most, facts), hold(APPROVED, most + 0.0001, facts)]).toEqual([null, "amount"]);
	});

	test("sales above five million USD", () => {
		expect([hold(APPROVED, 1, {}, 5_000_000), hold(APPROVED, 1, {}, 5_000_000.0001)]).toEqual([null, "amount"]);
	});

	test("a release passes the ceilings of platform and campaign, but no absolute one", () => {
		expect(hold(RELEASED, 1_000_000, { campaignMaxMicros: USD })).toBeNull();
		expect(hold(RELEASED, 1_000_000.0001)).toBe("amount");
		expect(hold(RELEASED, 1, {}, 5_000_000.0001)).toBe("amount");
	});

	test("a release passes the amount that it was given for, until that has changed", () => {
		const settled = { ...blank({ platform: "west", txnid: "t" }, 0), ...RELEASED, stage: "settled", grossMicros: 30 * USD } as const;
		const upTo = (change: object) => releasedUpTo({ ...settled, ...change }, RELEASED);
		expect(upTo({})).toBe(30 * USD);
		expect(upTo({ stage: "quarantined", heldFor: "publisher_suspended" })).toBe(30 * USD);
		expect([upTo({ status: "cancelled" }), upTo({ stage: "quarantined", heldFor: "no_rate" }), upTo({ grossMicros: null })]).toEqual([
			0, 0, 0,
		]);
		expect([upTo({ verdict: null }), upTo({ verdict: "voided" })]).toEqual([1_000_000 * USD, 1_000_000 * USD]);
		expect(releasedUpTo(settled, APPROVED)).toBe(0);
	});

	test.each([
		["embedded", "review"],
		["prefetch", "review"],
		["bot", null],
		["expired", null],
		["over_budget", null],
		["campaign_stopped", null],
		["voided", null],
	] as const)("a click that is %s: %s", (clickReason, expected) => {
		expect(hold(APPROVED, 1, { clickReason })).toBe(expected);
		expect(hold(RELEASED, 1, { clickReason })).toBeNull();
	});

	test("a suspended publisher, released or not", () => {
		const facts = { isPublisherSuspended: true };
		expect([hold(APPROVED, 1, facts), hold(RELEASED, 1, facts)]).toEqual(["publisher_suspended", "publisher_suspended"]);
	});

	test("nothing where it is cancelled or a test: it counts nowhere", () => {
		const facts = { clickReason: "embedded", isPublisherSuspended: true } as const;
		expect(hold({ ...APPROVED, status: "cancelled" }, 9e9, facts)).toBeNull();
		expect(hold({ ...APPROVED, test: true }, 9e9, facts)).toBeNull();
	});
});
