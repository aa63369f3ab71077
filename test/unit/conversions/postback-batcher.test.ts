import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PostbackMessage, ReceivedPostback } from "../../../src/conversions/message.ts";
import { PostbackBatcher } from "../../../src/conversions/postback-batcher.ts";

function postback(id: string, query = ""): ReceivedPostback {
	const intake = {
		id,
		receivedAt: 0,
		platform: "west",
		method: "GET",
		query,
		txnid: id,
		cid: id,
		outcome: "accepted" as const,
		answer: "{}",
	};
	return { format: 1, kind: "postback", intake, postback: null };
}

/** A queue whose receipts come when the test says so. */
class SlowQueue {
	readonly sends: { ids: string[]; resolve: () => void; reject: (error: Error) => void }[] = [];

	send(message: PostbackMessage): Promise<void> {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const items = message.kind === "together" ? message.items : message.kind === "postback" ? [message] : [];
		this.sends.push({ ids: items.map(({ intake }) => intake.id), resolve, reject });
		return promise;
	}

	get ids(): string[][] {
		return this.sends.map(({ ids }) => ids);
	}
}

describe("unit: sending postbacks together", () => {
	let queue: SlowQueue;
	let sender: PostbackBatcher;
	let got: string[];

	beforeEach(() => {
		vi.useFakeTimers();
		queue = new SlowQueue();
		sender = new PostbackBatcher(queue);
		got = [];
	});
	afterEach(() => {
		vi.useRealTimers();
	});

	function send(id: string, query?: string): Promise<void> {
		return sender
			.send(postback(id, query), () => {})
			.then(
				() => void got.push(id),
				() => void got.push(`${id} failed`),
			);
	}
	const tick = () => vi.advanceTimersByTimeAsync(0);

	test("one alone goes at once; those that come meanwhile go together, and each waits for its own receipt", async () => {
		const all = ["a", "b", "c", "d"].map((id) => send(id));
		await tick();
		expect(queue.ids).toEqual([["a"]]);
		queue.sends[0]?.resolve();
		await tick();
		expect(queue.ids).toEqual([["a"], ["b", "c", "d"]]);
		expect(got).toEqual(["a"]);
		queue.sends[1]?.resolve();
		await Promise.all(all);
		expect(got.sort()).toEqual(["a", "b", "c", "d"]);
	});

	test("where the shared send fails, each sends its own, but for the one that was told", async () => {
		const all = ["a", "b", "c"].map((id) => send(id));
		await tick();
		queue.sends[0]?.resolve();
		await tick();
		queue.sends[1]?.reject(new Error("queue away"));
		await tick();
		expect(queue.ids).toEqual([["a"], ["b", "c"], ["c"]]);
		queue.sends[2]?.resolve();
		await Promise.all(all);
		expect(got.sort()).toEqual(["a", "b failed", "c"]);
	});

	test("one that gets no receipt in time sends itself, and those who come next begin anew", async () => {
		const never = new PostbackBatcher(queue);
		sender = never;
		void send("a");
		void send("b");
		const late = send("c");
		await vi.advanceTimersByTimeAsync(500);
		expect(queue.ids).toEqual([["a"], ["b", "c"], ["c"]]);
		queue.sends[2]?.resolve();
		await late;
		expect(got).toEqual(["c"]);
	});

	test("a queue that does not answer in five seconds has failed", async () => {
		const sent = send("a");
		await vi.advanceTimersByTimeAsync(5_000);
		await sent;
		expect(got).toEqual(["a failed"]);
	});

	test("a message holds fifty at most: one more goes alone", async () => {
		void send("first");
		const company = Array.from({ length: 51 }, (_, at) => String(at));
		for (const id of company) void send(id);
		await tick();
		expect(queue.ids).toEqual([["first"], ["50"]]);
		queue.sends[0]?.resolve();
		await tick();
		expect(queue.ids.at(-1)).toEqual(company.slice(0, 50));
	});

	test("a message stays within the queue's size: what does not fit goes alone", async () => {
		const large = "x".repeat(20_000);
		void send("a");
		for (const id of ["b", "c", "d"]) void send(id, large);
		await tick();
		expect(queue.ids).toEqual([["a"], ["c"], ["d"]]);
		queue.sends[0]?.resolve();
		await tick();
		expect(queue.ids.at(-1)).toEqual(["b"]);
	});
});
