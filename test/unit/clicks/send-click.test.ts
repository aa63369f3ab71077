import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ClickBatches } from "../../../src/clicks/click-batches.ts";
import { RecentVisits } from "../../../src/clicks/recent-visits.ts";
import { MAX_RECORDING_MS, recordClick } from "../../../src/clicks/record-click.ts";
import { ClickSender } from "../../../src/clicks/send-click.ts";
import { BID_CLICK } from "../../support/bid-click.ts";

let logged: string[];
beforeEach(() => {
	logged = [];
	vi.spyOn(console, "error").mockImplementation((line: string) => void logged.push(JSON.parse(line).event));
});
afterEach(() => {
	vi.restoreAllMocks();
});

describe("unit: how often a click is tried to be sent", () => {
	/** Sends a click where the queue and KV refuse the first tries; tells what was tried, and the waits between. */
	async function send(refused: { queue: number; kept: boolean }): Promise<string[]> {
		const steps: string[] = [];
		const sender = new ClickSender({
			queue: {
				send: async () => {
					steps.push("queue");
					if (refused.queue-- > 0) throw new Error("the queue is down");
				},
			},
			batches: {
				keep: async (click) => {
					steps.push("kept");
					expect(click).toEqual(BID_CLICK);
					if (refused.kept) throw new Error("KV is down");
				},
			},
			pause: async (milliseconds) => void steps.push(`${milliseconds} ms`),
		});
		await sender.send(BID_CLICK);
		return steps;
	}

	test("once where the queue takes it", async () => {
		expect(await send({ queue: 0, kept: false })).toEqual(["queue"]);
		expect(logged).toEqual([]);
	});

	test("three times in the queue", async () => {
		expect(await send({ queue: 2, kept: false })).toEqual(["queue", "100 ms", "queue", "1000 ms", "queue"]);
		expect(logged).toEqual([]);
	});

	test("then it is kept in KV", async () => {
		expect((await send({ queue: 3, kept: false })).slice(5)).toEqual(["kept"]);
		expect(logged).toEqual(["click.queue_refused"]);
	});

	test("and is told to be lost where KV does not take it either", async () => {
		expect((await send({ queue: 3, kept: true })).filter((step) => step === "kept")).toHaveLength(1);
		expect(logged).toEqual(["click.queue_refused", "click.lost"]);
	});

	test("why the queue refuses is told once a minute, each click that is lost for itself", async () => {
		const sender = new ClickSender({
			queue: { send: () => Promise.reject(new Error("Queue send failed: Internal Server Error")) },
			batches: { keep: () => Promise.reject(new Error("KV is down")) },
			pause: async () => {},
		});
		for (let n = 0; n < 3; n++) await sender.send(BID_CLICK);
		expect(logged).toEqual(["click.queue_refused", "click.lost", "click.lost", "click.lost"]);
	});
});

describe("unit: a click that something keeps waiting", () => {
	const never = () => new Promise<never>(() => {});
	const wait = (milliseconds: number) => new Promise<void>((resolve) => void setTimeout(resolve, milliseconds));
	/** What the runtime gives work after an answer. */
	const WAIT_UNTIL_MS = 30_000;

	beforeEach(() => void vi.useFakeTimers());
	afterEach(() => void vi.useRealTimers());

	/** Records a click with these parts; `after` tells how many milliseconds it took. */
	async function record(parts: { send: () => Promise<unknown>; put?: () => Promise<void>; limit?: () => Promise<never> }) {
		const put = vi.fn(parts.put ?? (async () => {}));
		const token = parts.limit === undefined ? undefined : { limit: parts.limit };
		const startedAt = Date.now();
		const recorded = recordClick(
			{
				sender: new ClickSender({ queue: { send: parts.send }, batches: new ClickBatches({ put }, wait), pause: wait }),
				connectionKey: "key",
				limits: { address: undefined, token, stripped: undefined },
				visits: new RecentVisits(),
			},
			{ ...BID_CLICK },
			{ userAgent: null, connection: null },
			null,
		).then(() => Date.now() - startedAt);
		await vi.advanceTimersByTimeAsync(WAIT_UNTIL_MS * 4);
		return { put, after: await recorded };
	}

	test("a send that hangs for a minute is given up after three seconds and a quarter, and KV keeps the click", async () => {
		const send = vi.fn(() => wait(57_000));
		const { put, after } = await record({ send });
		// And those that a batch waits for company.
		expect(after).toBe(3_250 + 2_000);
		expect(put).toHaveBeenCalledOnce();
		expect(send).toHaveBeenCalledOnce();
		expect(logged).toEqual(["click.queue_refused"]);
	});

	test("a queue that throws at once is one that refuses", async () => {
		const send = vi.fn(() => {
			throw new Error("away");
		});
		const { put } = await record({ send });
		expect(send).toHaveBeenCalledTimes(3);
		expect(put).toHaveBeenCalledOnce();
		expect(logged).toEqual(["click.queue_refused"]);
	});

	test("refusals that come late are not repeated once KV has the click", async () => {
		const send = vi.fn(() => wait(3_200).then(() => Promise.reject(new Error("away"))));
		expect((await record({ send })).put).toHaveBeenCalledOnce();
		expect(send).toHaveBeenCalledOnce();
		expect(logged).toEqual(["click.queue_refused"]);
	});

	test("a last try that hangs, and refuses once KV has the click, keeps it no second time", async () => {
		let tries = 0;
		const send = vi.fn(() =>
			++tries < 3 ? Promise.reject(new Error("away")) : wait(10_000).then(() => Promise.reject(new Error("away"))),
		);
		expect((await record({ send })).put).toHaveBeenCalledOnce();
		expect(send).toHaveBeenCalledTimes(3);
		expect(logged).toEqual(["click.queue_refused"]);
	});

	test("is not done before KV has what the queue refuses", async () => {
		const { after } = await record({ send: () => Promise.reject(new Error("away")), put: () => wait(700) });
		// The tries' pauses, those that a batch waits for company, and KV.
		expect(after).toBe(100 + 1_000 + 2_000 + 700);
	});

	test("where nothing ever answers, the log still has it before the runtime ends the request", async () => {
		const { after } = await record({ send: never, put: never, limit: never });
		expect(after).toBeLessThanOrEqual(MAX_RECORDING_MS);
		expect(MAX_RECORDING_MS).toBeLessThan(WAIT_UNTIL_MS - 1_000);
		expect(logged).toEqual(["click.queue_refused", "click.lost"]);
	});
});

