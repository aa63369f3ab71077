/** Bids while there is no campaign book, or none that can be read: no fill, and never a 5xx. */
import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { setNow } from "../support/load-network.ts";
import { postBid } from "../support/post-bid.ts";

const BID = '{"id":"auction-1","imp":[{"id":"imp-1"}],"site":{"domain":"shoes.example"}}';

afterEach(() => {
	vi.useRealTimers();
	vi.restoreAllMocks();
});

async function expectNoBid(): Promise<void> {
	const bid = await postBid(BID);
	expect(bid.status).toBe(204);
	expect(bid.headers.get("x-openrtb-version")).toBe("2.5");
	const ad = await exports.default.fetch("http://rtb.example/serving-engine?pubi=1001&bd=shoes.example&cc=US");
	expect(ad.status).toBe(200);
	expect(await ad.json()).toEqual({ status: 0 });
}

describe("worker: there is no bid", () => {
	test("before anything was published, and requests that are wrong are still the 400", async () => {
		await expectNoBid();
		const invalid = await postBid("{}");
		expect(invalid.status).toBe(400);
		expect(await invalid.json()).toEqual({ error: "Invalid OpenRTB bid request" });
	});

	test.each([
		["is no JSON", "book"],
		["is of a later format", '{"format":2,"version":1,"publishedAt":1,"bits":0,"shards":"aaaaaaaaaaaa","publishers":[]}'],
		["is cut short", '{"format":1,"version":1,"publishedAt":1,"bits":1,"shards":"aaaaaaaaaaaa","publishers":[]}'],
	])("from a manifest that %s", async (_, manifest) => {
		await env.BOOK.put("book:manifest", manifest);
		await expectNoBid();
	});

	test("from a manifest that names a shard which is not there; once it is, the same isolate bids, whatever spoils the manifest", async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		const publisher = { id: "acme", pubi: "1001", rtb: "acme_rtb", identity: "acme_rtb", share: 800_000 };
		const manifest = { format: 1, version: 1, publishedAt: 1, bits: 0, shards: "aaaaaaaaaaaa", publishers: [publisher] };
		await env.BOOK.put("book:manifest", JSON.stringify(manifest));
		await expectNoBid();

		const brand = { i: 1, d: "shoes.example", c: [{ i: 5001, o: "US", h: "https://t.example/", e: 420_000 }] };
		await env.BOOK.put("book:s:0:0:aaaaaaaaaaaa", `book 1\nd shoes.example\t${JSON.stringify([brand])}\n`);
		await expectBid();

		await env.BOOK.put("book:manifest", '{"format":9}');
		setNow("2030-01-01T00:00:00Z");
		await expectBid();
	});
});

async function expectBid(): Promise<void> {
	const bid = await postBid(BID);
	expect(bid.status).toBe(200);
	expect(await bid.json()).toMatchObject({ seatbid: [{ seat: "acme_rtb", bid: [{ price: 0.336 }] }] });
}
