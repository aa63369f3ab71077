/** What a statement says of a sale without a payout, and which of its sales are here under another id. */
import { describe, expect, it } from "vitest";
import { blank } from "../../../src/conversions/conversion-changes.ts";
import { compareStatement } from "../../../src/operator/statement/compare-statement.ts";

const platform = { currency: "USD", statusMap: {}, negativePayout: "cancel" } as const;

/** @param ours payout and word of the conversion @param theirs word of the statement, which pays nothing */
function compare(ours: { payoutMicros: number; networkStatus: string }, theirs: string): (string | undefined)[] {
	const conversion = { ...blank({ platform: "p", txnid: "t" }, 0), ...ours, cid: "c", currency: "USD", lastIntakeId: "1" };
	const sale = { txnid: "t", cid: "c", at: 0, payoutMicros: 0, salesMicros: null, currency: null, status: theirs };
	const differences = compareStatement([sale], { platform, conversionOf: () => conversion, ofClick: () => [], counted: [] });
	return differences.map(({ kind }) => kind);
}

describe("unit: a statement's sale without a payout", () => {
	it.each<[number, string, string, string[]]>([
		[0, "approved", "approved", []],
		[0, "pending", "approved", ["other_status"]],
		[0, "approved", "cancelled", ["other_status"]],
		[0, "cancelled", "approved", []],
		[5_000_000, "approved", "approved", ["other_status"]],
		[5_000_000, "cancelled", "approved", []],
	])("of %d micros here, %s, that is %s there: %j", (payoutMicros, networkStatus, theirs, kinds) => {
		expect(compare({ payoutMicros, networkStatus }, theirs)).toEqual(kinds);
	});
});

describe("unit: sales of a statement that are here under other ids", () => {
	/** What is told of sales of one click and amount. @param here ids of conversions @param theirs ids, words and currencies of sales */
	function compareIds(here: readonly string[], theirs: readonly (readonly [string, string, (string | null)?])[]) {
		const sales = theirs.map(([txnid, status, currency = "USD"]) => ({
			...{ txnid, status, cid: "c", at: 0 },
			...{ payoutMicros: 5_000_000, salesMicros: null, currency },
		}));
		const counted = here.map((txnid) => ({
			...blank({ platform: "p", txnid }, 0),
			...{ cid: "c", payoutMicros: 5_000_000, networkStatus: "approved", currency: "USD", lastIntakeId: "1" },
		}));
		return compareStatement(sales, { platform, conversionOf: () => null, ofClick: () => counted, counted }).map(
			({ kind, txnid, otherTxnid }) => [kind, txnid, otherTxnid],
		);
	}

	it("takes one conversion for one sale", () => {
		expect(
			compareIds(
				["x"],
				[
					["a", "approved"],
					["b", "approved"],
				],
			),
		).toEqual([
			["two_ids", "a", "x"],
			["missing_here", "b", null],
		]);
	});

	it("takes two conversions for two", () => {
		expect(
			compareIds(
				["x", "y"],
				[
					["a", "approved"],
					["b", "approved"],
				],
			),
		).toEqual([
			["two_ids", "a", "x"],
			["two_ids", "b", "y"],
		]);
	});

	it("takes it for the one that counts, before one that was cancelled", () => {
		expect(
			compareIds(
				["x"],
				[
					["a", "cancelled"],
					["b", "approved"],
				],
			),
		).toEqual([["two_ids", "b", "x"]]);
	});

	it("takes it for the one that names its currency, before one that may be of any", () => {
		expect(
			compareIds(
				["x"],
				[
					["a", "approved", null],
					["b", "approved", "USD"],
				],
			),
		).toEqual([
			["missing_here", "a", null],
			["two_ids", "b", "x"],
		]);
	});
});
