import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AuctionRequest, Decision } from "../../../src/bidding/auction.ts";
import { holdAuction } from "../../../src/bidding/hold-auction.ts";
import { type BookSnapshot, CampaignBook, findByOpenRtbIdentity } from "../../../src/campaign-book/load.ts";
import type { BrandWire } from "../../../src/campaign-book/wire.ts";
import { auctionRequest } from "../../support/auction-parts.ts";
import { type MemoryBook, memoryBook } from "../../support/memory-book.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");
const wire = (id: number, domain: string, e: number): BrandWire => ({ i: id, d: domain, c: [{ i: id, o: "US", h: 1, e }] });
const ENTRIES = {
	"d shop.example": [wire(1, "shop.example", 400_000)],
	"d sub.shop.example": [wire(2, "sub.shop.example", 600_000)],
	"d alias.example": [wire(1, "shop.example", 400_000)],
	"k boots": [{ i: 3, d: "boots.example", c: [{ i: 3, o: "US", h: 1 as const, k: { boots: 500_000 } }] }],
};

let store: MemoryBook;
let book: CampaignBook;
let background: Promise<unknown>[];

beforeEach(() => {
	store = memoryBook(ENTRIES);
	book = new CampaignBook(store, { snapshotTtlMs: 15_000 });
	background = [];
	vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
	vi.useRealTimers();
	vi.restoreAllMocks();
});

function hold(request: Partial<AuctionRequest> = {}, tmaxMs: number | null = null, identity = "acme_rtb"): Promise<Decision> {
	return Promise.resolve(holdAt(NOW, request, tmaxMs, identity));
}

/** At once where nothing is waited for. */
function holdAt(
	now: number,
	request: Partial<AuctionRequest> = {},
	tmaxMs: number | null = null,
	identity = "acme_rtb",
): Decision | Promise<Decision> {
	const deps = { book, now, waitUntil: (promise: Promise<unknown>) => void background.push(promise) };
	const find = (snapshot: BookSnapshot) => findByOpenRtbIdentity(snapshot, identity, now);
	return holdAuction(deps, auctionRequest({ domain: "shop.example", ...request }), find, tmaxMs);
}

const noBid = (reason: string) => ({ outcome: "no-bid", reason });

describe("unit: which advertiser a request names", () => {
	test.each([
		["the very host", "shop.example", "shop.example"],
		["a spelling of it", "HTTPS://www.Shop.Example:443/sale", "shop.example"],
		["an alias", "alias.example", "shop.example"],
		["a subdomain of an alias", "m.alias.example", "shop.example"],
		["a subdomain", "a.b.shop.example", "shop.example"],
		["a subdomain that is a brand itself", "sub.shop.example", "sub.shop.example"],
		["the nearest parent", "x.sub.shop.example", "sub.shop.example"],
	])("%s: %s is %s", async (_, domain, advertiser) => {
		expect(await hold({ domain })).toMatchObject({ outcome: "bid", brand: { domain: advertiser } });
	});

	test("the best campaign that has an entry for the keyword, where there is no domain", async () => {
		expect(await hold({ domain: null, keyword: "boots" })).toMatchObject({
			outcome: "bid",
			price: 2500,
			brand: { domain: "boots.example" },
		});
		expect(await hold({ domain: null, keyword: "hats" })).toEqual(noBid("unknown_advertiser"));
	});

	test("none where the domain is unknown, whatever the keyword", async () => {
		for (const domain of ["unknown.example", "example", "not a host", "192.0.2.1"]) {
			expect(await hold({ domain, keyword: "boots" })).toEqual(noBid("unknown_advertiser"));
		}
	});

	test("none for a publisher that is unknown or not enabled", async () => {
		expect(await hold({}, null, "nobody")).toEqual(noBid("publisher_not_enabled"));
	});
});

