import { describe, expect, test } from "vitest";
import { readStatus } from "../../../src/conversions/status-map.ts";

describe("unit: network statuses", () => {
	test.each([
		...["approved", "confirmed", "paid", "locked", "1", "Approved", "PAID"].map((word) => [word, "approved"]),
		...["pending", "hold", "new", "open", "0"].map((word) => [word, "pending"]),
		...["rejected", "reversed", "cancelled", "canceled", "declined", "void", "refunded", "-1"].map((word) => [word, "cancelled"]),
	])("%s is %s", (word, status) => {
		expect(readStatus(word, {})).toEqual({ status, unknown: false });
	});

	test("none is approved", () => {
		expect(readStatus(null, {})).toEqual({ status: "approved", unknown: false });
	});

	test.each(["maybe", "constructor", "__proto__", "toString"])("%s is unknown: pending, and flagged", (word) => {
		expect(readStatus(word, {})).toEqual({ status: "pending", unknown: true });
	});

	test("the platform's own map goes first, in any letter case", () => {
		expect(readStatus("Invoiced", { invoiced: "approved" })).toEqual({ status: "approved", unknown: false });
		expect(readStatus("paid", { " PAID ": "pending" })).toEqual({ status: "pending", unknown: false });
	});
});
