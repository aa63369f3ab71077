import { describe, expect, test } from "vitest";
import { type ClickFacts, judge } from "../../src/clicks/payable.ts";
import { readNetworkFacts, readRequestFacts } from "../../src/clicks/request-facts.ts";
import { DEFAULT_POLICY, layPolicies, TRAFFIC_RULES, type TrafficSettings } from "../../src/lib/traffic-rules.ts";

const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36";
const CLICK = { url: "https://click.example/click?encyp=a" };

function why(headers: Record<string, string> = {}, facts: ClickFacts = {}, method = "GET") {
	const sent = new Headers({ "user-agent": BROWSER, ...headers });
	return judge({ ...readRequestFacts(method, sent, sent.get("user-agent"), CLICK), ...facts }, DEFAULT_POLICY).reason;
}

describe("worker: what a request tells against paying", () => {
	test("nothing of a browser's click", () => {
		expect(why()).toBeNull();
		expect(why({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-fetch-site": "cross-site" })).toBeNull();
	});

	test("HEAD", () => {
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
	])("a prefetch: %j", (headers) => {
		expect(why(headers)).toBe("prefetch");
	});

	test("other values of those headers mean nothing", () => {
		expect(why({ purpose: "fetch", "sec-purpose": "" })).toBeNull();
	});

	test.each(["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "curl/8.5.0", "facebookexternalhit/1.1", "node"])(
		"a program: %s",
		(userAgent) => {
			expect(why({ "user-agent": userAgent })).toBe("bot");
		},
	);

	test("somebody's Worker, whatever browser it names; one of the own zone may stand before us", () => {
		for (const zone of ["evil.workers.dev", "k.example", "lick.example"]) expect(why({ "cf-worker": zone })).toBe("bot");
		expect(why({ "cf-worker": "Click.example" })).toBeNull();
		expect(why({ "cf-worker": "evil.workers.dev", "user-agent": "" })).toBe("no_user_agent");
	});

	test("a callback of our own, where a publisher's address for them is a link of its own: a test of one too", () => {
		for (const userAgent of ["Clickbourse-Callback/1", "Clickbourse-Callback/1 (test)"])
			expect(why({ "cf-worker": "click.example", "user-agent": userAgent })).toBe("bot");
	});

	test("no user agent, or a blank one", () => {
		expect(judge(readRequestFacts("GET", new Headers(), null, CLICK), DEFAULT_POLICY).reason).toBe("no_user_agent");
		expect(why({ "user-agent": "" })).toBe("no_user_agent");
	});

	test.each([
		["an image", { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }],
		["a frame", { "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }],
		["a script's fetch", { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" }],
		["one header alone", { "sec-fetch-dest": "embed" }],
	])("not a top-level navigation: %s", (_, headers) => {
		expect(why(headers)).toBe("embedded");
	});

	const CHROME_IMAGE = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";
	test.each([
		["an image in Chrome", CHROME_IMAGE],
		["an image in Firefox", "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"],
		[
			"an image in Safari",
			"image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,image/*;q=0.8,*/*;q=0.5",
		],
		["a style sheet", "text/css,*/*;q=0.1"],
	])("%s on a page without https, which sends no fetch metadata", (_, accept) => {
		expect(why({ accept })).toBe("embedded");
	});

	test.each([
		["text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"],
		["image/gif, image/jpeg, image/pjpeg, application/x-ms-application, application/xaml+xml, */*"],
		["image/png,text/html;q=0.9,*/*;q=0.1"],
		["*/*"],
		[""],
	])("what accepts %j may be a navigation", (accept) => {
		expect(why({ accept })).toBeNull();
		expect(why({ accept: CHROME_IMAGE, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" })).toBeNull();
	});

	test("what no user has seen is told first: conversions of it are reviewed", () => {
		const image = { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" };
		expect(why(image, {}, "HEAD")).toBe("embedded");
		expect(why({ ...image, "user-agent": "" })).toBe("embedded");
		expect(why({ ...image, "user-agent": "node" }, { test: true, expired: true })).toBe("embedded");
		expect(why({ ...image, "sec-purpose": "prefetch" }, {}, "HEAD")).toBe("prefetch");
	});

	test("the first reason counts", () => {
		const all = { purpose: "prefetch", "user-agent": "curl/8" };
		const old = { test: true, expired: true, country: true };
		expect(why(all, old, "HEAD")).toBe("prefetch");
		expect(why({ "user-agent": "curl/8" }, old, "HEAD")).toBe("head");
		expect(why({ "user-agent": "curl/8" }, old)).toBe("bot");
		expect(why({}, old)).toBe("test");
		expect(why({}, { expired: true, country: true })).toBe("expired");
	});
});

describe("worker: what Cloudflare tells of the network", () => {
	const facts = (country: string | null, asn?: unknown, settings: TrafficSettings = {}, campaign = "US") => {
		const headers = new Headers(country === null ? {} : { "cf-ipcountry": country });
		const request = new Request("https://click.example/click", { headers, ...(asn !== undefined && { cf: { asn } as never }) });
		return readNetworkFacts(request, request.headers, campaign, layPolicies(DEFAULT_POLICY, settings));
	};

	test("another country than the campaign's; XX, T1 and none are unknown", () => {
		expect(facts("DE").country).toBe(true);
		expect(facts("US").country).toBe(false);
		for (const unknown of ["XX", "T1", "", null]) expect(facts(unknown).country).toBe(false);
		expect(facts("GB", undefined, {}, "UK").country).toBe(false);
	});

	test("a hosting network: of the default list, of the operator's, or of neither", () => {
		expect(facts("US", 16509).data_centre).toBe(true);
		expect(facts("US", 7922).data_centre).toBe(false);
		expect(facts("US").data_centre).toBe(false);
		expect(facts("US", 7922, { asns: [7922] }).data_centre).toBe(true);
		expect(facts("US", 16509, { useDefaultList: false }).data_centre).toBe(false);
		expect(facts("US", 16509, { modes: { data_centre: "off" } }).data_centre).toBe(false);
	});

	test("no privacy relay is on the default list", () => {
		for (const asn of [13335, 54113, 36183, 20940, 62044, 8075]) expect(facts("US", asn).data_centre).toBe(false);
	});
});

describe("worker: modes of the rules", () => {
	test.each(TRAFFIC_RULES)("%s is unpaid, flagged or off as it is set", (rule) => {
		const at = (mode: "off" | "flag" | "unpaid") => judge({ [rule]: true }, layPolicies(DEFAULT_POLICY, { modes: { [rule]: mode } }));
		expect(at("unpaid")).toEqual({ reason: rule, flags: [] });
		expect(at("flag")).toEqual({ reason: null, flags: [rule] });
		expect(at("off")).toEqual({ reason: null, flags: [] });
	});

	test("another device is only flagged by default", () => {
		expect(judge({ other_device: true }, DEFAULT_POLICY)).toEqual({ reason: null, flags: ["other_device"] });
	});

	test("a campaign's settings lie over the publisher's, and these over the network's", () => {
		const network: TrafficSettings = { modes: { bot: "off", repeat: "flag" }, repeatMinutes: 5 };
		const publisher: TrafficSettings = { modes: { repeat: "unpaid" }, visitorPerHour: 7 };
		const campaign: TrafficSettings = { modes: { bot: "flag" } };
		const policy = layPolicies(DEFAULT_POLICY, network, publisher, campaign);
		expect(policy).toMatchObject({ repeatMinutes: 5, visitorPerHour: 7, addressPerHour: 120 });
		expect([policy.modes.bot, policy.modes.repeat, policy.modes.velocity]).toEqual(["flag", "unpaid", "unpaid"]);
	});
});