describe("unit: reads of KV", () => {
	test("the first bid of a cold isolate takes two at most, and the next ones none", async () => {
		await hold({ domain: "x.sub.shop.example" });
		expect(store.reads.length).toBeLessThanOrEqual(2);
		const { length } = store.reads;
		await hold({ domain: "shop.example" });
		await hold({ domain: "y.shop.example" });
		expect(store.reads).toHaveLength(length);
	});

	test("one that fails while nothing is loaded gives no bid", async () => {
		store.before = () => Promise.reject(new Error("KV is down"));
		expect(await hold()).toEqual(noBid("book_unavailable"));
	});

	test("a missing manifest gives no bid", async () => {
		store.values.clear();
		expect(await hold()).toEqual(noBid("book_unavailable"));
	});

	test("a shard that is missing, or of an unknown format, gives no bid from half a book", async () => {
		for (const [key] of [...store.values].filter(([key]) => key.startsWith("book:s:"))) store.values.set(key, "book 2\n");
		expect(await hold()).toEqual(noBid("book_unavailable"));
		for (const [key] of [...store.values].filter(([key]) => key.startsWith("book:s:"))) store.values.delete(key);
		expect(await hold()).toEqual(noBid("book_unavailable"));
	});

	test("a broken entry gives no bid", async () => {
		for (const [key, text] of [...store.values].filter(([key]) => key.startsWith("book:s:")))
			store.values.set(key, text.replaceAll("[{", "[{{"));
		expect(await hold()).toEqual(noBid("book_unavailable"));
	});

	test("one that fails later leaves the last good book", async () => {
		expect((await hold()).outcome).toBe("bid");
		store.before = () => Promise.reject(new Error("KV is down"));
		expect((await hold()).outcome).toBe("bid");
	});
});

describe("unit: tmax", () => {
	test("a cold book that comes too late is no bid in time, is loaded in the background, and bids the next time", async () => {
		const gate = Promise.withResolvers<void>();
		store.before = () => gate.promise;
		vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
		let decision: Decision | null = null;
		const held = hold({}, 60).then((made) => {
			decision = made;
		});
		await vi.advanceTimersByTimeAsync(49);
		expect(decision).toBeNull();
		await vi.advanceTimersByTimeAsync(1);
		expect(decision).toEqual(noBid("timed_out"));
		await held;
		gate.resolve();
		await Promise.all(background);
		store.before = () => Promise.reject(new Error("no more reads"));
		expect((await hold({}, 60)).outcome).toBe("bid");
	});

	test("a cold book that comes in time bids", async () => {
		expect((await hold({}, 500)).outcome).toBe("bid");
	});

	test("the shortest one never stops a bid that needs no waiting", async () => {
		await hold();
		expect((await hold({}, 0.001)).outcome).toBe("bid");
	});

	test("without one, a cold lookup waits for a second at most", async () => {
		vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
		store.before = () => new Promise(() => {});
		const decision = hold();
		await vi.advanceTimersByTimeAsync(1_000);
		expect(await decision).toEqual(noBid("timed_out"));
	});
});

describe("unit: a KV that says nothing, while there is a book in memory", () => {
	const silence = () => new Promise<never>(() => {});

	test("holds up no bid of an isolate that goes on bidding, however long it lasts; then the book is read again", async () => {
		await hold();
		store.before = silence;
		const end = NOW + 3_600_000;
		for (let now = NOW; now < end; now += 5_000) expect([now - NOW, holdAt(now)]).toMatchObject([now - NOW, { outcome: "bid" }]);
		store.before = async () => {};
		const { length } = store.reads;
		for (let now = end; now < end + 60_000; now += 5_000) holdAt(now);
		expect(store.reads.length).toBeGreaterThan(length);
	});

	test("holds up the first bid after a long sleep for half a second, and none behind it", async () => {
		await hold();
		store.before = silence;
		vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
		const later = NOW + 3_600_000;
		const [bid, hurried] = [holdAt(later), holdAt(later, {}, 100)];
		await vi.advanceTimersByTimeAsync(90);
		expect(await hurried).toEqual(noBid("timed_out"));
		await vi.advanceTimersByTimeAsync(410);
		expect(await bid).toMatchObject({ outcome: "bid" });
		expect(holdAt(later + 500)).toMatchObject({ outcome: "bid" });
	});
});
