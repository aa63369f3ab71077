/** A database that fills up, and then refuses: it is told in time, and what comes meanwhile is not lost. */
import { createExecutionContext, createMessageBatch, createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { readSize, warnOfSize } from "../../src/db/database-size.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import type { SizeAlert } from "../../src/lib/enums.ts";
import { KEPT_DEAD_LETTERS_PREFIX } from "../../src/lib/kept-keys.ts";
import { readStatus } from "../../src/operator/status/read-status.ts";
import worker from "../../src/worker.ts";
import { clickMessage, rowsOf } from "../support/click-messages.ts";

const MAX_BYTES = 4_000_000;
const db = openDatabase(env.DB);

/** A database of {@link MAX_BYTES}: D1 refuses every write to a full one with these words. */
const small = wrapD1(env.DB, async (statements) => {
	const isWrite = statements.some((text) => /^\s*(insert|update|delete)/i.test(text));
	if (isWrite && Number(await readSize(db)) >= MAX_BYTES) throw new Error("D1_ERROR: Exceeded maximum DB size");
});

function deadLetters(bodies: readonly unknown[], database: D1Database = small, kv: KVNamespace = env.BOOK): Promise<void> {
	const messages = bodies.map((body) => ({ id: crypto.randomUUID(), timestamp: new Date(), attempts: 100, body }));
	return worker.queue(
		createMessageBatch("clickbourse-clicks-dead", messages),
		{ ...env, DB: database, BOOK: kv },
		createExecutionContext(),
	);
}

const runCron = () => worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), env);
const status = () =>
	readStatus({
		db,
		products: openDatabase(env.PRODUCTS),
		kv: env.BOOK,
		queues: { clicks: undefined, postbacks: undefined, callbacks: undefined },
		now: () => Date.now(),
		maxDatabaseBytes: MAX_BYTES,
	});

/** Alerts that the log was told. */
async function logged(isHourly: boolean): Promise<number[]> {
	const log = vi.spyOn(console, "error").mockImplementation(() => {});
	await warnOfSize({ network: db }, isHourly, MAX_BYTES);
	const percents = log.mock.calls.map(([line]) => JSON.parse(String(line)) as { event: string; percent: number });
	log.mockRestore();
	return percents.filter(({ event }) => event === "database.filling").map(({ percent }) => percent);
}

afterEach(() => {
	vi.restoreAllMocks();
});

describe("worker: a database that fills up", () => {
	it("is told at 70, 85 and 95 percent, in status and in the log; then dead letters are kept in KV until there is room", async () => {
		const seen: (SizeAlert | null)[] = [];
		const told = new Map<SizeAlert | null, [hourly: number[], between: number[]]>();
		const text = "x".repeat(1_000);
		let count = 0;
		while (Number(await readSize(db)) < MAX_BYTES) {
			await deadLetters(Array.from({ length: 100 }, () => ({ text })));
			count += 100;
			const { database_alert: alert } = await status();
			if (seen.at(-1) !== alert) {
				seen.push(alert);
				told.set(alert, [await logged(true), await logged(false)]);
			}
		}
		expect(seen).toEqual([null, 70, 85, 95]);
		expect(Object.fromEntries(told)).toEqual({
			...{ null: [[], []], 70: [[70], []] },
			...{ 85: [[85], []], 95: [[95], [95]] },
		});

		const log = vi.spyOn(console, "error").mockImplementation(() => {});
		await deadLetters([clickMessage(), clickMessage(), "no click"]);
		await deadLetters([clickMessage()]);
		expect(log.mock.calls.filter(([line]) => String(line).includes("dead_letters.database_refused"))).toHaveLength(2);
		expect(await status()).toMatchObject({ kept: { clicks: 0, dead_letters: 4 }, dead_letters: { clicks: count } });

		await runCron();
		expect(await rowsOf("SELECT count(*) AS count FROM dead_letters WHERE queue = 'clicks'")).toEqual([{ count: count + 4 }]);
		expect(await rowsOf("SELECT body FROM dead_letters WHERE body = '\"no click\"'")).toHaveLength(1);
		expect((await env.BOOK.list({ prefix: KEPT_DEAD_LETTERS_PREFIX })).keys).toEqual([]);
		expect(await status()).toMatchObject({ kept: { clicks: 0, dead_letters: 0 } });
	});

	it("the products' one is told by itself, at the same percents, as a problem with what mends it", async () => {
		const products = openDatabase(env.PRODUCTS);
		const bytes = Number(await readSize(products));
		const statusAt = (part: number) =>
			readStatus({
				...{ db, products, kv: env.BOOK, now: () => Date.now(), maxDatabaseBytes: Math.floor(bytes / part) },
				queues: { clicks: undefined, postbacks: undefined, callbacks: undefined },
			});
		const told = [];
		for (const part of [0.6, 0.71, 0.86, 0.96]) {
			const { products_bytes, products_alert, problems } = await statusAt(part);
			expect(products_bytes).toBe(bytes);
			told.push([products_alert, ...problems.flatMap(({ kind, text }) => (kind.startsWith("products_") ? [kind, text.slice(0, 42)] : []))]);
		}
		const text = (percent: number) => `the products' database is over ${percent} % full: `;
		expect(told).toEqual([[null], [70, "products_filling", text(70)], [85, "products_filling", text(85)], [95, "products_full", text(95)]]);
	});

	it.each([
		["fails", () => Promise.reject(new Error("D1_ERROR: Network connection lost."))],
		["hangs", () => new Promise<never>(() => {})],
	])("where the products' one %s, the status says all else", async (_, answer) => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		const status = await readStatus({
			...{ db, products: openDatabase(wrapD1(env.PRODUCTS, answer)), kv: env.BOOK, now: () => Date.now() },
			queues: { clicks: undefined, postbacks: undefined, callbacks: undefined },
		});
		expect(status).toMatchObject({ products_bytes: null, products_alert: null, database_bytes: expect.any(Number) });
	});

	it("a batch that neither the database nor KV takes fails, so that its queue brings it again", async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		const away = wrapD1(env.DB, () => Promise.reject(new Error("D1_ERROR: Network connection lost.")));
		const kv = new Proxy(env.BOOK, {
			get: (target, name) => (name === "put" ? () => Promise.reject(new Error("KV is away")) : Reflect.get(target, name)),
		});
		await expect(deadLetters([clickMessage()], away, kv)).rejects.toThrow("KV is away");
	});
});