describe("unit: clicks that share a timer", () => {
	beforeEach(() => void vi.useFakeTimers({ now: 1_000 }));
	afterEach(() => void vi.useRealTimers());

	/** Sends clicks by their ids to a queue that takes what is named so, and hangs on the rest until it is let go. */
	function sending(takes: (id: string) => boolean) {
		const kept: string[] = [];
		const ended: string[] = [];
		const waiting = new Map<string, PromiseWithResolvers<void>>();
		const sender = new ClickSender({
			queue: {
				send({ id }) {
					if (takes(id)) return Promise.resolve();
					const hanging = Promise.withResolvers<void>();
					waiting.set(id, hanging);
					return hanging.promise;
				},
			},
			batches: { keep: async ({ id }) => void kept.push(`${id} at ${Date.now() - 1_000}`) },
			pause: (milliseconds) => new Promise((resolve) => void setTimeout(resolve, milliseconds)),
		});
		const send = (id: string) => {
			const done = sender.send({ ...BID_CLICK, id, at: Date.now() });
			return done.then(() => void ended.push(id));
		};
		return { kept, ended, waiting, send };
	}

	test("a thousand of a quarter of a second take one, and none longer than it needs", async () => {
		const { ended, send } = sending(() => true);
		const first = send("first");
		for (let at = 0; at < 999; at++) void send(`click-${at}`);
		expect(vi.getTimerCount()).toBe(1);
		await vi.advanceTimersByTimeAsync(0);
		expect(ended).toHaveLength(999);
		await vi.advanceTimersByTimeAsync(250);
		await first;
		expect(vi.getTimerCount()).toBe(0);
	});

	test("those that hang among others are kept, each once, and the others are not", async () => {
		const { kept, ended, waiting, send } = sending((id) => !id.startsWith("hangs"));
		for (let at = 0; at < 20; at++) {
			void send(at % 3 === 0 ? `hangs-${at}` : `goes-${at}`);
			await vi.advanceTimersByTimeAsync(10);
		}
		await vi.advanceTimersByTimeAsync(1_000);
		// Two come late, but in time.
		waiting.get("hangs-3")?.resolve();
		waiting.get("hangs-18")?.resolve();
		await vi.advanceTimersByTimeAsync(10_000);
		expect(kept.sort()).toEqual(["hangs-0", "hangs-12", "hangs-15", "hangs-6", "hangs-9"].map((id) => `${id} at 3250`));
		expect(ended).toHaveLength(20);
		for (const { resolve } of waiting.values()) resolve();
		await vi.advanceTimersByTimeAsync(10_000);
		expect(kept).toHaveLength(5);
	});

	test("the first waits for one that joined it, and no longer", async () => {
		const { ended, waiting, send } = sending((id) => id === "first");
		void send("first");
		await vi.advanceTimersByTimeAsync(249);
		void send("slow");
		await vi.advanceTimersByTimeAsync(1_000);
		expect(ended).toEqual([]);
		waiting.get("slow")?.resolve();
		await vi.advanceTimersByTimeAsync(0);
		expect(ended.sort()).toEqual(["first", "slow"]);
	});

	test("a click that comes later has a timer of its own", async () => {
		const { kept, send } = sending(() => false);
		void send("first");
		await vi.advanceTimersByTimeAsync(250);
		void send("second");
		await vi.advanceTimersByTimeAsync(20_000);
		expect(kept).toEqual(["first at 3250", "second at 3500"]);
	});

	test("one whose request's clock is behind joins no round that has closed", async () => {
		const { kept, send } = sending(() => false);
		void send("first");
		await vi.advanceTimersByTimeAsync(250);
		vi.setSystemTime(1_100);
		void send("behind");
		await vi.advanceTimersByTimeAsync(20_000);
		expect(kept.map((text) => text.split(" ")[0])).toEqual(["first", "behind"]);
	});

	test("where the request that waits for them is gone, the next one that waits keeps them", async () => {
		const { kept, send } = sending(() => false);
		void send("first");
		void send("joins");
		// As when a request ends: its timers do, too.
		vi.clearAllTimers();
		await vi.advanceTimersByTimeAsync(60_000);
		expect(kept).toEqual([]);
		void send("next");
		await vi.advanceTimersByTimeAsync(0);
		expect(kept).toEqual(["first at 60000", "joins at 60000"]);
		await vi.advanceTimersByTimeAsync(20_000);
		expect(kept.slice(2)).toEqual(["next at 63250"]);
	});
});
