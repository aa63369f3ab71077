import { beforeEach, describe, expect, test } from "vitest";
import type { BiddingDeps } from "../../../src/bidding/deps.ts";
import { type AskedFor, explainBid } from "../../../src/bidding/explain.ts";
import type { Explanation } from "../../../src/bidding/explain-answer.ts";
import { CampaignBook } from "../../../src/campaign-book/load.ts";
import { ClickTokens } from "../../../src/click-token/token.ts";
import { ACME, memoryBook } from "../../support/memory-book.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");
const HOMEPAGE = "https://track.example/c?sub={click_id}";
const DEEPLINK = { l: "https://track.example/d?sub={click_id}&u={deeplink}", v: 1 as const };

let deps: BiddingDeps;

beforeEach(() => {
	const campaigns = [
		{ i: 1, o: "US", h: HOMEPAGE, e: 400_000, ...DEEPLINK },
		{ i: 2, o: "US", h: HOMEPAGE, e: 600_000 },
		{ i: 3, o: "US", h: HOMEPAGE, e: 400_000, ...DEEPLINK },
	];
	const store = memoryBook({ "d shop.example": [{ i: 1, d: "shop.example", c: campaigns }] });
	deps = {
		book: new CampaignBook(store, { snapshotTtlMs: 15_000 }),
		tokens: new ClickTokens(["a-key-of-thirty-two-characters-or-more"]),
		clickUrl: "https://click.example",
		clickTtlMs: 86_400_000,
		now: () => NOW,
	};
});

function explain(query: Record<string, string>): Promise<Explanation> {
	return explainQuery(new URLSearchParams({ bd: "shop.example", cc: "US", ...query }).toString());
}

function explainQuery(query: string): Promise<Explanation> {
	return explainBid(deps, { endpoint: "serving-engine", publisherId: "1001", query }, () => {});
}

const linesOf = ({ candidates }: Explanation) =>
	candidates.map(
		({ campaign_id, link, eligible, won, reason }) => `${campaign_id} ${link} ${eligible ? (won ? "won" : "could bid") : reason}`,
	);

describe("unit: an explanation", () => {
	test("says of the one candidate that made the bid that it won: on the deeplink where that was bid on", async () => {
		const explained = await explain({ dl: "https://shop.example/p" });
		expect(explained.decision).toMatchObject({ outcome: "bid", campaign_id: 1, is_deeplink: true });
		expect(linesOf(explained)).toEqual(["1 deeplink won", "2 deeplink no_deeplink_campaign", "3 deeplink could bid"]);
	});

	test("on the homepage where no deeplink could be bid on, though campaigns were considered for both", async () => {
		const explained = await explain({ dl: "https://shop.example/p", fbid: "0.25" });
		expect(explained.decision).toMatchObject({ outcome: "bid", campaign_id: 2, is_deeplink: false });
		expect(linesOf(explained)).toEqual([
			"1 deeplink could bid",
			"2 deeplink no_deeplink_campaign",
			"3 deeplink could bid",
			"1 homepage could bid",
			"2 homepage won",
			"3 homepage could bid",
		]);
	});

	test("reads a query as the endpoint does: signals that are repeated all count, of others the first, and none behind the hundredth", async () => {
		const bid = { outcome: "bid", domain: "shop.example" };
		for (const [more, privacy] of [
			["&gdpr=0&gdpr=1", "gdpr"],
			["&us_privacy=1YNN&us_privacy=1YYN", "us_privacy"],
			["&us_privacy=%24%7BUS_PRIVACY%7D", null],
			["&bd=other.example&cc=CA", null],
			["#&coppa=1", null],
			["&x=1".repeat(97), null],
			[`&pubi=1${"&x=1".repeat(97)}`, null],
			["&x=1".repeat(98), "unreadable"],
		] as const) {
			const explained = await explainQuery(`?bd=shop.example&%70ubi=2&cc=US${more}`);
			expect(explained, more).toMatchObject({ privacy, decision: { ...bid, stripped: privacy !== null } });
		}
	});

	test("names the first privacy signal that says no, and whether the link is without the user", async () => {
		const request = { id: "1", imp: [{ id: "1" }], site: { domain: "shop.example" }, regs: { coppa: 1, gpp: "no string" } };
		const ask = (body: object) => explainBid(deps, { endpoint: "openrtb", identity: "acme_rtb", request: body }, () => {});
		expect(await ask(request)).toMatchObject({ privacy: "coppa", decision: { outcome: "bid", stripped: true } });
		expect(await ask({ ...request, regs: { coppa: 0 } })).toMatchObject({ privacy: null, decision: { outcome: "bid", stripped: false } });
		expect(await ask({ ...request, device: { geo: { country: "DE" } } })).toMatchObject({
			privacy: "coppa",
			decision: { outcome: "no-bid" },
		});
		expect(await explain({ us_privacy: "1YYN" })).toMatchObject({ privacy: "us_privacy", decision: { stripped: true } });
	});

	test("says of a body that the endpoint refuses for what it holds that it is refused", async () => {
		const request = { id: "1", imp: [{ id: "1" }], site: { domain: "shop.example" } };
		const ask = (more: object, text?: string) =>
			explainBid(deps, { endpoint: "openrtb", identity: "acme_rtb", request: { ...request, ...more }, ...(text && { text }) }, () => {});
		const many = { ext: { list: Array<number>(6_000).fill(10) } };
		expect((await ask(many)).decision).toEqual({
			outcome: "invalid",
			explanation: "The body may hold at most 5000 names and values: HTTP 413",
		});
		expect((await ask({ ext: "x".repeat(131_072) })).decision).toEqual({
			outcome: "invalid",
			explanation: "The body may hold at most 131072 bytes: HTTP 413",
		});
		// As it was sent, where that is known.
		expect((await ask(many, "{}")).decision.outcome).toBe("bid");
		const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
		expect((await ask({ ext: deep })).decision.outcome).toBe("invalid");
	});

	test("names the keyword that priced each, as its publisher has the request read", async () => {
		const reading = { ...ACME, o: { keywords: true as const } };
		const campaigns = [{ i: 1, o: "US", h: HOMEPAGE, e: 400_000, k: { boots: 600_000 } }];
		const book = new CampaignBook(memoryBook({ "d shop.example": [{ i: 1, d: "shop.example", c: campaigns }] }, [reading]), {
			snapshotTtlMs: 15_000,
		});
		const request = { id: "1", imp: [{ id: "1" }], site: { domain: "shop.example", keywords: "boots,hats" } };
		const asked: AskedFor = { publisher: { kind: "publisher_identity", value: "acme_rtb" }, sourceId: null, priced: [] };
		const explained = await explainBid({ ...deps, book }, { endpoint: "openrtb", identity: "acme_rtb", request }, () => {}, asked);
		expect(explained.decision).toMatchObject({ outcome: "bid", price: "0.3000" });
		expect(asked.priced).toEqual([{ campaignId: 1, link: "homepage", keyword: "boots" }]);
	});

	test("of no bid names no winner, and gives those that could bid its reason", async () => {
		const explained = await explain({ fbid: "1" });
		expect(explained.decision).toMatchObject({ outcome: "no-bid", reason: "below_floor" });
		expect(explained.candidates.map(({ won, reason }) => [won, reason])).toEqual([1, 2, 3].map(() => [false, "below_floor"]));
	});
});
