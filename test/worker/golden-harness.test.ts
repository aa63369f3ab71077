/** The golden cases are only worth what their comparison sees: each of these answers is wrong in one place, and must be found. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import exemplary from "../fixtures/openrtb/exemplary/homepage-bid-with-every-field.json?raw";
import noBid from "../fixtures/openrtb/exemplary/no-bid.json?raw";
import ad from "../fixtures/serving-engine/ad-with-every-parameter.json?raw";
import { type GoldenCase, readCase } from "../support/golden/case.ts";
import { runCase } from "../support/golden/run-case.ts";
import { loadTestNetwork } from "../support/load-network.ts";

beforeAll(loadTestNetwork);
afterAll(() => {
	vi.useRealTimers();
});

function altered(text: string, from: string, to: string): GoldenCase {
	if (!text.includes(from)) throw new Error(`the case does not hold ${from}`);
	return readCase("altered", text.replaceAll(from, to));
}

test("worker: the cases hold as they are", async () => {
	for (const text of [exemplary, noBid, ad]) await runCase(readCase("whole", text));
});

describe("worker: a wrong value is found", () => {
	test.each([
		["status", exemplary, '"status": 200', '"status": 204'],
		["a header", exemplary, '"x-openrtb-version": "2.5"', '"x-openrtb-version": "2.6"'],
		["a header that must be missing", noBid, '"content-type": null', '"content-type": "application/json"'],
		["the reason", noBid, "country_not_served", "below_floor"],
		["the id", exemplary, '"id": "auction-full",\n      "bidid"', '"id": "auction-other",\n      "bidid"'],
		["a UUID that is not the same", exemplary, '"bidid": "<uuid:bid>"', '"bidid": "<uuid:other>"'],
		["a UUID that is none", exemplary, '"cur": "USD",\n      "seatbid"', '"cur": "<uuid>",\n      "seatbid"'],
		["the price", exemplary, '"price": 0.336', '"price": 0.3361'],
		["the seat", exemplary, "acme-seat", "other-seat"],
		["a field too many", exemplary, '"altered": false,', ""],
		["a field too few", exemplary, '"altered": false,', '"altered": false, "nbr": 0,'],
		["a parameter's value", exemplary, '"ip": "3405803783"', '"ip": "203.0.113.7"'],
		["a parameter too many", exemplary, '"uid": "buyer-4",', ""],
		["a parameter too few", exemplary, '"uid": "buyer-4",', '"uid": "buyer-4", "tsts": "1",'],
		["the token's publisher", exemplary, '"publisher": "acme_rtb"', '"publisher": "half_rtb"'],
		["the token's domain", exemplary, '"domain": "shoes.example",', '"domain": "boots.example",'],
		["the token's campaign", exemplary, '"campaign_id": 5001', '"campaign_id": 5002'],
		["the token's bid", exemplary, '"bid": "0.3360"', '"bid": "0.3361"'],
		["the token's kind", ad, '"kind": "serving-engine"', '"kind": "openrtb"'],
		["the bid amount", ad, '"bid_amount": "0.4400"', '"bid_amount": "0.44"'],
		["is_deeplink", ad, '"Yes"', '"No"'],
		["the redirect's parameter", ad, '"subi": "source-9"', '"subi": "source-8"'],
	])("%s", async (_, text, from, to) => {
		await expect(runCase(altered(text, from, to))).rejects.toThrow();
	});
});

test("worker: a case that says what the language does not know is refused", () => {
	expect(() => altered(noBid, '"rule"', '"rules"')).toThrow(/rule/);
	expect(() => altered(noBid, '"status"', '"stauts"')).toThrow(/status/);
	expect(() => altered(exemplary, '"description"', '"today": 1, "description"')).toThrow(/today/);
});

test("worker: half a character in a test's name (\ud800) or in what it sends loses no results", async () => {
	const { 0: one, 1: other } = new WebSocketPair();
	one.accept();
	other.accept();
	const arrived = new Promise((resolve) => other.addEventListener("message", ({ data }) => resolve(data)));
	one.send("half \ud83d");
	expect(await arrived).toBe("half \ufffd");
});
