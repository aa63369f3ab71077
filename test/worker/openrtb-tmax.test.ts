/** The time an auction gives, from the request's tmax to the answer. */
import { describe, expect, test } from "vitest";
import { routeBid } from "../../src/bidding/routes.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { memoryBook } from "../support/memory-book.ts";

function coldEndpoint() {
	const store = memoryBook({ "d shoes.example": [{ i: 1, d: "shoes.example", c: [{ i: 5001, o: "US", h: 1, e: 420_000 }] }] });
	const deps = {
		book: new CampaignBook(store, { snapshotTtlMs: 15_000 }),
		tokens: new ClickTokens(["secret-00000000000000000000000000000"]),
		clickUrl: "https://click.example",
		clickTtlMs: 86_400_000,
		now: () => 1_795_000_000_000,
	};
	const background: Promise<unknown>[] = [];
	async function bid(tmax?: number): Promise<number> {
		const body = JSON.stringify({ id: "auction-1", imp: [{ id: "imp-1" }], site: { domain: "shoes.example" }, tmax });
		const request = new Request("http://rtb.example/openrtb/acme_rtb", { method: "POST", body });
		const response = await routeBid(deps, request, request.url, (promise) => background.push(promise));
		if (response === null) throw new Error("the path was not taken for a bid request");
		await response.body?.cancel();
		return response.status;
	}
	return { store, background, bid };
}

const MS = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

describe("worker: tmax", () => {
	test("a cold book that takes longer than tmax is 204, is loaded in the background, and bids the next time", async () => {
		const { store, background, bid } = coldEndpoint();
		store.before = () => MS(150);
		expect(await bid(50)).toBe(204);
		await Promise.all(background);
		store.before = () => Promise.reject(new Error("no more reads"));
		expect(await bid(50)).toBe(200);
	});

	test("a cold book that comes within tmax, or within a second where there is none, bids", async () => {
		for (const tmax of [900, undefined]) {
			const { store, bid } = coldEndpoint();
			store.before = () => MS(100);
			expect(await bid(tmax)).toBe(200);
		}
	});
});
