/** What of learned factors has room in `book:learned`, and how far above the book a bid may be by it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { campaignPrice, highestPrice } from "../../src/bidding/pricing.ts";
import { MANIFEST_KEY, type Manifest } from "../../src/campaign-book/format.ts";
import { holdBack, LEARNED_KEY, LearnedFactors, parseLearned, reckonEpc } from "../../src/campaign-book/learned.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { type Factor, FactorChoice, FactorCount, fillLearnedKey } from "../../src/learning-night/fill-learned-key.ts";
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

/** The key of factors that are of this many clicks each. */
function fill(factors: readonly Factor[], clicksOf: (factor: Factor) => number) {
	const count = new FactorCount();
	for (const factor of factors) count.add(factor);
	const choice = new FactorChoice(count.publishers);
	for (const factor of factors) choice.add({ ...factor, clicks: clicksOf(factor) });
	return fillLearnedKey(count.all ?? choice.chosen, 1);
}

const bytes = (factors: readonly Factor[]) => bytesOf(JSON.stringify(fillLearnedKey(factors, 1)));

describe("unit: the key of learned factors", () => {
	it("holds 64 KB at most, of what moves the most money", () => {
		const factors = Array.from({ length: 20_000 }, (_, at) => source(at, 0.5));
		const link = { level: "link" as const, campaignId: 0, publisherId: "", name: "deeplink", factor: 1.2 };
		const wire = fill([...factors, link], ({ name }) => Number(name.slice(4)));
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
		const wire = fill([...large, ...small], ({ publisherId }) => (publisherId === "small" ? 10 : 10_000));
		expect(bytesOf(JSON.stringify(wire))).toBeLessThanOrEqual(64 * 1024);
		expect(wire.publishers?.small?.s).toEqual({ "tag-0": 0.5, "tag-1": 0.6, "tag-2": 0.7, "tag-3": 0.8 });
		// Nor do a publisher's own long names, which earlier versions have learned by.
		const long = Array.from({ length: 200 }, (_, at) => ({ ...source(at, 0.2), publisherId: "long", name: `${"x".repeat(250)}${at}` }));
		expect(Object.keys(fill([...long, ...small], () => 10).publishers?.small?.s ?? {})).toHaveLength(4);
	});

	it("has publishers of any id, and touches nothing that objects inherit", () => {
		const ids = ["__proto__", "constructor", "toString"];
		const wire = fillLearnedKey(
			ids.map((publisherId, at) => ({ ...source(at, 0.5), publisherId })),
			1,
		);
		expect(parseLearned(JSON.stringify(wire))).toEqual(
			JSON.parse(`{"format":1,"publishers":{${ids.map((id, at) => `"${id}":{"s":{"tag-${at}":0.5}}`).join()}}}`),
		);
		expect(["s" in {}, "s" in Object, "s" in Object.prototype.toString]).toEqual([false, false, false]);
	});

	it("is of the same factors however few of them are held at a time", () => {
		const room = 60 * 1024;
		const sizeOf = ({ campaignId, publisherId, name }: Factor) => bytesOf(JSON.stringify([publisherId, name, campaignId])) + 24;
		// All of them in memory: the weightiest first, of equals the first; each publisher's own up to its share before the rest.
		const plainly = (factors: readonly Factor[], clicksOf: (factor: Factor) => number) => {
			const moved = (factor: Factor) => Math.abs(Math.log(factor.factor)) * clicksOf(factor);
			const rest = factors.filter(({ level }) => level === "source").sort((a, b) => moved(b) - moved(a));
			const ofPublishers = new Map(rest.map(({ publisherId }) => [publisherId, 0]));
			const [first, later]: [Factor[], Factor[]] = [[], []];
			for (const factor of rest) {
				const sum = (ofPublishers.get(factor.publisherId) ?? 0) + sizeOf(factor);
				ofPublishers.set(factor.publisherId, sum);
				(sum <= room / 2 / ofPublishers.size ? first : later).push(factor);
			}
			return fillLearnedKey([...factors.filter(({ level }) => level !== "source"), ...first, ...later], 1);
		};
		fc.assert(
			fc.property(
				fc.integer({ min: 1, max: 400 }),
				fc.integer({ min: 1, max: 1e6 }),
				fc.integer({ min: 1, max: 60 }),
				(among, seed, kinds) => {
					const chance = (at: number, of: number) => (Math.imul(at * 7 + of + seed, 2_654_435_761) >>> 8) / 2 ** 24;
					const factors = Array.from({ length: 24_000 }, (_, at): Factor => {
						const publisherId = `p${Math.floor(among * chance(at, 1) ** 2)}`;
						const name = "n".repeat(Math.floor(chance(at, 4) * 40)) + at;
						return { level: "source", campaignId: 0, publisherId, name, factor: 0.2 + Math.floor(chance(at, 2) * kinds) / kinds };
					});
					const publishers = Array.from({ length: 40 }, (_, at): Factor => ({ ...source(at, 1.1), level: "publisher", name: "" }));
					const all = [...factors.slice(0, 16_000), ...publishers, ...factors.slice(16_000)];
					const clicksOf = ({ name }: Factor) => Math.floor(chance(name.length, 3) * 5);
					expect(JSON.stringify(fill(all, clicksOf))).toBe(JSON.stringify(plainly(all, clicksOf)));
				},
			),
			{ numRuns: Number(process.env.PROPERTY_RUNS || 4) },
		);
	});

	it("gives a publisher whose share is used up no more of it for what comes later", () => {
		const of = (publisherId: string, name: string): Factor => ({ level: "source", campaignId: 0, publisherId, name, factor: 0.5 });
		// 50 names fill nearly half of the room's half; the next does not fit, and what moves less comes after it.
		const own = Array.from({ length: 50 }, (_, at) => of("small", `${"n".repeat(250)}${at}`));
		const tooLong = of("small", "m".repeat(2_000));
		const large = Array.from({ length: 20_000 }, (_, at) => of("large", `s${at}`));
		const last = of("small", "short");
		const clicksOf = (factor: Factor) => (factor === last ? 1 : factor === tooLong ? 2 : factor.publisherId === "small" ? 3 : 1_000);
		const { small } = fill([...own, tooLong, ...large, last], clicksOf).publishers ?? {};
		expect(Object.keys(small?.s ?? {})).toEqual(own.map(({ name }) => name));
	});

	it("keeps no more of factors than may have room", () => {
		const choice = new FactorChoice(50);
		for (let at = 0; at < 200_000; at++) choice.add({ ...source(at, 0.5), publisherId: `p${at % 50}`, clicks: at });
		expect(choice.chosen.length).toBeLessThan(5_000);
		expect(bytes(choice.chosen)).toBeLessThanOrEqual(64 * 1024);
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
