import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BidRequest, readBidRequest } from "../../../src/openrtb/read-request.ts";
import { type Json, leastRequest, set } from "../../support/bid-requests.ts";

function read(body: unknown): BidRequest {
	const request = readBidRequest(body);
	if (request === null) throw new Error("the request was refused");
	return request;
}

/** What a request is read as that holds `value` at `path` and nothing else that could be read instead. */
function readAt(path: string, value: Json): BidRequest {
	return read(set(leastRequest(), path, value));
}

describe("unit: the country", () => {
	test.each([
		["US", "US"],
		["usa", "USA"],
		[" Us ", "US"],
		["gb", "GB"],
		["", null],
		[null, null],
		[840, "840"],
		[["US"], ""],
		[{}, ""],
	])("%j is read as %j", (sent, country) => {
		expect(readAt("device.geo.country", sent).country).toBe(country);
		expect(readAt("user.geo.country", sent).country).toBe(country);
	});
});

describe("unit: ext.alt", () => {
	test.each([1, true, "1", "true", "TRUE", "True", " true "])("%j means altered", (alt) => {
		expect(readAt("imp.0.native.ext.alt", alt).altered).toBe(true);
	});
	test.each([0, false, null, "", "0", "yes", "false", 2, -1, 1.5, [], [1], {}])("%j does not", (alt) => {
		expect(readAt("imp.0.native.ext.alt", alt).altered).toBe(false);
	});
});

describe("unit: test", () => {
	test.each([1, true, "1"])("%j is a test", (value) => {
		expect(readAt("test", value).test).toBe(true);
	});
	test.each([0, null, false, "0", "", 2, [1], {}])("%j is none", (value) => {
		expect(readAt("test", value).test).toBe(false);
	});
});

describe("unit: the floor", () => {
	test.each<[string, Json, BidRequest["floor"]]>([
		["a number", 0.5, { kind: "usd", amount: 0.5 }],
		["a decimal string", "0.5", { kind: "usd", amount: 0.5 }],
		["a string with spaces", " 0.5 ", { kind: "usd", amount: 0.5 }],
		["a string with an exponent", "5e-1", { kind: "usd", amount: 0.5 }],
		["a string without a leading zero", ".5", { kind: "usd", amount: 0.5 }],
		["a string with a plus", "+0.5", { kind: "usd", amount: 0.5 }],
		["zero", 0, { kind: "none" }],
		["zero as a string", "0.00", { kind: "none" }],
		["a negative number", -3, { kind: "none" }],
		["a negative string", "-3", { kind: "none" }],
		["null", null, { kind: "none" }],
		["a blank", " ", { kind: "none" }],
		["an amount past all numbers", "1e999", { kind: "usd", amount: Number.POSITIVE_INFINITY }],
		["words", "free", { kind: "unusable" }],
		["a decimal comma", "0,5", { kind: "unusable" }],
		["digits without end that are no number", `${"1".repeat(250_000)}x`, { kind: "unusable" }],
		["an amount with its currency", "0.5 USD", { kind: "unusable" }],
		["a hexadecimal number", "0x1", { kind: "unusable" }],
		["NaN in text", "NaN", { kind: "unusable" }],
		["Infinity in text", "Infinity", { kind: "unusable" }],
		["true", true, { kind: "unusable" }],
		["false", false, { kind: "unusable" }],
		["an object", { amount: 0.5 }, { kind: "unusable" }],
		["a list", [0.5], { kind: "unusable" }],
	])("%s", (_, bidfloor, floor) => {
		expect(readAt("imp.0.bidfloor", bidfloor).floor).toEqual(floor);
	});

	test.each(["USD", "usd", " Usd ", "", " ", null])("in the currency %j is in USD", (bidfloorcur) => {
		const body = set(set(leastRequest(), "imp.0.bidfloor", 0.5), "imp.0.bidfloorcur", bidfloorcur);
		expect(read(body).floor).toEqual({ kind: "usd", amount: 0.5 });
	});

	test.each(["EUR", "US", "USDT", 840, true, {}, ["USD"]])(
		"in the currency %j is in another currency, even without an amount",
		(bidfloorcur) => {
			const body = set(leastRequest(), "imp.0.bidfloorcur", bidfloorcur);
			for (const amount of [undefined, null, 0, 0.5, "free"]) {
				expect(read(set(body, "imp.0.bidfloor", amount)).floor).toEqual({ kind: "other_currency" });
			}
		},
	);

	test("reads every number as itself, written as a number or as text", () => {
		fc.assert(
			fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (amount) => {
				const floor = amount > 0 ? { kind: "usd", amount } : { kind: "none" };
				expect(readAt("imp.0.bidfloor", amount).floor).toEqual(floor);
				expect(readAt("imp.0.bidfloor", String(amount)).floor).toEqual(floor);
			}),
		);
	});
});

describe("unit: lists", () => {
	test.each([
		["badv", "blockedAdvertisers"],
		["wseat", "allowedSeats"],
		["bseat", "blockedSeats"],
		["cur", "currencies"],
	] as const)("%s: texts; a single one is a list of one; null, blanks and what is no text are left out", (path, field) => {
		expect(readAt(path, ["a", "b"])[field]).toEqual(["a", "b"]);
		expect(readAt(path, "a")[field]).toEqual(["a"]);
		expect(readAt(path, ["a", null, "", 7, {}, [], true])[field]).toEqual(["a", "7"]);
		expect(readAt(path, [])[field]).toEqual([]);
		expect(readAt(path, null)[field]).toEqual([]);
		expect(readAt(path, {})[field]).toEqual([]);
	});
});

describe("unit: tmax", () => {
	test.each([
		[100, 100],
		["100", 100],
		[0.5, 0.5],
		[0, null],
		[-5, null],
		["soon", null],
		[null, null],
		[true, null],
		["1e999", null],
	])("%j is read as %j milliseconds", (tmax, tmaxMs) => {
		expect(readAt("tmax", tmax).tmaxMs).toBe(tmaxMs);
	});
});
