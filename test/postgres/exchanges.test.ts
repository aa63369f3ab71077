/** Statements that go to PostgreSQL together: what a connection knows afterwards, and what need not wait for its turn. */
import { env } from "cloudflare:workers";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { openPostgres } from "../../src/db/postgres.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const network = openPostgres(env.POSTGRES.connectionString);
const onOneConnection = <Result>(run: () => Promise<Result>) => withConnectionsOf({ POSTGRES: {} }, run);

describe("postgres: statements of one connection", () => {
	beforeAll(() => network.prepare("CREATE TABLE exchanged (n bigint PRIMARY KEY, text text)").run());
	afterAll(() => network.prepare("DROP TABLE exchanged").run());

	test("answer each for itself: rows by name and as lists, numbers, truth, nothing, and what was changed", async () => {
		await onOneConnection(async () => {
			const write = network.prepare("INSERT INTO exchanged (n, text) VALUES (?1, ?2), (?1 + 1, NULL) RETURNING n, text, n > 10 AS large");
			const [written, changed, read, none] = await network.batch([
				write.bind(10, "ten"),
				network.prepare("UPDATE exchanged SET text = text || '!' WHERE text IS NOT NULL"),
				network.prepare("SELECT text, n FROM exchanged ORDER BY n"),
				network.prepare("DELETE FROM exchanged WHERE n > 99"),
			]);
			expect(written?.results).toEqual([
				{ n: 10, text: "ten", large: 0 },
				{ n: 11, text: null, large: 1 },
			]);
			expect([changed, read, none].map((answer) => [answer?.meta.changes, answer?.results])).toEqual([
				[1, []],
				[
					2,
					[
						{ text: "ten!", n: 10 },
						{ text: null, n: 11 },
					],
				],
				[0, []],
			]);
			expect(await network.prepare("SELECT n, 1 AS n FROM exchanged ORDER BY 1").raw()).toEqual([
				[10, 1],
				[11, 1],
			]);
		});
	});

	test("answer by their places, though one of them is empty", async () => {
		const texts = ["SELECT 1 AS n", "-- nothing", "SELECT 2 AS n"];
		const answers = await onOneConnection(() =>
			network.batch([...texts, "DELETE FROM exchanged WHERE n = -9"].map((text) => network.prepare(text))),
		);
		expect(answers.map(({ results }) => results)).toEqual([[{ n: 1 }], [], [{ n: 2 }], []]);
	});

	test("join texts as SQLite does, however many", async () => {
		const join = (list: readonly unknown[]) =>
			network.prepare("SELECT group_concat(atom) AS joined FROM json_each(?1)").bind(JSON.stringify(list)).first<string>("joined");
		expect(await Promise.all([[], [null], [""], ["", "a"], ["a", null, "b"]].map(join))).toEqual([null, null, "", ",a", "a,b"]);
		const many = Array.from({ length: 5_000 }, (_, n) => `${n}`.padStart(60, "0"));
		expect(await join(many)).toBe(many.join(","));
	});

	// A failure does not tell whether the server has parsed what failed, and what came after it.
	test.each([
		["before it was parsed", "SELECT n FROM there_is_none_yet", "42P01"],
		[
			"once it was parsed",
			"INSERT INTO exchanged (n) SELECT count(*) / (SELECT count(*) FROM exchanged WHERE n < 0) FROM exchanged",
			"22012",
		],
	])("run again after a transaction in which one failed %s", async (_, failing, state) => {
		await onOneConnection(async () => {
			const own = `/* ${state} */`;
			const texts = [`SELECT 1 AS one ${own}`, `${failing} ${own}`, `DELETE FROM exchanged WHERE n = -1 ${own}`];
			const run = () => network.batch(texts.map((text) => network.prepare(text)));
			await expect(run()).rejects.toThrow(state);
			await expect(run()).rejects.toThrow(state);
			if (state === "42P01") await network.prepare("CREATE TABLE there_is_none_yet (n bigint)").run();
			else await network.prepare("INSERT INTO exchanged (n) VALUES (-1)").run();
			expect((await run()).map(({ meta }) => meta.changes)).toEqual(state === "42P01" ? [1, 0, 0] : [1, 1, 1]);
			await network.prepare("DROP TABLE IF EXISTS there_is_none_yet").run();
		});
	});

	test("that run at the same time have each its own answer, though one fails", async () => {
		await onOneConnection(async () => {
			const ask = (n: number) => network.prepare("SELECT 10 / CAST(?1 AS BIGINT) AS n").bind(n).first<number>("n");
			const [one, none, two] = await Promise.allSettled([ask(1), ask(0), ask(2)]);
			expect([one, none.status, two]).toEqual([{ status: "fulfilled", value: 10 }, "rejected", { status: "fulfilled", value: 5 }]);
		});
	});

	test("that were sent as known before another failed, which was to make them known, are sent again", async () => {
		await onOneConnection(async () => {
			const shared = network.prepare("DELETE FROM exchanged WHERE n = -77 RETURNING n");
			const failing = network.prepare("DELETE FROM exchanged WHERE n = 1 / (n - n)");
			await network.prepare("INSERT INTO exchanged (n) VALUES (-77)").run();
			const [failed, deleted] = await Promise.allSettled([network.batch([failing, shared]), network.batch([shared, shared])]);
			expect(failed.status).toBe("rejected");
			expect(deleted).toMatchObject({ status: "fulfilled", value: [{ results: [{ n: -77 }] }, { results: [] }] });
		});
	});

	test("of a transaction are sent and answered together", async () => {
		await onOneConnection(async () => {
			const batch = Array.from({ length: 20 }, (_, n) => network.prepare(`DELETE FROM exchanged WHERE n = 500 + ${n}`));
			await network.batch(batch);
			const query = vi.spyOn(Client.prototype, "query");
			await network.batch(batch);
			// BEGIN, all of them, COMMIT.
			expect(query).toHaveBeenCalledTimes(3);
			query.mockRestore();
		});
	});
});

