/** Callbacks of publishers whose addresses answer slowly, and everyone else's, on a clock that goes on while answers are waited for. */
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runQueue } from "../../../src/background.ts";
import { CallTimes } from "../../../src/callbacks/call-times.ts";
import { consumeCallbacks } from "../../../src/callbacks/consume-callbacks.ts";
import { callbackMessage } from "../../../src/callbacks/message.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { batchOf, Outbox, START } from "../../support/callback-outbox.ts";
import { ON_BOTH, ON_D1 } from "../../support/engine.ts";

const SIDE_BY_SIDE = ON_D1 || ON_BOTH ? 6 : 5;

/** Receivers that answer after a while of the clock, by host; it goes on once all that work side by side wait for one, or have ended. */
class Receivers {
	readonly called: { host: string; at: number }[] = [];
	readonly #answerMs: (host: string, calls: number) => number;
	readonly outbox: Outbox;
	#waiting: { until: number; answer: () => void }[] = [];
	#ended = 0;

	/** @param answerMs by host, and how many calls there were of it, this one included */
	constructor(answerMs: (host: string, calls: number) => number, changes: ConstructorParameters<typeof Outbox>[0] = {}) {
		this.#answerMs = answerMs;
		this.outbox = new Outbox({ fetch: (url) => this.fetch(url), ...changes });
	}

	async fetch(url: string): Promise<Response> {
		const { host } = new URL(url);
		this.called.push({ host, at: this.outbox.now - START });
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#waiting.push({ until: this.outbox.now + this.#answerMs(host, this.timesOf(host).length), answer: resolve });
		this.#goOn();
		await promise;
		return new Response("stored");
	}

	/** A batch that says when one of those that work at it finds no more. */
	batch(ids: readonly string[], retried: string[] = []): MessageBatch {
		this.#ended = 0;
		const batch = batchOf(ids.map(callbackMessage), retried);
		const messages = [...batch.messages];
		const next = () => {
			const message = messages.shift();
			if (message === undefined) this.#ended++;
			this.#goOn();
			return message === undefined ? { done: true, value: undefined } : { done: false, value: message };
		};
		Object.assign(batch.messages, { [Symbol.iterator]: () => ({ next }) });
		return batch;
	}

	/** Callbacks of a new publisher at a host of its name. */
	async add(host: string, count: number): Promise<string[]> {
		await this.outbox.addPublisher(host, `https://${host}/`);
		return this.outbox.addMany(host, count, false);
	}

	timesOf(host: string): number[] {
		return this.called.filter((call) => call.host === host).map(({ at }) => at);
	}

	#goOn(): void {
		if (this.#waiting.length === 0 || this.#waiting.length + this.#ended < SIDE_BY_SIDE) return;
		this.outbox.now = Math.min(...this.#waiting.map(({ until }) => until));
		const isOver = ({ until }: { until: number }) => until <= this.outbox.now;
		const over = this.#waiting.filter(isOver);
		this.#waiting = this.#waiting.filter((call) => !isOver(call));
		for (const { answer } of over) answer();
	}
}

/** Taken from several lists in turn. */
function inTurn(lists: readonly string[][]): string[] {
	return Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, at) =>
		lists.flatMap((ids) => ids.slice(at, at + 1)),
	).flat();
}

afterEach(() => {
	vi.restoreAllMocks();
});

