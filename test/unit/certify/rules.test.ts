/** The rules of `npm run certify`: each one can fail, and tells what it found. That they pass on a right endpoint is an e2e test. */
import { describe, expect, it } from "vitest";
import { OPENRTB_RULES, openRtbRules } from "../../../scripts/certify/openrtb-rules.ts";
import type { Answer, Rule, Subject } from "../../../scripts/certify/rule.ts";
import { runRules } from "../../../scripts/certify/run-rules.ts";
import { SERVING_ENGINE_RULES } from "../../../scripts/certify/serving-engine-rules.ts";
import { readSupplyChain } from "../../../scripts/certify/supply-chain.ts";
import { writeJunit } from "../../../scripts/certify/write-junit.ts";

const SUBJECT: Subject = {
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

const UUID = "0b7c1f5e-1f0a-4c1e-9d55-9f6b1a6c0001";
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
	])("%s: %j is found", (part, changes, fault) => {
		const { check } = rule(part);
		expect(check(fill(changes), SUBJECT, null).join("; ")).toContain(fault);
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

const macro = (name: string) => ["$", `{AUCTION_${name}}`].join("");
const NOTICES = {
	nurl: `https://c.example/notice/a/won?price=${macro("PRICE")}`,
	burl: `https://c.example/notice/a/billed?price=${macro("PRICE")}`,
	lurl: `https://c.example/notice/a/lost?loss=${macro("LOSS")}`,
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
		{ cat: [] },
		{ cattax: undefined },
	])("refuses %o", (bid) => {
		expect(faultsOf(bid)).toHaveLength(1);
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