describe("postgres: visits of clicks", () => {
	beforeAll(async () => {
		await importFile({
			platforms: [NORTHWIND],
			publishers: [ACME],
			brands: [brandEntry("shoes.example", 5001, {}, { daily_click_cap: null })],
		});
		await forgetTraffic();
	});
	const batch = Array.from({ length: 3 }, (_, n) => clickMessage({ connection: `connection-${n}`, userAgentHash: "browser" }));
	const countOf = (table: string) => network.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>("n");
	const stored = () => Promise.all([countOf("clicks"), countOf("paid_visits")]);

	test("are written while another has the turn, and are there once their clicks are", async () => {
		const holder = network.batch([network.prepare("SELECT pg_sleep(1)"), network.prepare("DELETE FROM click_turns WHERE version < 0")]);
		const locked = (relation: string, mode: string) =>
			network
				.prepare("SELECT count(*) AS n FROM pg_locks WHERE relation = CAST(?1 AS regclass) AND mode = ?2 AND granted")
				.bind(relation, mode)
				.first<number>("n");
		await expect.poll(() => locked("writer_turn", "ShareRowExclusiveLock"), { timeout: 4_000 }).toBe(1);
		const consumed = consumeClicks(capDeps(), letters(...batch));
		// What a statement has written to is locked so until its transaction ends.
		await expect.poll(() => locked("paid_visits", "RowExclusiveLock"), { timeout: 4_000, interval: 20 }).toBe(1);
		expect(await stored()).toEqual([0, 0]);
		await holder;
		await consumed;
		expect(await stored()).toEqual([3, 3]);
	});

	test("are written once, however many deliveries of a batch come at once", async () => {
		await forgetTraffic();
		await Promise.all(
			Array.from({ length: 4 }, (_, n) => consumeClicks(capDeps(), letters(...(n % 2 === 0 ? batch : batch.toReversed())))),
		);
		expect(await stored()).toEqual([3, 3]);
		expect(await rowsOf("SELECT sum(click_count) AS n FROM daily_publishers")).toEqual([{ n: 3 }]);
	});
});
