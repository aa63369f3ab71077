/** Clicks that are kept together: none is given up before KV has it, and none rests on another request. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ClickBatches, type KeptStore, MAX_KEEPING_MS } from "../../../src/clicks/click-batches.ts";
import type { ClickMessage } from "../../../src/clicks/message.ts";

function click(id: string, keyword = ""): ClickMessage {
	return {
		...{ format: 1, id, at: 1_000, hash: "0123456789abcdef0123456789abcdef", kind: "openrtb", publisher: "acme_rtb" },
		...{ brandId: 1, campaignId: 5001, keyword },
	};
}

/** KV whose receipts come when the test says so. */
class SlowKv implements KeptStore {
	readonly puts: { key: string; ids: string[]; count: number; resolve: () => void; reject: (error: Error) => void }[] = [];

	put(key: string, value: string, { metadata }: { metadata: { count: number } }): Promise<void> {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const read = [JSON.parse(value)].flat() as ClickMessage[];
		this.puts.push({ key, ids: read.map(({ id }) => id), count: metadata.count, resolve, reject });
		return promise;
	}
}

describe("unit: keeping clicks together", () => {
	let kv: SlowKv;
	let batches: ClickBatches;
	let ended: string[];
	const pause = (milliseconds: number) => new Promise<void>((resolve) => void setTimeout(resolve, milliseconds));
	const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

	beforeEach(() => {
		vi.useFakeTimers();
		kv = new SlowKv();
		batches = new ClickBatches(kv, pause);
		ended = [];
	});
	afterEach(() => {
		vi.useRealTimers();
	});

	function keep(id: string, keyword?: string): void {
		batches.keep(click(id, keyword)).then(
			() => void ended.push(id),
			() => void ended.push(`${id} lost`),
		);
	}

	test("those of two seconds go under one key, and none ends before KV has it", async () => {
		keep("a");
		await pass(1_900);
		keep("b");
		await pass(100);
		expect(kv.puts).toMatchObject([{ key: "click:batch:a", ids: ["a", "b"], count: 2 }]);
		expect(ended).toEqual([]);
		keep("c");
		kv.puts[0]?.resolve();
		await pass(0);
		expect(ended).toEqual(["a", "b"]);
		await pass(2_000);
		expect(kv.puts[1]).toMatchObject({ key: "click:batch:c", ids: ["c"] });
	});

	test("a full batch goes at once, beside the one before: no key is written twice", async () => {
		const long = "x".repeat(60_000);
		for (const id of ["a", "b", "c", "d", "e", "f", "g"]) keep(id, long);
		await pass(0);
		expect(kv.puts.map(({ ids }) => ids)).toEqual([
			["a", "b", "c"],
			["d", "e", "f"],
		]);
		for (const { resolve } of kv.puts) resolve();
		await pass(2_000);
		expect(kv.puts.map(({ key }) => key)).toEqual(["click:batch:a", "click:batch:d", "click:batch:g"]);
	});

	test("what KV refuses is tried three times, with more than a second between, and then each click once by itself", async () => {
		keep("a");
		keep("b");
		await pass(2_000);
		kv.puts[0]?.reject(new Error("KV is down"));
		await pass(1_099);
		expect(kv.puts).toHaveLength(1);
		await pass(1);
		kv.puts[1]?.reject(new Error("KV is down"));
		await pass(3_000);
		kv.puts[2]?.reject(new Error("KV is down"));
		await pass(0);
		expect(ended).toEqual(["a lost"]);
		expect(kv.puts[3]).toMatchObject({ key: "click:kept:b", ids: ["b"] });
		kv.puts[3]?.resolve();
		await pass(0);
		expect(ended).toEqual(["a lost", "b"]);
	});

	test("where the request that leads a batch is gone, the others keep theirs themselves", async () => {
		// A request that is ended runs no further: its timers never fire.
		vi.stubGlobal("setTimeout", () => 0);
		keep("gone");
		vi.unstubAllGlobals();
		keep("b");
		await pass(MAX_KEEPING_MS - 3_000);
		expect(kv.puts).toMatchObject([{ key: "click:kept:b", ids: ["b"] }]);
		kv.puts[0]?.resolve();
		await pass(0);
		expect(ended).toEqual(["b"]);
		keep("c");
		await pass(2_000);
		expect(kv.puts[1]).toMatchObject({ key: "click:batch:c", ids: ["c"] });
	});

	test("where KV never answers, all end in time", async () => {
		keep("a");
		keep("b");
		await pass(MAX_KEEPING_MS);
		expect(ended.sort()).toEqual(["a lost", "b lost"]);
	});
});
