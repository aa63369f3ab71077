import { describe, expect, test } from "vitest";
import { readStatus } from "../../../src/conversions/status-map.ts";

describe("unit: network statuses", () => {
	test.each([
		...["approved", "confirmed", "paid", "locked", "1", "Approved", "PAID"].map((word) => [word, "approved"]),
		...["accepted", "validated", "closed", "SALE", "BILL", "payment"].map((word) => [word, "approved"]),
		...["pending", "hold", "new", "open", "0"].map((word) => [word, "pending"]),
		...["extended", "delayed", "unconfirmed", "approved_but_stalled", "On Hold", "on-hold"].map((word) => [word, "pending"]),
		...["rejected", "reversed", "cancelled", "canceled", "declined", "void", "refunded", "-1"].map((word) => [word, "cancelled"]),
		...["chargeback", "charge_back", "Charge Back", "charge-back", "fraud", "returned", "return", "refund"].map((word) => [
			word,
			"cancelled",
		]),
		...["deleted", "expired", "invalid", "trash", "denied", "disapproved"].map((word) => [word, "cancelled"]),
		...["voided", "refused", "reversal", "RFND", "CGBK", "INSF"].map((word) => [word, "cancelled"]),
	])("%s is %s", (word, status) => {
		expect(readStatus(word, {})).toEqual({ status, unknown: false });
	});

	test("none is approved", () => {
		expect(readStatus(null, {})).toEqual({ status: "approved", unknown: false });
	});

	test.each([
		"maybe",
		"constructor",
		"__proto__",
		"toString",
		"2",
		"3",
		"lead",
		"active",
		"mixed",
		"cancel-rebill",
		"{status}",
		"{approved}",
	])("%s is unknown: pending, and flagged", (word) => {
		expect(readStatus(word, {})).toEqual({ status: "pending", unknown: true });
	});

	test("the platform's own map goes first, in any letter case", () => {
		expect(readStatus("Invoiced", { invoiced: "approved" })).toEqual({ status: "approved", unknown: false });
		expect(readStatus("paid", { " PAID ": "pending" })).toEqual({ status: "pending", unknown: false });
		expect(readStatus("2", { "2": "cancelled" })).toEqual({ status: "cancelled", unknown: false });
	});
});
