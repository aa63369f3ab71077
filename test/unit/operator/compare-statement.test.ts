/** What a statement says of a sale without a payout: a return of what had one, and the same of what never had. */
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
