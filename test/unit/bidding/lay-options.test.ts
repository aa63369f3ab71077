/** What a publisher's options read of a request, and what they leave alone. */
import { describe, expect, it } from "vitest";
import { layOptions, lifeOf } from "../../../src/bidding/lay-options.ts";
import { toAuction } from "../../../src/bidding/to-auction.ts";
import { decodePublisher } from "../../../src/campaign-book/format.ts";
import type { OpenRtbOptions } from "../../../src/lib/openrtb-options.ts";
import { readBidRequest } from "../../../src/openrtb/read-request.ts";
import { ACME } from "../../support/memory-book.ts";

const BODY = {
	id: "1",
	imp: [{ id: "1", exp: 300 }],
	site: { domain: "shop.example", kwarray: ["boots"] },
	user: { keywords: "socks" },
	device: { ua: "Googlebot/2.1 (+http://www.google.com/bot.html)" },
	bcat: ["IAB22"],
	source: { schain: { complete: 0, nodes: [] } },
};
const publisher = (options: OpenRtbOptions | undefined) => decodePublisher({ ...ACME, ...(options !== undefined && { o: options }) });

function readRequest() {
	const request = readBidRequest(BODY);
	const auction = request === null ? null : toAuction(request);
	if (request === null || auction === null) throw new Error("no request");
	return { request, auction };
}

function lay(options: OpenRtbOptions | undefined) {
	const { request, auction } = readRequest();
	return { auction, laid: layOptions(auction, request, BODY, publisher(options)) };
}

describe("unit: options of a publisher", () => {
	it.each<[string, OpenRtbOptions | undefined]>([
		["none", undefined],
		["nothing", {}],
		["codes alone", { nbr: true }],
		["the paid life alone", { exp: true }],
	])("of %s leave the auction as it is", (_name, options) => {
		const { auction, laid } = lay(options);
		expect(laid).toEqual(auction);
	});

	it("read each its own, and nothing of another's", () => {
		const { auction } = lay(undefined);
		expect(lay({ keywords: true }).laid).toEqual({ ...auction, keyword: new Set(["socks", "boots"]) });
		const rule = { taxonomy: 1, blocked: new Set(["IAB22"]), allowed: null, said: new Map() };
		expect(lay({ bcat: true }).laid).toEqual({ ...auction, categories: rule });
		expect(lay({ bot_ua: true }).laid).toMatchObject({ outcome: "no-bid", reason: "bot_user_agent" });
		expect(lay({ schain: {} }).laid).toMatchObject({ outcome: "no-bid", reason: "schain_incomplete" });
	});

	it("take a chain of which every node names its system and its seller", () => {
		const right = { asi: "ssp.example", sid: "7" };
		const withNode = (node: unknown) => {
			const { request, auction } = readRequest();
			const body = { ...BODY, source: { schain: { complete: 1, nodes: [right, node, right] } } };
			return layOptions(auction, request, body, publisher({ schain: {} }));
		};
		expect(withNode(right)).not.toHaveProperty("outcome");
		for (const node of [{ ...right, asi: " " }, { ...right, sid: "" }, { asi: right.asi }, { sid: right.sid }, {}, null, "ssp.example"])
			expect(withNode(node), JSON.stringify(node)).toMatchObject({ outcome: "no-bid", reason: "schain_incomplete" });
	});

	it("read bcat by the first taxonomy unless cattax is a whole number from 1 up", () => {
		const taxonomyOf = (cattax: unknown) => {
			const { request, auction } = readRequest();
			const laid = layOptions(auction, request, { ...BODY, cattax }, publisher({ bcat: true }));
			return "categories" in laid ? laid.categories?.taxonomy : undefined;
		};
		for (const cattax of [
			undefined,
			null,
			"",
			" ",
			"\u00a0",
			0,
			"0",
			-7,
			1.5,
			"1.5",
			"x",
			"7,1",
			true,
			[],
			[7],
			{},
			Number.POSITIVE_INFINITY,
		])
			expect(taxonomyOf(cattax), JSON.stringify(cattax)).toBe(1);
		for (const [cattax, taxonomy] of [
			[1, 1],
			["1", 1],
			[7, 7],
			[" 7 ", 7],
			["7.0", 7],
			[9_999, 9_999],
		] as const)
			expect(taxonomyOf(cattax), JSON.stringify(cattax)).toBe(taxonomy);
	});

	it("bound the paid life by imp.exp where that is wanted, in whole seconds from 1 up", () => {
		const life = (exp: unknown, options: OpenRtbOptions | undefined) => lifeOf({ imp: [{ id: "1", exp }] }, publisher(options));
		for (const options of [undefined, {}, { nbr: true as const }]) expect(life(300, options)).toBeNull();
		for (const [exp, seconds] of [
			[300, 300],
			["300", 300],
			[0.4, 1],
			[59.9, 59],
			[1e12, 1_000_000],
			[0, null],
			[-5, null],
			["soon", null],
			[[300], null],
			[{}, null],
		] as const)
			expect([exp, life(exp, { exp: true })]).toEqual([exp, seconds]);
		expect(lifeOf("no object", publisher({ exp: true }))).toBeNull();
	});
});
