/** What of learned factors has room in `book:learned`, and how far above the book a bid may be by it. */
import { describe, expect, it } from "vitest";
import { campaignPrice, highestPrice } from "../../src/bidding/pricing.ts";
import { MANIFEST_KEY, type Manifest } from "../../src/campaign-book/format.ts";
import { holdBack, LEARNED_KEY, LearnedFactors, parseLearned, reckonEpc } from "../../src/campaign-book/learned.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { fillLearnedKey } from "../../src/learning-night/fill-learned-key.ts";
import { bytesOf } from "../../src/lib/split-by-bytes.ts";
import { brand, campaign, publisher } from "../support/auction-parts.ts";
import { memoryBook } from "../support/memory-book.ts";

const source = (at: number, factor: number) => ({
	level: "source" as const,
	campaignId: 0,
	publisherId: `p${at % 300}`,
	name: `tag-${at}`,
	factor,
});

describe("unit: the key of learned factors", () => {
	it("holds 64 KB at most, of what moves the most money", () => {
		const factors = Array.from({ length: 20_000 }, (_, at) => source(at, 0.5));
		const clicks = new Map(factors.map((factor, at) => [JSON.stringify(["source", 0, factor.publisherId, factor.name]), at]));
		const link = { level: "link" as const, campaignId: 0, publisherId: "", name: "deeplink", factor: 1.2 };
		const wire = fillLearnedKey([...factors, link], clicks, 1);
		expect(bytesOf(JSON.stringify(wire))).toBeLessThanOrEqual(64 * 1024);
		expect(wire.links).toEqual({ deeplink: 1.2 });
		expect(wire.publishers?.p199?.s?.["tag-19999"]).toBe(0.5);
		expect(wire.publishers?.p0?.s?.["tag-0"]).toBeUndefined();
		expect(parseLearned(JSON.stringify(wire))).toEqual(wire);
		expect(parseLearned('{"format":9}')).toBeNull();
	});

	it("has room for the weightiest of every publisher, however much others move", () => {
		const large = Array.from({ length: 100 * 200 }, (_, at) => ({ ...source(at, 0.2), publisherId: `large-${at % 100}`, name: `s${at}` }));
		const small = Array.from({ length: 4 }, (_, at) => ({ ...source(at, 0.5 + at / 10), publisherId: "small" }));
		const clicks = new Map(
			[...large, ...small].map(({ publisherId, name }) => [
				JSON.stringify(["source", 0, publisherId, name]),
				publisherId === "small" ? 10 : 10_000,
			]),
		);
		const wire = fillLearnedKey([...large, ...small], clicks, 1);
		expect(bytesOf(JSON.stringify(wire))).toBeLessThanOrEqual(64 * 1024);
		expect(wire.publishers?.small?.s).toEqual({ "tag-0": 0.5, "tag-1": 0.6, "tag-2": 0.7, "tag-3": 0.8 });
		// Nor do a publisher's own long names, which earlier versions have learned by.
		const long = Array.from({ length: 200 }, (_, at) => ({ ...source(at, 0.2), publisherId: "long", name: `${"x".repeat(250)}${at}` }));
		const most = new Map([...long, ...small].map(({ publisherId, name }) => [JSON.stringify(["source", 0, publisherId, name]), 10]));
		expect(Object.keys(fillLearnedKey([...long, ...small], most, 1).publishers?.small?.s ?? {})).toHaveLength(4);
	});

	it("no bid is above what the early end of an auction reckons with", () => {
		const learned = new LearnedFactors({
			format: 1,
			links: { homepage: 1.1 },
			publishers: { acme: { f: 0.9, s: { top: 1.7 }, c: { 1: 2.5, 2: 0.5 } } },
			h: 20_000,
		});
		const reckoning = learned.reckon(publisher(), "top", "homepage", 0);
		for (const epcMicros of [1, 333, 400_001]) {
			for (const campaignId of [1, 2, 3]) {
				const of = campaign({ campaignId, epcMicros, heldBack: { byClick: 5_000, all: 20_000 } });
				const price = campaignPrice(of, null, 777_777, reckoning);
				expect(price).toBeLessThanOrEqual(
					highestPrice(brand({ campaigns: [campaign({ campaignId: 9, epcMicros })] }), null, 777_777, reckoning),
				);
			}
		}
		// What was let go of lately is bid more than its traffic is worth, and no more than that end reckons with.
		const released = { since: 0, rise: 1.25, fall: 0.6 };
		const poor = new LearnedFactors({ format: 1, publishers: { acme: { f: 0.01 } }, h: 20_000 }).reckon(publisher(), null, "homepage", 1);
		const late = campaign({ released, operatorPrices: campaign(), heldBack: { byClick: 5_000, all: 20_000 } });
		expect(reckonEpc(400_000, late, poor, () => 400_000)).toBe(240_000);
		expect(campaignPrice(late, null, 777_777, poor)).toBeLessThanOrEqual(highestPrice(brand(), null, 777_777, poor));
		const click = learned.reckon(publisher({ pricingModel: "CPC" }), "else", "deeplink", 0);
		expect(reckonEpc(400_000, campaign({ campaignId: 1, heldBack: { byClick: 5_000, all: 20_000 } }), click, () => null)).toBe(900_000);
		// One that is pinned, or only advised, is bid at the operator's number whatever its traffic.
		expect(reckonEpc(400_000, campaign({ campaignId: 1 }), click, () => null)).toBe(400_000);
		const low = new LearnedFactors({ format: 1, publishers: { acme: { f: 0.5 } } }).reckon(publisher(), null, "homepage", 0);
		expect(highestPrice(brand(), null, 777_777, low)).toBeGreaterThanOrEqual(campaignPrice(campaign(), null, 777_777, low));
		expect(holdBack(900_000, campaign({ heldBack: { byClick: 5_000, all: 20_000 } }), click)).toBe(450_000);
	});

	it("a key that cannot be read takes no guard away from prices that were learned", async () => {
		const store = memoryBook({});
		const book = new CampaignBook(store, { snapshotTtlMs: 1_000 });
		const background: Promise<unknown>[] = [];
		const read = async (now: number) => {
			await book.snapshot(now, (promise) => void background.push(promise));
			await Promise.all(background.splice(0));
		};
		await read(0);
		expect(book.learned).toBeNull();
		const manifest = JSON.parse(store.values.get(MANIFEST_KEY) ?? "") as Manifest;
		store.values.set(MANIFEST_KEY, JSON.stringify({ ...manifest, version: 2, learned: 1 }));
		store.before = async (keys) => {
			if (keys.includes(LEARNED_KEY)) throw new Error("KV is down");
		};
		await read(2_000);
		expect((await book.snapshot(2_000, () => {}))?.manifest.learned).toBe(1);
		const reckoning = book.learned?.reckon({ id: "acme", pricingModel: "CPC", released: null }, null, "homepage", 0) ?? null;
		expect(holdBack(100_000, { heldBack: { byClick: 7_000, all: 10_000 } }, reckoning)).toBe(70_000);
	});
});
