/** The pure parts of callbacks: the address that is called, the schedule, Retry-After, the message. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildCallbackUrl } from "../../../src/callbacks/build-callback-url.ts";
import { callbackMessage, readCallbackMessage } from "../../../src/callbacks/message.ts";
import { RETRY_WAITS_MS, readRetryAfter, scheduleRetry } from "../../../src/callbacks/schedule.ts";
import { CALLBACK_PARAMETERS } from "../../../src/lib/callback-url.ts";

const FACTS = { txnid: "T1", cid: "c1", payoutMicros: 8_400_000, status: "approved", eventAt: Date.parse("2026-10-01T10:20:30Z") } as const;
const QUERY = "txnid=T1&cid=c1&payout=8.4000&status=approved&edate=2026-10-01T10%3A20%3A30.000Z";

describe("unit: the callback's address", () => {
	it.each([
		["https://pub.example/s2s", `https://pub.example/s2s?${QUERY}`],
		["https://pub.example", `https://pub.example/?${QUERY}`],
		["https://pub.example/s2s?", `https://pub.example/s2s?${QUERY}`],
		["https://pub.example/s2s?source=network", `https://pub.example/s2s?source=network&${QUERY}`],
		["https://pub.example/s2s?a=1&a=2&sig=x%2By%20z+w&flag", `https://pub.example/s2s?a=1&a=2&sig=x%2By%20z+w&flag&${QUERY}`],
		["https://pub.example/s2s#part", `https://pub.example/s2s?${QUERY}`],
		["https://pub.example/s2s?txnid={txnid}&a=1&%63id=x&Status=mine", `https://pub.example/s2s?a=1&Status=mine&${QUERY}`],
	])("%s", (url, called) => {
		expect(buildCallbackUrl(url, FACTS)).toBe(called);
	});

	it("any values come through as they are, each once, with the publisher's own untouched before them", () => {
		const name = fc.string({ minLength: 1 }).filter((text) => !(CALLBACK_PARAMETERS as readonly string[]).includes(text.toWellFormed()));
		const own = fc.array(fc.tuple(name, fc.string()));
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), own, (txnid, cid, parameters) => {
				const url = new URL("https://pub.example/s2s");
				for (const [key, value] of parameters) url.searchParams.append(key, value);
				const called = new URL(buildCallbackUrl(url.href, { ...FACTS, txnid, cid }));
				const all = [...called.searchParams];
				expect(all.slice(0, parameters.length)).toEqual([...url.searchParams]);
				expect(all.slice(parameters.length).map(([key]) => key)).toEqual([...CALLBACK_PARAMETERS]);
				expect(called.searchParams.getAll("txnid")).toEqual([txnid.toWellFormed()]);
				expect(called.searchParams.getAll("cid")).toEqual([cid.toWellFormed()]);
			}),
		);
	});
});

describe("unit: the schedule", () => {
	it("waits at least what it says and at most a fifth longer, and ends after the last wait", () => {
		fc.assert(
			fc.property(fc.nat(RETRY_WAITS_MS.length - 1), fc.double({ min: 0, max: 1, noNaN: true }), (step, chance) => {
				const wait = (scheduleRetry({ step, now: 1_000, retryAfterMs: null, chance }) ?? 0) - 1_000;
				expect(wait).toBeGreaterThanOrEqual(RETRY_WAITS_MS[step] ?? 0);
				expect(wait).toBeLessThanOrEqual((RETRY_WAITS_MS[step] ?? 0) * 1.2);
			}),
		);
		expect(scheduleRetry({ step: RETRY_WAITS_MS.length, now: 0, retryAfterMs: 5, chance: 0 })).toBeNull();
	});

	it("Retry-After lengthens a wait and never shortens one", () => {
		expect(scheduleRetry({ step: 0, now: 0, retryAfterMs: 120_000, chance: 1 })).toBe(120_000);
		expect(scheduleRetry({ step: 4, now: 0, retryAfterMs: 1_000, chance: 0 })).toBe(7_200_000);
	});

	const NOW = Date.parse("2026-11-18T15:00:00Z");
	it.each([
		[null, null],
		["", null],
		["120", 120_000],
		[" 7 ", 7_000],
		["0", 0],
		["99999999999", 86_400_000],
		["Wed, 18 Nov 2026 15:02:00 GMT", 120_000],
		["Wed, 18 Nov 2026 14:00:00 GMT", 0],
		["Fri, 18 Nov 2033 14:00:00 GMT", 86_400_000],
		["soon", null],
		["-5", null],
		["1.5", null],
	])("Retry-After %j is %j ms", (header, wait) => {
		expect(readRetryAfter(header, NOW)).toBe(wait);
	});
});

describe("unit: the message", () => {
	it("is read as it is written, and nothing else is", () => {
		expect(readCallbackMessage(callbackMessage("x"))).toBe("x");
		for (const body of [null, "x", 1, {}, { id: "x" }, { format: 2, id: "x" }, { format: 1, id: 1 }])
			expect(readCallbackMessage(body)).toBeNull();
	});
});
