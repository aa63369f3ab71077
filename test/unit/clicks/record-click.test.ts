import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ClickMessage } from "../../../src/clicks/message.ts";
import { KEPT_PREFIX, recordClick } from "../../../src/clicks/record-click.ts";

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
async function record(refused: { queue: number; kept: number }): Promise<string[]> {
	const steps: string[] = [];
	const attempt = async (name: "queue" | "kept") => {
		steps.push(name);
		if (refused[name]-- > 0) throw new Error(`${name} is down`);
	};
	await recordClick(
		{
			queue: { send: () => attempt("queue") },
			kept: {
				put: (key, value) => {
					expect([key, JSON.parse(value)]).toEqual([KEPT_PREFIX + CLICK.id, CLICK]);
					return attempt("kept");
				},
			},
			pause: async (milliseconds) => void steps.push(`${milliseconds} ms`),
			connectionKey: "key",
			limits: { address: undefined, token: undefined },
		},
		CLICK,
		{ userAgent: null, address: null },
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
		expect(await record({ queue: 0, kept: 0 })).toEqual(["queue"]);
		expect(logged).toEqual([]);
	});

	test("three times in the queue", async () => {
		expect(await record({ queue: 2, kept: 0 })).toEqual(["queue", "100 ms", "queue", "1000 ms", "queue"]);
		expect(logged).toEqual([]);
	});

	test("then three times in KV, with more than the second between that KV asks for", async () => {
		const steps = await record({ queue: 3, kept: 2 });
		expect(steps.slice(5)).toEqual(["kept", "1100 ms", "kept", "3000 ms", "kept"]);
		expect(logged).toEqual(["click.queue_refused"]);
	});

	test("and is told to be lost after the third", async () => {
		expect((await record({ queue: 3, kept: 3 })).filter((step) => step === "kept")).toHaveLength(3);
		expect(logged).toEqual(["click.queue_refused", "click.lost"]);
	});
});

describe("unit: limits of clicks", () => {
	/** What was sent of a bid's click whose token's limit does this. */
	async function sent(limit: () => Promise<{ success: boolean }>): Promise<ClickMessage[]> {
		const messages: ClickMessage[] = [];
		const store = {
			queue: { send: async (message: ClickMessage) => void messages.push(message) },
			kept: { put: async () => {} },
			pause: async () => {},
			connectionKey: "key",
			limits: { address: undefined, token: { limit } },
		};
		await recordClick(store, { ...CLICK }, { userAgent: null, address: null });
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
