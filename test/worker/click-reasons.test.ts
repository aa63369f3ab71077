import { describe, expect, test } from "vitest";
import { whyUncounted } from "../../src/clicks/why-uncounted.ts";

const NOW = Date.parse("2026-11-18T15:00:00Z");
const DAY_MS = 86_400_000;
const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36";
const TOKEN = { kind: "openrtb", test: false, mintedAt: NOW } as const;

function why(headers: Record<string, string> = {}, token: Partial<Parameters<typeof whyUncounted>[3]> = {}, method = "GET") {
	const sent = new Headers({ "user-agent": BROWSER, ...headers });
	return whyUncounted(method, sent, sent.get("user-agent"), { ...TOKEN, ...token }, DAY_MS, NOW);
}

describe("worker: why a click does not count", () => {
	test("a browser's click counts", () => {
		expect(why()).toBeNull();
	});

	test("HEAD does not", () => {
		expect(why({}, {}, "HEAD")).toBe("head");
	});

	test.each([
		{ "sec-purpose": "prefetch" },
		{ "sec-purpose": "prefetch;prerender" },
		{ "sec-purpose": "prefetch;anonymous-client-ip" },
		{ purpose: "prefetch" },
		{ Purpose: "Prefetch" },
		{ "x-moz": "prefetch" },
		{ "x-purpose": "preview" },
	])("a prefetch does not: %j", (headers) => {
		expect(why(headers)).toBe("prefetch");
	});

	test("other values of those headers mean nothing", () => {
		expect(why({ purpose: "fetch", "sec-purpose": "" })).toBeNull();
	});

	test.each(["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "curl/8.5.0", "facebookexternalhit/1.1", "node"])(
		"a program's does not: %s",
		(userAgent) => {
			expect(why({ "user-agent": userAgent })).toBe("bot");
		},
	);

	test("no user agent tells nothing", () => {
		expect(whyUncounted("GET", new Headers(), null, TOKEN, DAY_MS, NOW)).toBeNull();
		expect(why({ "user-agent": "" })).toBeNull();
	});

	test("a test bid's does not, by its token", () => {
		expect(why({}, { test: true })).toBe("test");
	});

	test("that of an auction older than its time to live does not; a tracking link does not age", () => {
		expect(why({}, { mintedAt: NOW - DAY_MS })).toBeNull();
		expect(why({}, { mintedAt: NOW - DAY_MS - 1 })).toBe("expired");
		expect(why({}, { kind: "serving-engine", mintedAt: NOW - DAY_MS - 1 })).toBe("expired");
		expect(why({}, { kind: "link", mintedAt: 0 })).toBeNull();
	});

	test("the first reason counts: HEAD, prefetch, bot, test, expired", () => {
		const all = { purpose: "prefetch", "user-agent": "curl/8" };
		const old = { test: true, mintedAt: 0 };
		expect(why(all, old, "HEAD")).toBe("head");
		expect(why(all, old)).toBe("prefetch");
		expect(why({ "user-agent": "curl/8" }, old)).toBe("bot");
		expect(why({}, old)).toBe("test");
	});
});
