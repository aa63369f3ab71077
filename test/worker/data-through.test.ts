/** Up to when everything that came in is counted, on real D1 and KV: what waits anywhere holds it back, by the time at which that came in. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { keepDeadLetters } from "../../src/dead-letters/keep-dead-letters.ts";
import { CLICK_BATCH_PREFIX, KEPT_CLICK_PREFIX, KEPT_DEAD_LETTERS_PREFIX } from "../../src/lib/kept-keys.ts";
import { HOUR_MS, isoTime, MINUTE_MS, SECOND_MS } from "../../src/lib/time.ts";
import { readDataThrough } from "../../src/network-reports/data-through.ts";
import { clickMessage } from "../support/click-messages.ts";
import { postbackMessage } from "../support/conversions.ts";
import "../support/worker-env.ts";

const NOW = Date.parse("2027-01-01T00:00:10Z");
/** When a message came in that no consumer could take, and when it became a dead letter. */
const CAME_AT = NOW - 5 * HOUR_MS;
const DEAD_AT = NOW - HOUR_MS;
const db = openDatabase(env.DB);

const backlog = (oldest: number | null) => ({
	metrics: async () => ({
		backlogCount: oldest === null ? 0 : 1,
		backlogBytes: 0,
		...(oldest !== null && { oldestMessageTimestamp: new Date(oldest) }),
	}),
});
const EMPTY = { clicks: backlog(null), postbacks: backlog(null) };
const through = async (queues: Parameters<typeof readDataThrough>[0]["queues"] = EMPTY) => {
	const at = await readDataThrough({ db, kv: env.BOOK, queues, now: () => NOW });
	return at === null ? null : isoTime(at);
};
/** Less what is still being recorded. */
const upTo = (at: number) => isoTime(at - 30 * SECOND_MS);

const postback = postbackMessage("west", { txnid: "t-1" }, CAME_AT);
const later = postbackMessage("west", { txnid: "t-2" }, CAME_AT + MINUTE_MS);

async function forget(): Promise<void> {
	await env.DB.prepare("DELETE FROM dead_letters").run();
	for (const prefix of ["click:", "dead:"]) {
		const { keys } = await env.BOOK.list({ prefix });
		for (const { name } of keys) await env.BOOK.delete(name);
	}
}

beforeEach(forget);
afterEach(forget);

describe("worker: up to when everything is counted", () => {
	it("now, less what is still being recorded, where nothing waits", async () => {
		expect(await through()).toBe(upTo(NOW));
	});

	it.each(["clicks", "postbacks"] as const)("by the oldest message in the queue %s; unknown where that does not tell", async (name) => {
		expect(await through({ ...EMPTY, [name]: backlog(CAME_AT) })).toBe(upTo(CAME_AT));
		expect(await through({ ...EMPTY, [name]: undefined })).toBeNull();
	});

	it.each([CLICK_BATCH_PREFIX, KEPT_CLICK_PREFIX])("by the oldest key of %s in KV", async (prefix) => {
		for (const at of [CAME_AT, NOW]) await env.BOOK.put(prefix + clickMessage({ at }).id, "[]");
		expect(await through()).toBe(upTo(CAME_AT));
	});

	it.each([
		["a click", "clicks", clickMessage({ at: CAME_AT })],
		["a postback", "postbacks", postback],
		["postbacks that share a message", "postbacks", { format: 1, kind: "together", items: [postback, later] }],
		["a postback whose key is to be checked", "postbacks", { ...postback, kind: "unclaimed", keyHash: "", sent: "", signature: null }],
	] as const)("a dead letter of %s holds it back from when that came in", async (_, queue, body) => {
		await keepDeadLetters(db, queue, [{ id: "dead-1", body }], DEAD_AT);
		expect(await through()).toBe(upTo(CAME_AT));
	});

	it.each([["no object"], [{ format: 9 }], [{ items: [] }], [["at"]]])(
		"one that says no time, as %j, from when it was kept",
		async (body) => {
			await keepDeadLetters(db, "postbacks", [{ id: "dead-1", body }], DEAD_AT);
			expect(await through()).toBe(upTo(DEAD_AT));
		},
	);

	it.each([
		{ items: ["abc"] },
		{ items: [["abc"], null, 5] },
		{ items: "abc" },
		{ items: { a: "b" } },
		{ items: null },
		{ items: 5 },
		{ intake: "abc" },
	])("one of another version's, %j, from when it became one", async (body) => {
		await keepDeadLetters(db, "postbacks", [{ id: "dead-1", body }], DEAD_AT);
		expect(await through()).toBe(upTo(DEAD_AT));
	});

	it("however many clicks became dead letters before a postback that came in earlier", async () => {
		const clicks = Array.from({ length: 100 }, (_, at) => ({ id: `dead-${at}`, body: clickMessage({ at: DEAD_AT - HOUR_MS }) }));
		await keepDeadLetters(db, "clicks", clicks, DEAD_AT - HOUR_MS);
		expect(await through()).toBe(upTo(DEAD_AT - HOUR_MS));
		await keepDeadLetters(db, "postbacks", [{ id: "dead", body: postback }], DEAD_AT);
		expect(await through()).toBe(upTo(CAME_AT));
	});

	it("callbacks do not count towards it, nor what was replayed", async () => {
		await keepDeadLetters(db, "callbacks", [{ id: "dead-1", body: { format: 1, id: "c" } }], DEAD_AT);
		await keepDeadLetters(db, "clicks", [{ id: "dead-2", body: clickMessage({ at: CAME_AT }) }], DEAD_AT);
		await env.DB.prepare("UPDATE dead_letters SET replayed_at = 1 WHERE id = 'dead-2'").run();
		await env.BOOK.put(`${KEPT_DEAD_LETTERS_PREFIX}callbacks:dead-3`, "[]");
		expect(await through()).toBe(upTo(NOW));
	});

	it.each(["clicks", "postbacks"])("unknown while KV has dead letters of the queue %s, which a database refused", async (queue) => {
		await env.BOOK.put(`${KEPT_DEAD_LETTERS_PREFIX}${queue}:dead-1`, "[]");
		expect(await through()).toBeNull();
	});
});
