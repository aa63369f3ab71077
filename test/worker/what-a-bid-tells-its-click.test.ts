/** What a bid knew when it was asked for, and the network that a click comes from: held against each other at the redirect. */

import { exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MINUTE_MS } from "../../src/lib/time.ts";
import { BROWSER, clickRows, clickUrlFor, follow } from "../support/clicks.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { findClickUrl } from "../support/golden/normalise.ts";
import { openClick } from "../support/golden/open-click.ts";
import { brandEntry, importExactly, NORTHWIND } from "../support/network-import.ts";
import { CPC, call, linkTo, outcomes, person, servingEngineUrl } from "../support/traffic.ts";

const SHOES = "shoes.example";
const PHONE =
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";

async function setPublisher(fields: object, campaign: object = { keyword_epc: { "running shoes": "0.6000" } }): Promise<void> {
	await importExactly({
		platforms: [NORTHWIND],
		publishers: [{ ...CPC, ...fields }],
		brands: [brandEntry(SHOES, 5001, {}, campaign)],
	});
}

/** The click URL of an OpenRTB bid for this device. */
async function bidFor(device: object, site: object = { domain: SHOES }, asker?: string): Promise<string> {
	const response = await exports.default.fetch("http://rtb.example/openrtb/acme_rtb", {
		method: "POST",
		...(asker !== undefined && { headers: { "cf-connecting-ip": asker } }),
		body: JSON.stringify({ id: "auction", imp: [{ id: "1" }], site, device }),
	});
	const url = findClickUrl(await response.json());
	if (url === null) throw new Error("no bid");
	return url;
}

beforeEach(async () => {
	await forgetTraffic();
	await setPublisher({ traffic: null, bid_pay_minutes: null });
});

afterEach(() => {
	vi.useRealTimers();
});

describe("worker: the device of a bid", () => {
	const asked = { ip: "203.0.113.7", ua: BROWSER };
	const both = { ...asked, ipv6: "2001:db8::1" };
	it.each([
		["the same", asked, { "cf-connecting-ip": "203.0.113.7", "user-agent": BROWSER }, null],
		["another address, the same browser", asked, { "cf-connecting-ip": "198.51.100.9", "user-agent": BROWSER }, null],
		["the same address, another browser", asked, { "cf-connecting-ip": "203.0.113.7", "user-agent": PHONE }, null],
		["neither", asked, { "cf-connecting-ip": "198.51.100.9", "user-agent": PHONE }, "other_device"],
		["another address of its /64", { ipv6: "2001:db8::1", ua: PHONE }, { "cf-connecting-ip": "2001:db8::2", "user-agent": BROWSER }, null],
		["the IPv6 address of a bid that named both, another browser", both, { "cf-connecting-ip": "2001:db8::2", "user-agent": PHONE }, null],
		["the IPv4 address of a bid that named both, another browser", both, { "cf-connecting-ip": "203.0.113.7", "user-agent": PHONE }, null],
		["neither of both addresses", both, { "cf-connecting-ip": "2001:db8:1::2", "user-agent": PHONE }, "other_device"],
		[
			"neither where one is no address",
			{ ...both, ip: "unknown" },
			{ "cf-connecting-ip": "203.0.113.7", "user-agent": PHONE },
			"other_device",
		],
		["a bid that named no browser", { ip: "203.0.113.7" }, { "cf-connecting-ip": "198.51.100.9", "user-agent": PHONE }, null],
		["a bid that named no address", { ua: BROWSER }, { "cf-connecting-ip": "198.51.100.9", "user-agent": PHONE }, null],
		["a click whose address nobody knows", asked, { "user-agent": PHONE }, null],
	])("%s", async (_, device, headers, flags) => {
		await call(await bidFor(device), headers);
		expect(await clickRows({})).toMatchObject([{ reason: null, flags }]);
	});

	it("another one is not paid where the publisher's rules say so; of the Serving Engine too", async () => {
		await setPublisher({ traffic: { other_device: "unpaid" } });
		const headers = { "cf-connecting-ip": "198.51.100.9", "user-agent": PHONE };
		await call(await bidFor(asked), headers);
		await call(await servingEngineUrl(SHOES, `&ip=203.0.113.7&ua=${encodeURIComponent(BROWSER)}`), headers);
		expect(await outcomes(2)).toEqual({ other_device: 2 });
	});

	it("makes a token longer by no more than twenty characters", async () => {
		const [plain, told] = await Promise.all([bidFor({}), bidFor(asked)]);
		const lengthOf = (url: string) => new URL(url).searchParams.get("encyp")?.length ?? 0;
		expect(lengthOf(told) - lengthOf(plain)).toBeLessThanOrEqual(20);
		expect((await openClick(told)).token.device).toBeGreaterThan(0);
	});
});

