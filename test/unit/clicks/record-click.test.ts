import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ClickBatches } from "../../../src/clicks/click-batches.ts";
import type { ClickMessage } from "../../../src/clicks/message.ts";
import { RecentVisits } from "../../../src/clicks/recent-visits.ts";
import { MAX_RECORDING_MS, recordClick } from "../../../src/clicks/record-click.ts";

const CLICK: ClickMessage = {
	format: 1,
	id: "click-1",
	at: 1_000,
	hash: "0123456789abcdef0123456789abcdef",
	kind: "openrtb",
	publisher: "acme_rtb",
	brandId: 1,
	campaignId: 5001,
};

/** Records a click where the queue and KV refuse the first tries; tells what was tried, and the waits between. */
async function record(refused: { queue: number; kept: boolean }): Promise<string[]> {
	const steps: string[] = [];
	await recordClick(
		{
			queue: {
				send: async () => {
					steps.push("queue");
					if (refused.queue-- > 0) throw new Error("the queue is down");
				},
			},
			batches: {
				keep: async (click) => {
					steps.push("kept");
					expect(click).toEqual(CLICK);
					if (refused.kept) throw new Error("KV is down");
				},
			},
			pause: async (milliseconds) => void steps.push(`${milliseconds} ms`),
			connectionKey: "key",
			limits: { address: undefined, token: undefined, stripped: undefined },
			visits: new RecentVisits(),
		},
		CLICK,
		{ userAgent: null, connection: null },
		null,
	);
	return steps;
}

describe("unit: how often a click is tried to be recorded", () => {
	let logged: string[];
	beforeEach(() => {
		logged = [];
		vi.spyOn(console, "error").mockImplementation((line: string) => void logged.push(JSON.parse(line).event));
	});
	afterEach(() => {
		vi.restoreAllMocks();
	});

	test("once where the queue takes it", async () => {
		expect(await record({ queue: 0, kept: false })).toEqual(["queue"]);
		expect(logged).toEqual([]);
	});

	test("three times in the queue", async () => {
		expect(await record({ queue: 2, kept: false })).toEqual(["queue", "100 ms", "queue", "1000 ms", "queue"]);
		expect(logged).toEqual([]);
	});

	test("then it is kept in KV", async () => {
		expect((await record({ queue: 3, kept: false })).slice(5)).toEqual(["kept"]);
		expect(logged).toEqual(["click.queue_refused"]);
	});

	test("and is told to be lost where KV does not take it either", async () => {
		expect((await record({ queue: 3, kept: true })).filter((step) => step === "kept")).toHaveLength(1);
		expect(logged).toEqual(["click.queue_refused", "click.lost"]);
	});
});

describe("unit: a click that something keeps waiting", () => {
	const never = () => new Promise<never>(() => {});
	const wait = (milliseconds: number) => new Promise<void>((resolve) => void setTimeout(resolve, milliseconds));
	/** What the runtime gives work after an answer. */
	const WAIT_UNTIL_MS = 30_000;
	let logged: string[];

	beforeEach(() => {
		vi.useFakeTimers();
		logged = [];
		vi.spyOn(console, "error").mockImplementation((line: string) => void logged.push(JSON.parse(line).event));
	});
	afterEach(() => {
		vi.restoreAllMocks();
		vi.useRealTimers();
	});

	/** Records a click with these parts; `after` tells how many milliseconds it took. */
	async function record(parts: { send: () => Promise<unknown>; put?: () => Promise<void>; limit?: () => Promise<never> }) {
		const put = vi.fn(parts.put ?? (async () => {}));
		const token = parts.limit === undefined ? undefined : { limit: parts.limit };
		const startedAt = Date.now();
		const recorded = recordClick(
			{
				queue: { send: parts.send },
				batches: new ClickBatches({ put }, wait),
				pause: wait,
				connectionKey: "key",
				limits: { address: undefined, token, stripped: undefined },
				visits: new RecentVisits(),
			},
			{ ...CLICK },
			{ userAgent: null, connection: null },
			null,
		).then(() => Date.now() - startedAt);
		await vi.advanceTimersByTimeAsync(WAIT_UNTIL_MS * 4);
		return { put, after: await recorded };
	}

	test("a send that hangs for a minute is given up after three seconds, and KV keeps the click", async () => {
		const send = vi.fn(() => wait(57_000));
		const { put, after } = await record({ send });
		// Three, and those that a batch waits for company.
		expect(after).toBe(3_000 + 2_000);
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
		const send = vi.fn(() => wait(2_900).then(() => Promise.reject(new Error("away"))));
		expect((await record({ send })).put).toHaveBeenCalledOnce();
		expect(send).toHaveBeenCalledOnce();
	});

	test("where nothing ever answers, the log still has it before the runtime ends the request", async () => {
		const { after } = await record({ send: never, put: never, limit: never });
		expect(after).toBeLessThanOrEqual(MAX_RECORDING_MS);
		expect(MAX_RECORDING_MS).toBeLessThan(WAIT_UNTIL_MS - 1_000);
		expect(logged).toEqual(["click.queue_refused", "click.lost"]);
	});
});

describe("unit: limits of clicks", () => {
	/** What was sent of a bid's click whose token's limit does this. */
	async function sent(limit: () => Promise<{ success: boolean }>): Promise<ClickMessage[]> {
		const messages: ClickMessage[] = [];
		const store = {
			queue: { send: async (message: ClickMessage) => void messages.push(message) },
			batches: { keep: async () => {} },
			pause: async () => {},
			connectionKey: "key",
			limits: { address: undefined, token: { limit }, stripped: undefined },
			visits: new RecentVisits(),
		};
		await recordClick(store, { ...CLICK }, { userAgent: null, connection: null }, null);
		return messages;
	}

	test("one that refuses leaves the click unpaid", async () => {
		expect(await sent(async () => ({ success: false }))).toMatchObject([{ reason: "velocity" }]);
		expect(await sent(async () => ({ success: true }))).toEqual([CLICK]);
	});

	test("one that never answers, or fails, neither holds up the click nor makes it unpaid", async () => {
		expect(await sent(() => new Promise(() => {}))).toEqual([CLICK]);
		const log = vi.spyOn(console, "error").mockImplementation(() => {});
		expect(await sent(() => Promise.reject(new Error("away")))).toEqual([CLICK]);
		expect(log).toHaveBeenCalledOnce();
		log.mockRestore();
	});
});
