/** The pure parts of callbacks: the address that is called, the schedule, Retry-After, the message. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildCallbackUrl, type CallbackFacts, NO_LINK_FACTS } from "../../../src/callbacks/build-callback-url.ts";
import { callbackMessage, readCallbackMessage } from "../../../src/callbacks/message.ts";
import { RETRY_WAITS_MS, readRetryAfter, scheduleRetry } from "../../../src/callbacks/schedule.ts";
import { CALLBACK_PARAMETERS } from "../../../src/lib/callback-url.ts";

const FACTS: CallbackFacts = {
	...NO_LINK_FACTS,
	id: "0-1",
	txnid: "T1",
	cid: "c1",
	payoutMicros: 8_400_000,
	status: "approved",
	eventAt: Date.parse("2026-10-01T10:20:30Z"),
};
const QUERY = "txnid=T1&cid=c1&payout=8.4000&status=approved&edate=2026-10-01T10%3A20%3A30.000Z";

describe("unit: the callback's address", () => {
	it.each([
		["https://pub.example/s2s", `https://pub.example/s2s?${QUERY}`],
		["https://pub.example", `https://pub.example/?${QUERY}`],
		["https://pub.example/s2s?", `https://pub.example/s2s?${QUERY}`],
		["https://pub.example/s2s?source=network", `https://pub.example/s2s?source=network&${QUERY}`],
		["https://pub.example/s2s?a=1&a=2&sig=x%2By%20z+w&flag", `https://pub.example/s2s?a=1&a=2&sig=x%2By%20z+w&flag&${QUERY}`],
		["https://pub.example/s2s#part", `https://pub.example/s2s?${QUERY}`],
		["https://pub.example/{constructor}?a={constructor}", `https://pub.example/%7Bconstructor%7D?a={constructor}&${QUERY}`],
		["https://pub.example/s2s?txnid=x&a=1&%63id=x&Status=mine", `https://pub.example/s2s?a=1&Status=mine&${QUERY}`],
	])("%s", (url, called) => {
		expect(buildCallbackUrl(url, FACTS)).toBe(called);
	});

	const LINKED = {
		...FACTS,
		txnid: "T 1&a=b",
		salesUsdMicros: 99_000_000,
		domain: "shoes.example",
		source: "src",
		subid1: "{payout}",
		subid2: "é/?#",
	};
	const REST = "cid=c1&payout=8.4000&status=approved&edate=2026-10-01T10%3A20%3A30.000Z";
	it.each([
		["?tx={txnid}", `/s2s?tx=T%201%26a%3Db&${REST}`],
		["?txnid=mine-{txnid}&x=1", `/s2s?txnid=mine-T%201%26a%3Db&x=1&${REST}`],
		["?a={TXNID}%7Bcid%7D&b={payout}{status}{edate}", "/s2s?a=T%201%26a%3Dbc1&b=8.4000approved2026-10-01T10%3A20%3A30.000Z"],
		["/{txnid}/{subid2}?cid={cid}", `/s2s/T%201%26a%3Db/%C3%A9%2F%3F%23?cid=c1&${REST.slice(7)}`],
		[
			"?s={sales}&d={domain}&q={source}&one={subid1}&three={subid3}&i={id}&u={unknown}",
			"/s2s?s=99.0000&d=shoes.example&q=src&one=%7Bpayout%7D&three=&i=0-1&u={unknown}&txnid=",
		],
	])("fills macros, encoded, and adds the parameters that have none: %s", (own, called) => {
		expect(buildCallbackUrl(`https://pub.example/s2s${own}`, LINKED).slice("https://pub.example".length)).toMatch(
			new RegExp(`^${called.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}`),
		);
	});

	it.each([...CALLBACK_PARAMETERS])("a user's link makes no further parameter %s", (subid1) => {
		const called = new URL(buildCallbackUrl("https://pub.example/s2s?{subid1}={txnid}&{subid1}&x=1&{source}=2", { ...LINKED, subid1 }));
		expect([...called.searchParams.keys()]).toEqual(["x", "src", ...CALLBACK_PARAMETERS]);
		expect(called.searchParams.get(subid1)).toBe(new URL(buildCallbackUrl("https://pub.example/s2s", LINKED)).searchParams.get(subid1));
	});

	it("nor another one of the publisher's own parameters", () => {
		const own = "https://pub.example/s2s?amount={payout}&{subid1}=9999&{subid2}=1&key=k";
		const called = new URL(buildCallbackUrl(own, { ...LINKED, subid1: "amount", subid2: "key" }));
		expect([...called.searchParams].slice(0, 2)).toEqual([
			["amount", "8.4000"],
			["key", "k"],
		]);
		expect(called.searchParams.getAll("amount")).toEqual(["8.4000"]);
	});

	it("whatever a user's link brings, the host, the folder and the other parameters stay", () => {
		const text = fc.oneof(
			fc.string({ unit: "binary" }),
			fc.constantFrom(".", "..", "%2e%2e", "../..", "//evil.example", "@evil.example", "?", "#", "{cid}"),
		);
		fc.assert(
			fc.property(text, text, (subid1, subid2) => {
				const called = new URL(
					buildCallbackUrl("https://pub.example/a/{subid1}/b/%2e{subid1}{subid2}/%2E{subid2}/c?x={subid2}&y=1", {
						...FACTS,
						subid1,
						subid2,
					}),
				);
				expect(called.host).toBe("pub.example");
				expect(called.pathname).toMatch(/^\/a\/[^/]*\/b\/[^/]*\/[^/]*\/c$/);
				expect([...called.searchParams.keys()]).toEqual(["x", "y", ...CALLBACK_PARAMETERS]);
				expect(called.searchParams.get("x")).toBe(subid2.toWellFormed());
			}),
		);
	});

	it.each([
		["/a/%2e{cid}/b", ".", "/a//b"],
		["/a/.{cid}/b", "", "/a//b"],
		["/a/{cid}%2E/b", ".", "/a//b"],
		["/a/%2e{cid}/b", "", "/a//b"],
		["/a/%2e{cid}/b", "x", "/a/%2ex/b"],
		["/a/%2e{cid}/b", "..", "/a/%2e../b"],
		["/a/{cid}/b", "%2e%2e", "/a/%252e%252e/b"],
	])("%s with the click id %j names no other folder", (path, cid, called) => {
		const url = buildCallbackUrl(`https://pub.example${path}`, { ...FACTS, cid });
		expect(url.split("?")[0]).toBe(`https://pub.example${called}`);
		expect(new URL(url).pathname).toBe(called);
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
		["Wednesday, 18-Nov-26 15:02:00 GMT", 120_000],
		["Wed Nov 18 15:02:00 2026", 120_000],
		["2026-11-18T15:02:00Z", 120_000],
		// What JavaScript takes for the year 2045.
		["wait 45", null],
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