describe("worker: for how long a bid's click is paid", () => {
	it.each([
		["an hour where nothing is said", null, 60],
		["as long as its publisher's own time", 180, 180],
		["no longer where that is short", 5, 5],
	])("%s; it redirects all the same", async (_, minutes, paid) => {
		await setPublisher({ bid_pay_minutes: minutes });
		const start = Date.now();
		vi.useFakeTimers({ toFake: ["Date"], now: start });
		const [early, late] = [await clickUrlFor(SHOES), await clickUrlFor(SHOES)];
		const link = await linkTo(SHOES);
		vi.setSystemTime(start + paid * MINUTE_MS);
		await call(early, person(1));
		vi.setSystemTime(start + paid * MINUTE_MS + 1_000);
		await call(late, person(2));
		// A tracking link does not age.
		await call(link, person(3));
		expect(await outcomes(3)).toEqual({ paid: 2, expired: 1 });
	});
});

describe("worker: for how long the auction lets a bid's click be paid", () => {
	const bidWith = async (exp: unknown) => {
		const body = JSON.stringify({ id: "auction", imp: [{ id: "1", exp }], site: { domain: SHOES } });
		const response = await exports.default.fetch("http://rtb.example/openrtb/acme_rtb", { method: "POST", body });
		return findClickUrl(await response.json()) ?? "";
	};

	it.each<[string, object, unknown, number]>([
		["imp.exp, where the publisher has it read", { openrtb: { exp: true } }, "300", 300],
		["no longer than the publisher's own time, whatever imp.exp says", { openrtb: { exp: true } }, 86_400, 3_600],
		["a second at the least", { openrtb: { exp: true } }, 0.2, 1],
		["its own time, where nothing that can be read was sent", { openrtb: { exp: true } }, [300], 3_600],
		["its own time, without the option", { openrtb: null }, 300, 3_600],
	])("%s", async (_, fields, exp, seconds) => {
		await setPublisher(fields);
		const start = Date.now();
		vi.useFakeTimers({ toFake: ["Date"], now: start });
		const [early, late] = [await bidWith(exp), await bidWith(exp)];
		vi.setSystemTime(start + seconds * 1_000);
		await call(early, person(1));
		vi.setSystemTime(start + seconds * 1_000 + 1_000);
		await call(late, person(2));
		expect(await outcomes(2)).toEqual({ paid: 1, expired: 1 });
	});
});

describe("worker: the network of a click", () => {
	it("another country than the campaign's is not paid; its own and an unknown one are", async () => {
		const link = await linkTo(SHOES);
		for (const [at, country] of ["DE", "US", "XX", "T1", ""].entries()) await call(link, { ...person(at), "cf-ipcountry": country });
		await call(link, person(9));
		expect(await outcomes(6)).toEqual({ country: 1, paid: 5 });
	});

	it("a data centre's is not paid; a provider's, and one that is not known, are", async () => {
		const link = await linkTo(SHOES);
		await call(link, person(1), { asn: 16_509 });
		await call(link, person(2), { asn: 7_922 });
		await call(link, person(3), { asn: null });
		await call(link, person(4));
		expect(await outcomes(4)).toEqual({ data_centre: 1, paid: 3 });
		await setPublisher({ traffic: { data_centre: { use_default_list: false, asns: [7_922] } } });
		await call(await linkTo(SHOES), person(5), { asn: 7_922 });
		await call(await linkTo(SHOES), person(6), { asn: 16_509 });
		expect(await outcomes(6)).toEqual({ data_centre: 2, paid: 4 });
	});
});

describe("worker: what settles a dispute later", () => {
	it("the keyword that priced the bid, and the network that asked, are in the click's row", async () => {
		const url = await bidFor({}, { search: " Running  SHOES " }, "192.0.2.77");
		expect((await follow(url, { "cf-connecting-ip": "203.0.113.7" })).status).toBe(302);
		expect(await clickRows({})).toMatchObject([
			{ reason: null, keyword: "running shoes", asked_from: "192.0.2.0/24", ip_prefix: "203.0.113.0/24", bid_micros: 300_000 },
		]);
	});

	it("a long keyword by its beginning", async () => {
		const keyword = `shoes ${"x".repeat(300)}`;
		await setPublisher({}, { default_keyword_epc: "0.5000" });
		await follow(await bidFor({}, { domain: SHOES, search: keyword }));
		expect(await clickRows({})).toMatchObject([{ keyword: keyword.slice(0, 64), asked_from: null }]);
	});

	it.each([
		["its own price", { keyword_epc: { "running shoes": "0.6000" } }, "running shoes", 300_000],
		["the price of keywords without one", { default_keyword_epc: "0.5000" }, "running shoes", 250_000],
		["no price: the domain's holds", {}, null, 200_000],
		["no price though others have: the domain's holds", { keyword_epc: { boots: "0.9000" } }, null, 200_000],
	])("a keyword with %s", async (_, campaign, keyword, bid_micros) => {
		await setPublisher({}, campaign);
		await follow(await bidFor({}, { domain: SHOES, search: "running shoes" }));
		await follow(await servingEngineUrl(SHOES, "&kw=running+shoes"), { "cf-connecting-ip": "203.0.113.7" });
		const rows = await clickRows({ count: 2 });
		expect(rows).toMatchObject([
			{ keyword, bid_micros },
			{ keyword, bid_micros },
		]);
	});
});