describe("worker: slow addresses", () => {
	it.each([1, 2, 3, 5, 20])("%d of them leave connections to others, whose messages stand behind 300 of theirs", async (publishers) => {
		const quick = `quick-beside-${publishers}.example`;
		const receivers = new Receivers((host) => (host === quick ? 50 : 9_000));
		const lists: string[][] = [];
		for (let at = 0; at < publishers; at++) lists.push(await receivers.add(`slow-${at}-of-${publishers}.example`, 300 / publishers));
		const messages = [...inTurn(lists), ...(await receivers.add(quick, 1))];
		const times = new CallTimes();
		while (messages.length > 0) await consumeCallbacks(receivers.outbox.deps, receivers.batch(messages.splice(0, 100)), times);
		expect(receivers.timesOf(quick)).toHaveLength(1);
		expect(receivers.timesOf(quick)[0]).toBeLessThan(60_000);
	});

	it("put nothing aside of one that answers quickly, but for one call in its time", async () => {
		const receivers = new Receivers((host, calls) => (host === "steady.example" && calls !== 9 ? 50 : 9_900));
		const slow = [await receivers.add("slow-one.example", 90), await receivers.add("slow-other.example", 90)];
		const messages = inTurn([...slow, await receivers.add("steady.example", 90)]);
		const times = new CallTimes();
		while (messages.length > 0) await consumeCallbacks(receivers.outbox.deps, receivers.batch(messages.splice(0, 90)), times);
		expect(receivers.timesOf("steady.example")).toHaveLength(90);
		expect(receivers.called.length).toBeLessThan(90 + 40);
	});

	it("are none where each call takes just under a second, but of those, too, one publisher's leave half of a minute to others", async () => {
		const receivers = new Receivers((host) => (host === "brisk.example" ? 900 : 50));
		const messages = [...(await receivers.add("brisk.example", 600)), ...(await receivers.add("behind-brisk.example", 1))];
		const times = new CallTimes();
		while (messages.length > 0) await consumeCallbacks(receivers.outbox.deps, receivers.batch(messages.splice(0, 100)), times);
		expect(receivers.timesOf("brisk.example").length).toBeGreaterThanOrEqual(200);
		expect(receivers.timesOf("behind-brisk.example")[0]).toBeLessThan(60_000);
	});

	it("that are known, and whose messages stand together, leave connections to others, too", async () => {
		const quick = "quick-behind-known.example";
		const receivers = new Receivers((host) => (host === quick ? 50 : 9_000));
		const times = new CallTimes();
		const consume = (ids: string[]) => consumeCallbacks(receivers.outbox.deps, receivers.batch(ids), times);
		const lists: string[][] = [];
		for (let at = 0; at < 20; at++) lists.push(await receivers.add(`known-${at}.example`, 16));
		await consume(lists.map(([first = ""]) => first));
		receivers.outbox.now = START + 120_000;
		const messages = [...lists.flatMap((ids) => ids.slice(1)), ...(await receivers.add(quick, 1))];
		while (messages.length > 0) await consume(messages.splice(0, 100));
		// Of five connections, over the end of a minute, which begins anew. All of theirs take more than seven minutes.
		expect(receivers.timesOf(quick)[0]).toBeLessThan(120_000 + 150_000);
	});

	it("have a call a minute of their own, however many of another's are before it: also one that was slow but once", async () => {
		const receivers = new Receivers((host, calls) => (host === "hog.example" ? 9_000 : calls === 1 ? 1_500 : 50));
		const times = new CallTimes();
		const consume = (ids: string[]) => consumeCallbacks(receivers.outbox.deps, receivers.batch(ids), times);
		const hogs = await receivers.add("hog.example", 120);
		const [first = "", ...others] = await receivers.add("once-slow.example", 3);
		await consume([first]);
		for (const [minute, id] of others.entries()) {
			receivers.outbox.now = START + (minute + 1) * 60_000;
			await consume([...hogs.splice(0, 60), id]);
		}
		expect(receivers.timesOf("once-slow.example")).toHaveLength(3);
	});

	it("are called, too, where it cannot be read whose callbacks a batch has", async () => {
		const db = openDatabase(env.DB);
		const broken = Object.assign(Object.create(db), { all: () => Promise.reject(new Error("D1 is away")) });
		const receivers = new Receivers(() => 9_000, { db: broken });
		const retried: string[] = [];
		await consumeCallbacks(receivers.outbox.deps, receivers.batch(await receivers.add("unread.example", 60), retried));
		expect(retried).toEqual([]);
		expect(receivers.called).toHaveLength(60);
	});

	it("are remembered from batch to batch of the queue", async () => {
		const receivers = new Receivers((host) => (host === "slow-in-queue.example" ? 9_000 : 50));
		vi.spyOn(Date, "now").mockImplementation(() => receivers.outbox.now);
		vi.spyOn(globalThis, "fetch").mockImplementation((url) => receivers.fetch(String(url)));
		const slow = await receivers.add("slow-in-queue.example", 60);
		await runQueue(receivers.batch(slow.slice(0, 40)), env as never);
		const before = receivers.called.length;
		expect(before).toBeLessThan(40);
		await runQueue(receivers.batch([...slow.slice(40), ...(await receivers.add("quick-in-queue.example", 1))]), env as never);
		expect(receivers.called.slice(before).map(({ host }) => host)).toEqual(["quick-in-queue.example"]);
	});
});
