/** `openrtb.nbr` where the publisher is known and its campaigns are not: late, or unreadable. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { routeBid } from "../../src/bidding/routes.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { ACME, memoryBook } from "../support/memory-book.ts";

const KEY = "access-key-of-acme";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
	vi.useRealTimers();
	vi.restoreAllMocks();
});

/** An endpoint whose book has no shards in memory; `ask` answers with status and code of a test by the publisher's key. */
async function endpointWithoutShards() {
	const publisher = { ...ACME, o: { nbr: true } as const, k: [{ h: await sha256Hex(KEY) }] };
	const store = memoryBook({ "d shoes.example": [{ i: 1, d: "shoes.example", c: [{ i: 5001, o: "US", h: 1, e: 420_000 }] }] }, [publisher]);
	const deps = {
		book: new CampaignBook(store, { snapshotTtlMs: 15_000 }),
		tokens: new ClickTokens(["secret-00000000000000000000000000000"]),
		clickUrl: "https://click.example",
		clickTtlMs: 86_400_000,
		now: () => 1_795_000_000_000,
	};
	const ask = async (domain: string, tmax?: number): Promise<[number, string | null]> => {
		const body = JSON.stringify({ id: "a", imp: [{ id: "1" }], site: { domain }, test: 1, tmax });
		const request = new Request(`http://rtb.example/openrtb/acme_rtb`, { method: "POST", body, headers: { AccessKey: KEY } });
		const response = await routeBid(deps, request, request.url, () => undefined);
		if (response === null) throw new Error("the path was not taken for a bid request");
		await response.body?.cancel();
		return [response.status, response.headers.get("x-nbr")];
	};
	// The manifest, with its publishers, arrives; what it names does not.
	expect(await ask("nobody")).toEqual([204, "502"]);
	return { store, ask };
}

it("is told 15 where the campaigns are late", async () => {
	const { store, ask } = await endpointWithoutShards();
	const reached = Promise.withResolvers<void>();
	store.before = () => {
		reached.resolve();
		return new Promise(() => undefined);
	};
	const answer = ask("shoes.example", 50);
	await reached.promise;
	await vi.advanceTimersByTimeAsync(40);
	expect(await answer).toEqual([204, "15"]);
});

it("is told 1 where they cannot be read", async () => {
	vi.spyOn(console, "error").mockImplementation(() => {});
	const { store, ask } = await endpointWithoutShards();
	store.before = () => Promise.reject(new Error("KV is away"));
	expect(await ask("shoes.example")).toEqual([204, "1"]);
});
