/** The time an auction gives, from the request's tmax to the answer. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { routeBid } from "../../src/bidding/routes.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { type MemoryBook, memoryBook } from "../support/memory-book.ts";

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
	async function bid(tmax?: number, fields: object = {}, identity = "acme_rtb"): Promise<number> {
		const body = JSON.stringify({ id: "auction-1", imp: [{ id: "imp-1" }], site: { domain: "shoes.example" }, tmax, ...fields });
		const headers = { accesskey: "some-key" };
		const request = new Request(`http://rtb.example/openrtb/${identity}`, { method: "POST", headers, body });
		const response = await routeBid(deps, request, request.url, (promise) => background.push(promise));
		if (response === null) throw new Error("the path was not taken for a bid request");
		await response.body?.cancel();
		return response.status;
	}
	return { store, background, bid };
}

/** The clock of timers stands still but where a test moves it: how busy the machine is decides nothing. */
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Holds up every read of the store until it is let go; `reached` settles with the first. */
function holdUp(store: MemoryBook) {
	const reached = Promise.withResolvers<void>();
	const go = Promise.withResolvers<void>();
	store.before = () => {
		reached.resolve();
		return go.promise;
	};
	return { reached: reached.promise, letGo: go.resolve };
}

describe("worker: tmax", () => {
	test("a cold book that takes longer than tmax is 204, is loaded in the background, and bids the next time", async () => {
		const { store, background, bid } = coldEndpoint();
		const { reached, letGo } = holdUp(store);
		const answer = bid(50);
		await reached;
		// Ten of the fifty are for the way back.
		await vi.advanceTimersByTimeAsync(40);
		expect(await answer).toBe(204);
		letGo();
		await Promise.all(background);
		store.before = () => Promise.reject(new Error("no more reads"));
		expect(await bid(50)).toBe(200);
	});

	test.each([
		[900, 889],
		[5_000, 999],
		[undefined, 999],
	])("with a tmax of %s a cold book that comes within %i ms bids, and a millisecond later no more", async (tmax, last) => {
		for (const [waited, status] of [
			[last, 200],
			[last + 1, 204],
		] as const) {
			const { store, bid } = coldEndpoint();
			const { reached, letGo } = holdUp(store);
			const answer = bid(tmax);
			await reached;
			await vi.advanceTimersByTimeAsync(waited);
			letGo();
			expect(await answer).toBe(status);
		}
	});

	test("holds for a test, too, that asks why there is no bid", async () => {
		const { store, bid } = coldEndpoint();
		const { reached } = holdUp(store);
		let status: number | null = null;
		const answer = bid(50, { test: 1, device: { geo: { country: "CAN" } } }).then((given) => {
			status = given;
		});
		await reached;
		await vi.advanceTimersByTimeAsync(39);
		expect(status).toBeNull();
		await vi.advanceTimersByTimeAsync(1);
		expect(status).toBe(204);
		await answer;
	});
});
