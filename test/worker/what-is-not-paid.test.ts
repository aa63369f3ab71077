/** Traffic that is worth nothing, through the real endpoints and the queue: it is redirected, and nobody is paid for it. */
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MAX_SOURCES_PER_DAY, MAX_UNPAID_PER_HOUR, OTHER_SOURCE } from "../../src/clicks/consumer/batch-bounds.ts";
import { sweepCaps } from "../../src/clicks/consumer/caps.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { MINUTE_MS } from "../../src/lib/time.ts";
import { CLICKED_AT, capDeps, checkCounters, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { BROWSER, clickUrlFor } from "../support/clicks.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { brandEntry, importExactly, NORTHWIND, OPERATOR_HEADERS, priceFor } from "../support/network-import.ts";
import { CPC, call, callMany, linkTo, outcomes, person, servingEngineUrl } from "../support/traffic.ts";

const SHOES = "shoes.example";
const BOOTS = "boots.example";

beforeEach(async () => {
	await importExactly({
		platforms: [NORTHWIND],
		publishers: [{ ...CPC, status: "active", blocked_brands: [], traffic: null }],
		brands: [brandEntry(SHOES, 5001), brandEntry(BOOTS, 5002, {}, { daily_click_cap: null })],
	});
	await forgetTraffic("campaign_pauses");
	await sweepCaps(capDeps(() => Date.now()));
});

afterEach(() => {
	vi.useRealTimers();
});

describe("worker: programs and pages that call a link", () => {
	it("50 GETs of one tracking link without a User-Agent", async () => {
		const link = await linkTo(SHOES);
		await callMany(50, () => [link]);
		expect(await outcomes(50)).toEqual({ no_user_agent: 50 });
	});

	it("as <img>, as <iframe>, by fetch(), as a browser sends them; a navigation among them is paid", async () => {
		const link = await linkTo(SHOES);
		const sent = (mode: string, destination: string) => ({ ...person(1), "sec-fetch-mode": mode, "sec-fetch-dest": destination });
		await call(link, sent("no-cors", "image"));
		await call(link, sent("navigate", "iframe"));
		await call(link, sent("cors", "empty"));
		await call(link, { ...person(1), accept: "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5" });
		await call(link, sent("navigate", "document"));
		expect(await outcomes(5)).toEqual({ embedded: 4, paid: 1 });
	});

	it("30 × a Serving Engine bid and then its URL at once, without a User-Agent", async () => {
		for (let at = 0; at < 30; at++) await call(await servingEngineUrl(SHOES));
		expect(await outcomes(30)).toEqual({ no_user_agent: 30 });
	});

	it("520 of them pause no campaign of 1,000 clicks a day", async () => {
		const link = await linkTo(SHOES);
		await callMany(520, () => [link]);
		expect(await outcomes(520)).toEqual({ no_user_agent: 520 });
		await sweepCaps(capDeps(() => Date.now()));
		expect(await rowsOf("SELECT campaign_id FROM campaign_pauses")).toEqual([]);
		expect(await priceFor(SHOES)).toBe(0.2);
	});
});

describe("worker: one visitor", () => {
	it("200 clicks, by link and by bid: one paid a brand and hour", async () => {
		const visitor = person(1);
		const start = Date.now();
		vi.useFakeTimers({ toFake: ["Date"], now: start });
		const links = [await linkTo(SHOES), await linkTo(BOOTS)];
		await callMany(99, (at) => [links[at % 2] ?? "", visitor]);
		await call(await clickUrlFor(SHOES), visitor);
		expect(await outcomes(100)).toEqual({ paid: 2, repeat: 98 });
		vi.setSystemTime(start + 60 * MINUTE_MS - 1);
		await callMany(50, (at) => [links[at % 2] ?? "", visitor]);
		expect(await outcomes(150)).toEqual({ paid: 2, repeat: 148 });
		vi.setSystemTime(start + 61 * MINUTE_MS);
		await call(await clickUrlFor(BOOTS), visitor);
		await callMany(49, (at) => [links[at % 2] ?? "", visitor]);
		expect(await outcomes(200)).toEqual({ paid: 4, repeat: 196 });
		await checkCounters();
	});

	it("without a User-Agent, where a policy pays it: 120 an hour of an address", async () => {
		await importExactly({ publishers: [{ ...CPC, traffic: { no_user_agent: "flag" } }] });
		const link = await linkTo(BOOTS);
		await callMany(140, () => [link, { "cf-connecting-ip": "198.51.100.7" }]);
		await call(link, { "cf-connecting-ip": "198.51.100.8" });
		expect(await outcomes(141)).toEqual({ paid: 121, velocity: 20 });
	});

	it("of an IPv6 network is one at whatever address of its /64", async () => {
		const link = await linkTo(SHOES);
		await callMany(20, (at) => [link, { "user-agent": BROWSER, "cf-connecting-ip": `2001:db8:0:1::${at.toString(16)}` }]);
		await call(link, { "user-agent": BROWSER, "cf-connecting-ip": "2001:db8:0:2::1" });
		expect(await outcomes(21)).toEqual({ paid: 2, repeat: 19 });
	});
});

describe("worker: what has stopped", () => {
	const active = { status: "active", blocked_brands: [] };
	const endpointsOff = { serving_engine_enabled: false, openrtb_enabled: false };
	it.each<[reason: string, publisher: object, brand: object, campaign: object]>([
		["campaign_stopped", active, {}, { active: false }],
		["brand_stopped", active, { active: false }, {}],
		["blocked", { ...active, blocked_brands: [{ domain: SHOES }] }, {}, {}],
		["publisher_suspended", { ...active, status: "suspended" }, {}, {}],
		[
			"publisher_suspended",
			{ status: "suspended", blocked_brands: [{ domain: SHOES }], ...endpointsOff },
			{ active: false },
			{ active: false },
		],
	])("%s: hoarded bids and links still lead to the brand, and are not paid", async (reason, publisher, brand, campaign) => {
		const hoarded = await Promise.all(Array.from({ length: 5 }, () => clickUrlFor(SHOES)));
		const link = await linkTo(SHOES);
		await call(link, person(100));
		await importExactly({ publishers: [{ ...CPC, ...publisher }], brands: [brandEntry(SHOES, 5001, brand, campaign)] });
		await callMany(10, (at) => [hoarded[at] ?? link, person(at)]);
		expect(await outcomes(11)).toEqual({ paid: 1, [reason]: 10 });
		await checkCounters();
	});
});

describe("worker: a campaign that its brand no longer has", () => {
	it("hoarded bids on it lead to another one of the brand, and cost nobody anything; a link is paid by that one's price", async () => {
		const hoarded = await Promise.all(Array.from({ length: 5 }, () => clickUrlFor(SHOES)));
		const link = await linkTo(SHOES);
		await importExactly({ brands: [brandEntry(SHOES, 5003)] });
		await callMany(5, (at) => [hoarded[at] ?? "", person(at)]);
		await call(link, person(9));
		expect(await outcomes(6)).toEqual({ campaign_stopped: 5, paid: 1 });
		expect(await rowsOf("SELECT DISTINCT campaign_id FROM clicks")).toEqual([{ campaign_id: 5003 }]);
		await checkCounters();
	});
});

describe("worker: a publisher whose endpoints are off and whose keys are revoked", () => {
	async function revokeKeys(): Promise<void> {
		for (const kind of ["access_key", "publisher_key"]) {
			const body = JSON.stringify({ kind, owner: CPC.id });
			const request = { method: "POST", headers: OPERATOR_HEADERS, body };
			expect((await exports.default.fetch("https://base.example/operator/keys/revoke", request)).status).toBe(200);
		}
	}

	it("has its bids paid for an hour, and its links until it is suspended", async () => {
		const start = Date.now();
		vi.useFakeTimers({ toFake: ["Date"], now: start });
		const [early, late, last] = [await clickUrlFor(SHOES), await clickUrlFor(SHOES), await clickUrlFor(SHOES)];
		const link = await linkTo(SHOES);
		await importExactly({
			publishers: [{ ...CPC, status: "active", blocked_brands: [], serving_engine_enabled: false, openrtb_enabled: false }],
		});
		await revokeKeys();
		await expect(clickUrlFor(SHOES)).rejects.toThrow("no bid");
		await call(early, person(1));
		vi.setSystemTime(start + 61 * MINUTE_MS);
		await call(late, person(2));
		await call(link, person(3));
		expect(await outcomes(3)).toEqual({ paid: 2, expired: 1 });
		await importExactly({
			publishers: [{ ...CPC, status: "suspended", serving_engine_enabled: false, openrtb_enabled: false }],
		});
		await call(link, person(4));
		await call(last, person(5));
		expect(await outcomes(5)).toEqual({ paid: 2, expired: 2, publisher_suspended: 1 });
		await checkCounters();
	});
});

describe("worker: what a caller can fill the database with", () => {
	it("a new source beyond a thousand a day is counted as other; what a click carried stays in its row", async () => {
		const count = MAX_SOURCES_PER_DAY + 30;
		const messages = Array.from({ length: count }, (_, at) =>
			clickMessage({ at: CLICKED_AT + at, campaignId: 5002, texts: { subi: `source-${at}` } }),
		);
		for (let at = 0; at < count; at += 100) await consumeClicks(capDeps(), letters(...messages.slice(at, at + 100)));
		await consumeClicks(capDeps(), letters(clickMessage({ at: CLICKED_AT + count, campaignId: 5002, texts: { subi: "source-3" } })));
		expect(await rowsOf("SELECT count(*) AS count, sum(click_count) AS clicks FROM daily_sources")).toEqual([
			{ count: MAX_SOURCES_PER_DAY + 1, clicks: count + 1 },
		]);
		expect(
			await rowsOf("SELECT source_id, click_count FROM daily_sources WHERE source_id IN (?, 'source-3') ORDER BY 1", OTHER_SOURCE),
		).toEqual([
			{ source_id: OTHER_SOURCE, click_count: 30 },
			{ source_id: "source-3", click_count: 2 },
		]);
		expect(await rowsOf("SELECT source_id, subi FROM clicks ORDER BY clicked_at DESC LIMIT 2")).toEqual([
			{ source_id: "source-3", subi: "source-3" },
			{ source_id: OTHER_SOURCE, subi: `source-${count - 1}` },
		]);
		await checkCounters();
	});

	it("unpaid clicks of an address beyond 600 an hour are counted, not stored; its paid ones still are, and so are another's", async () => {
		const of = (connection: string, at: number) => clickMessage({ at, connection, userAgentHash: "u", reason: "bot" });
		for (let part = 0; part < 7; part++) {
			const messages = Array.from({ length: 100 }, (_, at) => of("loud", CLICKED_AT + part * 100 + at));
			await consumeClicks(capDeps(), letters(...messages));
		}
		const { reason: _, ...paid } = of("loud", CLICKED_AT + 900);
		await consumeClicks(capDeps(), letters(of("quiet", CLICKED_AT), of("loud", CLICKED_AT + 60 * MINUTE_MS), paid));
		expect(await outcomes(MAX_UNPAID_PER_HOUR + 3)).toEqual({ bot: MAX_UNPAID_PER_HOUR + 2, paid: 1 });
		expect(await rowsOf("SELECT connection, stored, dropped FROM unpaid_hours ORDER BY connection, hour")).toEqual([
			{ connection: "loud", stored: MAX_UNPAID_PER_HOUR, dropped: 100 },
			{ connection: "loud", stored: 1, dropped: 0 },
			{ connection: "quiet", stored: 1, dropped: 0 },
		]);
	});

	it("that a bid's URL was called where its user saw nothing is stored all the same, once a batch: its sale is reviewed for that", async () => {
		const of = (hash: string, reason: "bot" | "embedded" | "prefetch", kind: "openrtb" | "link" = "openrtb") =>
			clickMessage({ at: CLICKED_AT, connection: "loud", userAgentHash: "u", hash: hash.repeat(32), reason, kind });
		await env.DB.prepare("INSERT INTO unpaid_hours (connection, hour, stored, dropped) VALUES ('loud', ?, ?, 0)")
			.bind(Math.floor(CLICKED_AT / (60 * MINUTE_MS)), MAX_UNPAID_PER_HOUR)
			.run();
		const unseen = [of("a", "embedded"), of("a", "embedded"), of("b", "prefetch"), of("c", "bot"), of("d", "embedded", "link")];
		await consumeClicks(capDeps(), letters(...unseen));
		expect(await rowsOf("SELECT click_hash, reason FROM clicks ORDER BY click_hash")).toEqual([
			{ click_hash: "a".repeat(32), reason: "embedded" },
			{ click_hash: "b".repeat(32), reason: "prefetch" },
		]);
		expect(await rowsOf("SELECT stored, dropped FROM unpaid_hours")).toEqual([{ stored: MAX_UNPAID_PER_HOUR + 2, dropped: 3 }]);
	});
});
