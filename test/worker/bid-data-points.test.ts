/** One data point for each decision of the two real-time endpoints, and nothing personal in it. */
import { beforeEach, describe, expect, test } from "vitest";
import type { BiddingDeps } from "../../src/bidding/deps.ts";
import { routeBid } from "../../src/bidding/routes.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import type { DataPoint } from "../../src/lib/measure.ts";
import { memoryBook } from "../support/memory-book.ts";

const points: DataPoint[] = [];

function endpoints(): BiddingDeps {
	const store = memoryBook({ "d shoes.example": [{ i: 1, d: "shoes.example", c: [{ i: 5001, o: "US", h: 1, e: 420_000 }] }] });
	return {
		book: new CampaignBook(store, { snapshotTtlMs: 15_000 }),
		tokens: new ClickTokens(["secret-00000000000000000000000000000"]),
		clickUrl: "https://click.example",
		clickTtlMs: 86_400_000,
		now: () => 1_795_000_000_000,
		measure: (point) => void points.push(point),
	};
}

async function send(request: Request): Promise<number> {
	const response = await routeBid(endpoints(), request, request.url, () => {});
	await response?.body?.cancel();
	return response?.status ?? 0;
}

function openRtb(body: object): Request {
	const filled = {
		id: "auction-1",
		imp: [{ id: "imp-1" }],
		device: { ip: "203.0.113.9", ua: "Mozilla/5.0" },
		user: { id: "user-77" },
		...body,
	};
	return new Request("http://rtb.example/openrtb/acme_rtb", { method: "POST", body: JSON.stringify(filled) });
}

describe("worker: data points of bids", () => {
	beforeEach(() => void points.splice(0));

	test("a bid is counted with its price in micro-dollars", async () => {
		expect(await send(openRtb({ site: { domain: "shoes.example" } }))).toBe(200);
		expect(points).toEqual([
			{ event: "bid", publisher: "acme_rtb", outcome: "homepage", channel: "openrtb", amountMicros: expect.any(Number) },
		]);
		expect(points[0]?.amountMicros).toBeGreaterThan(0);
	});

	test("a no-bid is counted with its reason, before the auction too", async () => {
		expect(await send(openRtb({ site: { domain: "unknown.example" } }))).toBe(204);
		expect(await send(openRtb({ site: { domain: "shoes.example" }, device: { geo: { country: "DE" } } }))).toBe(204);
		expect(points.map(({ event, outcome }) => [event, outcome])).toEqual([
			["no-bid", "unknown_advertiser"],
			["no-bid", "country_not_served"],
		]);
	});

	test("the Serving Engine counts its decisions as its own channel", async () => {
		await send(new Request("http://rtb.example/serving-engine?pubi=nobody&bd=shoes.example&cc=US"));
		expect(points).toEqual([{ event: "no-bid", publisher: "", outcome: "publisher_not_enabled", channel: "serving-engine" }]);
	});

	test("no point holds an address, a user agent or a user id", async () => {
		await send(openRtb({ site: { domain: "shoes.example" } }));
		expect(JSON.stringify(points)).not.toMatch(/203\.0\.113|Mozilla|user-77/);
	});
});
