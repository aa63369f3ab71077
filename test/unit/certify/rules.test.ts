/** The rules of `npm run certify`: each one can fail, and tells what it found. That they pass on a right endpoint is an e2e test. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { OPENRTB_RULES, openRtbRules } from "../../../scripts/certify/openrtb-rules.ts";
import { type Answer, expectEqual, type Rule, type Subject } from "../../../scripts/certify/rule.ts";
import { runRules } from "../../../scripts/certify/run-rules.ts";
import { SERVING_ENGINE_RULES } from "../../../scripts/certify/serving-engine-rules.ts";
import { readSupplyChain } from "../../../scripts/certify/supply-chain.ts";
import { writeJunit } from "../../../scripts/certify/write-junit.ts";
import { parseJson } from "../../../src/lib/json.ts";

const SUBJECT: Subject = {
	auctionId: "certify-auction",
	identity: "acme_rtb",
	publisherId: "1001",
	domain: "shoes.example",
	keyword: "shoes",
	deeplink: "https://shoes.example/new",
	supplyChain: null,
};
const ALL = [...new Set([...OPENRTB_RULES, ...openRtbRules("full"), ...SERVING_ENGINE_RULES])];

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
	return { status, headers: new Headers(headers), text: body === null ? "" : JSON.stringify(body), milliseconds: 1 };
}

const macro = (name: string) => ["$", `{AUCTION_${name}}`].join("");
const UUID = "0b7c1f5e-1f0a-4c1e-9d55-9f6b1a6c0001";
const JSON_TYPE = { "content-type": "application/json" };
const STRANGE_ID = 'certify "\\/\u00e4\ud83d\ude00"';
const CLICK = "https://click.example/click?encyp=abc&rtuli=own&cc=US&tsts=1";

function fill(changes: { response?: object; bid?: object; click?: string } = {}): Answer {
	const bid = {
		id: UUID,
		impid: "certify-imp",
		price: 0,
		adm: JSON.stringify({ native: { link: { url: changes.click ?? CLICK } } }),
		adomain: ["shoes.example"],
		ext: { final_url: "https://shoes.example/", altered: false, advertiser_name: "shoes.example", advertiser_id: "1" },
		...changes.bid,
	};
	return answer(
		200,
		{ id: "certify-auction", bidid: UUID, cur: "USD", seatbid: [{ seat: "s", bid: [bid] }], ...changes.response },
		{ "content-type": "application/json", "x-openrtb-version": "2.5" },
	);
}

function rule(part: string): Rule {
	const found = ALL.find(({ name }) => name.includes(part));
	if (found === undefined) throw new Error(`no rule is about ${part}`);
	return found;
}

describe("unit: certify", () => {
	it.each(ALL.map((each) => [each.name, each] as const))("%s: an answer that is nothing fails", (_name, { check }) => {
		expect(check(answer(500, null), SUBJECT, null)).not.toEqual([]);
	});

	it.each([
		["one seat with one bid", { response: { id: "another" } }, "id is"],
		["one seat with one bid", { response: { cur: "EUR" } }, "cur is"],
		["one seat with one bid", { bid: { impid: "2" } }, "impid is"],
		["bidid is a UUID", { response: { bidid: "1" } }, "bidid is"],
		["bidid is a UUID", { bid: { id: "2" } }, "bid.id is"],
		["fields that never appear", { response: { nbr: 2 } }, "holds nbr"],
		["fields that never appear", { bid: { crid: "1" } }, "holds crid"],
		["ext holds final_url", { bid: { adomain: [] } }, "adomain is"],
		["ext holds final_url", { bid: { ext: { altered: "false" } } }, "altered is"],
		["test = 1", { bid: { price: 0.2 } }, "price is"],
		["test = 1", { click: "https://click.example/click?encyp=a&rtuli=b&cc=US" }, "tsts is"],
		["a live price", { bid: { price: 0.12345 } }, "more than four decimals"],
		["a live price", { bid: { price: 0 } }, "under the floor"],
		["rtuli is neither", { click: `https://click.example/click?encyp=a&rtuli=${UUID}&cc=US` }, "rtuli is"],
		["rtuli is neither", { click: "https://click.example/click?rtuli=b&cc=US" }, "encyp is missing"],
		["an IPv6 address", { click: "https://click.example/click?encyp=a&ip=2001" }, "ip is"],
		["one seat with one bid", {}, null],
		["whatever is in them", {}, "id is"],
		["whatever is in them", {}, "impid is"],
		["whatever is in them", { response: { id: STRANGE_ID }, bid: { impid: STRANGE_ID } }, null],
		["of a live bid", {}, "tsts is"],
		["of a live bid", { click: "https://click.example/click?encyp=a&rtuli=b&cc=US" }, null],
		["an address that is no IPv4", { click: "https://click.example/click?encyp=a&ip=1" }, "ip is"],
		["clickid is user.id", { click: "https://click.example/click?encyp=a&clickid=certify-user" }, null],
		["clickid is user.id", { click: "https://click.example/click?encyp=a&clickid=certify-user&uid=certify-user" }, "uid is"],
		["final_url is the advertiser", {}, null],
		["final_url is the advertiser", { bid: { ext: { final_url: "shoes.example", advertiser_name: "shoes.example" } } }, "final_url is"],
		["alt of 1", {}, "altered is"],
		["alt of true", {}, "altered is"],
		["alt of 0", {}, null],
		["alt of 0", { bid: { ext: { altered: true } } }, "altered is"],
		["of two impressions", { bid: { impid: "certify-2" } }, "impid is"],
		["of two impressions", {}, null],
		["the click URL is absolute", {}, null],
		["the click URL is absolute", { click: "/click?encyp=abc" }, "no native.link.url"],
		["the click URL is absolute", { click: "javascript:alert(1)" }, "begins with javascript:"],
		["the click URL is absolute", { click: `${CLICK}&u=${macro("ID")}` }, "macro"],
		["(imp.ext.deeplink)", {}, "dl is"],
		["(site.ext.deeplink)", {}, "final_url is"],
		["(app.ext.deeplink)", {}, "dl is"],
		["(imp.native.ext.url)", {}, "dl is"],
	])("%s: %j is found", (part, changes, fault) => {
		const faults = rule(part).check(fill(changes), SUBJECT, null);
		if (fault === null) expect(faults).toEqual([]);
		else expect(faults.join("; ")).toContain(fault);
	});

	it("a link that is the one of the auction before is found, whichever of its parts is", () => {
		const { check } = rule("of its own auction");
		const other = (encyp: string, rtuli: string) => fill({ click: `https://click.example/click?encyp=${encyp}&rtuli=${rtuli}&cc=US` });
		expect(check(other("x", "y"), SUBJECT, fill())).toEqual([]);
		expect(check(other("x", "own"), SUBJECT, fill()).join()).toContain("rtuli");
		expect(check(other("abc", "y"), SUBJECT, fill()).join()).toContain("encyp");
	});

	it("nothing is asked of the Serving Engine without a publisher id, whatever else is given", async () => {
		const verdicts = await runRules("http://localhost:1", SERVING_ENGINE_RULES, { ...SUBJECT, publisherId: null });
		for (const { rule: name, outcome, faults } of verdicts)
			expect([outcome, ...faults], name).toEqual(["not checked", "needs --publisher-id"]);
		const [page] = await runRules("http://localhost:1", [rule("a page of the brand: is_deeplink")], {
			...SUBJECT,
			publisherId: null,
			deeplink: null,
		});
		expect(page?.faults).toEqual(["needs --publisher-id and --deeplink"]);
	});

	it.each([
		[{}, null],
		[{ error: "" }, "error"],
		[{ bid_amount: "0.0000" }, "bid_amount is"],
		[{ redirect_url: "https://shoes.example/" }, "encyp"],
		[{ redirect_url: "ftp://click.example/click?encyp=a&cc=US" }, "redirect_url is"],
		[{ redirect_url: "https://click.example/click?encyp=a&cc=CA" }, "cc is"],
	])("an ad of the Serving Engine with %j", (changes, fault) => {
		const ad = { status: 1, bid_amount: "0.3360", redirect_url: "https://click.example/click?encyp=abc&cc=US", is_deeplink: "No" };
		const faults = rule("an ad: bid_amount").check(answer(200, { ...ad, ...changes }, JSON_TYPE), SUBJECT, null);
		if (fault === null) expect(faults).toEqual([]);
		else expect(faults.join()).toContain(fault);
	});

	it("an ad that does not say that it is JSON", () => {
		expect(rule("an ad: bid_amount").check(answer(200, {}, { "content-type": "text/html" }), SUBJECT, null)).toContain(
			"Content-Type is not application/json",
		);
	});

	it("each request is of another auction, but where a rule is about one that comes twice; the echo is of the one that was sent", async () => {
		const ids: string[] = [];
		const server = createServer(async (request, response) => {
			const body = Buffer.concat(await request.toArray());
			const text = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
			const { id } = (parseJson(text.toString()) ?? {}) as { id?: string };
			if (id?.trim()) ids.push(id);
			response.setHeader("content-type", "application/json").end(JSON.stringify({ ...JSON.parse(fill().text), id }));
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		const verdicts = await runRules(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, OPENRTB_RULES, SUBJECT);
		server.close();
		expect(ids.length).toBeGreaterThan(60);
		expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toHaveLength(2);
		expect(verdicts.find(({ rule: name }) => name.includes("echoes id"))?.faults).toEqual([]);
	});

	it("what an endpoint answers is told in a few words, however long it is", async () => {
		const long: Rule = {
			name: "r",
			send: () => ({ method: "GET", path: "/" }),
			check: ({ text }) => [text, ...expectEqual("id", text, 1)],
		};
		const server = createServer((_request, response) => response.end("x".repeat(1_000_000))).listen(0, "127.0.0.1");
		await once(server, "listening");
		const [verdict] = await runRules(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, [long], SUBJECT);
		server.close();
		expect(verdict?.faults.map((fault) => fault.length < 400)).toEqual([true, true]);
	});

	it("a response that repeats the one before is found, and so is a price that follows the floor", () => {
		expect(rule("another in each response").check(fill(), SUBJECT, fill()).join()).toContain("same bidid");
		const [low, high] = [fill({ bid: { price: 0.2 } }), fill({ bid: { price: 0.3 } })];
		expect(rule("a floor of the very price").check(high, SUBJECT, low).join()).toContain("price is 3000");
		expect(rule("a floor of the very price").check(low, SUBJECT, low)).toEqual([]);
		expect(JSON.parse(String(rule("one step above").send(SUBJECT, low).body)).imp[0].bidfloor).toBe(0.2001);
	});

	it("a no-bid with a body, a Content-Type or without its version is found", () => {
		const { check } = rule("an unknown domain: 204");
		expect(check(answer(204, null, { "x-openrtb-version": "2.5" }), SUBJECT, null)).toEqual([]);
		expect(check(answer(204, {}, { "x-openrtb-version": "2.5" }), SUBJECT, null).join()).toContain("body");
		expect(check(answer(204, null, { "x-openrtb-version": "2.5", "content-type": "application/json" }), SUBJECT, null).join()).toContain(
			"Content-Type",
		);
		expect(check(answer(204, null), SUBJECT, null).join()).toContain("x-openrtb-version");
	});

	it("what the answer before lacks is said, and nothing made of it is sent", async () => {
		const sent: string[] = [];
		const server = createServer(async (request, response) => {
			const body = Buffer.concat(await request.toArray());
			sent.push(`${request.url} ${request.headers["content-encoding"] === "gzip" ? "" : body.toString()}`);
			const bid = { id: UUID, impid: "certify-imp" };
			response.setHeader("content-type", "application/json").end(JSON.stringify({ status: 1, seatbid: [{ bid: [bid] }] }));
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		const verdicts = await runRules(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, ALL, SUBJECT);
		server.close();
		const faultsOf = (part: string) => verdicts.find(({ rule: name }) => name.includes(part))?.faults;
		expect(faultsOf("a floor of the very bid")).toEqual(["the ad without a floor has no bid_amount"]);
		expect(faultsOf("a floor of the very price")).toEqual(["the bid without a floor has no price"]);
		expect(faultsOf("one step above")).toEqual(["the bid without a floor has no price"]);
		expect(faultsOf("final_url is the advertiser's")?.join()).toContain("advertiser_name is not text");
		expect([...sent, ...verdicts.flatMap(({ faults }) => faults)].filter((text) => /undefined|\[null\]/.test(text))).toEqual([]);
	});

	it("what the subject lacks is not sent, and said", async () => {
		const lacking = { ...SUBJECT, keyword: null, publisherId: null, deeplink: null };
		const rules = [rule("a keyword alone"), rule("an ad:"), rule("a page of the brand is bid on"), rule("no supply chain")];
		expect((await runRules("http://localhost:1", rules, lacking)).map(({ outcome, faults }) => [outcome, ...faults])).toEqual([
			["not checked", "needs --keyword"],
			["not checked", "needs --publisher-id"],
			["not checked", "needs --deeplink"],
			["not checked", "needs --schain"],
		]);
	});
});

describe("unit: certify of publishers who ask for a supply chain", () => {
	const chain = readSupplyChain("1.0,1!SSP.example,12%2C34,1!reseller.example,r-1,1,,Reseller%20Ltd,reseller.example");
	const subject = { ...SUBJECT, supplyChain: chain };
	const sentBy = (name: string) => JSON.parse(String(rule(name).send(subject, null).body)).source;

	it("reads chains as OpenRTB serializes them", () => {
		expect(chain).toEqual({
			ver: "1.0",
			complete: 1,
			nodes: [
				{ asi: "SSP.example", sid: "12,34", hp: 1 },
				{ asi: "reseller.example", sid: "r-1", hp: 1, name: "Reseller Ltd", domain: "reseller.example" },
			],
		});
		expect(readSupplyChain("1.0,1!ssp.example,%,0")?.nodes).toEqual([{ asi: "ssp.example", sid: "%", hp: 0 }]);
	});

	it.each(["", "1.0,1", "1.0,0!ssp.example,1,1", "ssp.example,1,1", "1.0,1!ssp.example", "1.0,1!ssp.example,1,1!", "x,1!ssp.example,1,1"])(
		"%j is no chain that could bid",
		(text) => {
			expect(readSupplyChain(text)).toBeNull();
		},
	);

	it("each request brings it, and rules send what is wrong with one", () => {
		expect(sentBy("a brand that bids is 200")).toEqual({ schain: chain });
		expect(sentBy("OpenRTB 2.5)")).toEqual({ ext: { schain: chain } });
		expect(sentBy("no supply chain")).toBeUndefined();
		expect(sentBy("that is not complete")).toEqual({ schain: { ...chain, complete: 0 } });
		expect(sentBy("has no sid").schain.nodes[1]).toEqual({ asi: "reseller.example", hp: 1 });
		expect(sentBy("of which one is not complete")).toEqual({ schain: chain, ext: { schain: { ...chain, complete: 0 } } });
		expect(JSON.parse(String(rule("a brand that bids is 200").send(SUBJECT, null).body))).not.toHaveProperty("source");
	});
});

const NOTICES = {
	nurl: `https://c.example/notice/a/won?price=${macro("PRICE")}`,
	burl: `https://c.example/notice/a/billed?price=${macro("PRICE")}`,
	lurl: `https://c.example/notice/a/lost?loss=${macro("LOSS")}&price=${macro("MIN_TO_WIN")}`,
};
const FULL = { crid: "5001-homepage", cid: "5001", mtype: 4, exp: 3_600, cat: ["IAB22"], cattax: 1, ...NOTICES };

describe("unit: certify of bids that are answered in full", () => {
	const faultsOf = (bid: object) =>
		openRtbRules("full")
			.slice(-3)
			.flatMap(({ check }) => check(fill({ bid: { ...FULL, ...bid } }), SUBJECT, null));

	it("takes what the contract's profile never has", () => {
		expect(faultsOf({})).toEqual([]);
		expect(faultsOf({ cat: undefined, cattax: undefined })).toEqual([]);
		expect(openRtbRules("full").some(({ name }) => name.includes("never appear"))).toBe(false);
		expect(openRtbRules("contract")).toBe(OPENRTB_RULES);
	});

	it.each([
		{ crid: undefined },
		{ cid: "" },
		{ mtype: 1 },
		{ exp: 0.5 },
		{ nurl: "/won" },
		{ lurl: NOTICES.nurl },
		{ lurl: `https://c.example/lost?loss=${macro("LOSS")}` },
		{ burl: `javascript:${macro("PRICE")}` },
		{ cat: [] },
		{ cat: [1] },
		{ cattax: undefined },
	])("refuses %o", (bid) => {
		expect(faultsOf(bid)).toHaveLength(1);
	});

	it.each([
		[{}, []],
		[{ response: { nbr: 2 } }, ["the response holds nbr"]],
		[{ response: { ext: {} } }, ["the response holds ext"]],
		[{ response: { seatbid: [{ seat: "s", group: 0, bid: [FULL] }] } }, ["the seat holds group"]],
		[{ bid: { ...FULL, w: 300, h: 250, dealid: "d" } }, ["the bid holds w", "the bid holds h", "the bid holds dealid"]],
	])("%j: has no more than that", (changes, faults) => {
		const found = openRtbRules("full").find(({ name }) => name.includes("has none of"));
		expect(found?.check(fill({ bid: FULL, ...changes }), SUBJECT, null)).toEqual(faults);
	});

	it("writes a report that XML readers take", () => {
		const text = 'a <b> & "c" \u0000\ud800';
		const report = writeJunit({
			"A & B": [
				{ rule: text, outcome: "pass", sent: "", faults: [] },
				{ rule: "r", outcome: "fail", sent: text, faults: ["one", "two"] },
				{ rule: "s", outcome: "not checked", sent: "", faults: ["needs --keyword"] },
			],
		});
		expect(report).toContain('<testsuite name="A &amp; B" tests="3" failures="1" skipped="1">');
		expect(report).toContain('name="a &lt;b&gt; &amp; &quot;c&quot; \ufffd\ufffd"/>');
		expect(report).toContain("sent a &lt;b&gt; &amp; &quot;c&quot; \ufffd\ufffd\none\ntwo</failure>");
		expect(report).toContain('<skipped message="needs --keyword"/>');
	});
});
