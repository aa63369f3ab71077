/** Connections to PostgreSQL: when one is made, when it is made again, and that none is left. */
import { env } from "cloudflare:workers";
import { Client } from "pg";
import { describe, expect, test, vi } from "vitest";
import { openPostgres } from "../../src/db/postgres.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import { get } from "../support/console.ts";

const admin = openPostgres(env.POSTGRES_URL);

test("postgres: a server that has no room for a connection is asked again after a while, not at once", async () => {
	const role = `crowded_${crypto.randomUUID().replaceAll("-", "")}`;
	const connected = () => admin.prepare("SELECT count(*) AS n FROM pg_stat_activity WHERE usename = ?").bind(role).first<number>("n");
	await admin.prepare(`CREATE ROLE ${role} LOGIN PASSWORD 'crowded' CONNECTION LIMIT 1`).run();
	const url = new URL(env.POSTGRES.connectionString);
	[url.username, url.password] = [role, "crowded"];
	const db = openPostgres(url.href);
	const left = Promise.withResolvers<void>();
	const taken = Promise.withResolvers<void>();
	const first = withConnectionsOf({ POSTGRES: {} }, async () => {
		await db.prepare("SELECT 1").run();
		taken.resolve();
		await left.promise;
	});
	await taken.promise;
	const waited = Promise.withResolvers<void>();
	const wait = vi.spyOn(scheduler, "wait").mockReturnValue(waited.promise);
	try {
		const connect = vi.spyOn(Client.prototype, "connect");
		const attempts = () => connect.mock.results.filter((_, at) => Reflect.get(connect.mock.contexts[at] ?? {}, "user") === role);
		const second = withConnectionsOf({ POSTGRES: {} }, () => db.prepare("SELECT 2 AS two").first<number>("two"));
		await expect(attempts()[0]?.value).rejects.toMatchObject({ code: "53300" });
		left.resolve();
		await first;
		while ((await connected()) !== 0);
		expect(attempts()).toHaveLength(1);
		expect(wait).toHaveBeenCalledOnce();
		waited.resolve();
		expect(await second).toBe(2);
	} finally {
		vi.restoreAllMocks();
		await admin.prepare(`DROP ROLE ${role}`).run();
	}
});

test("postgres: what requests have asked by is closed once they have ended", async () => {
	const connect = vi.spyOn(Client.prototype, "connect");
	const end = vi.spyOn(Client.prototype, "end");
	for (let n = 0; n < 20; n++) await (await get("/console", { cookie: `__Host-session=${"A".repeat(43)}` })).text();
	expect(connect.mock.calls.length).toBeGreaterThanOrEqual(20);
	await expect.poll(() => end.mock.calls.length, { timeout: 60_000 }).toBe(connect.mock.calls.length);
});

test("postgres: a server that has become a standby is left for another, and is away where there is none", async () => {
	const role = `reading_${crypto.randomUUID().replaceAll("-", "")}`;
	await admin.prepare(`CREATE ROLE ${role} LOGIN PASSWORD 'reading'`).run();
	await admin.prepare("CREATE TABLE written_by_anyone (n bigint)").run();
	await admin.prepare("GRANT ALL ON written_by_anyone TO public").run();
	const url = new URL(env.POSTGRES_URL);
	[url.username, url.password] = [role, "reading"];
	const write = () => openPostgres(url.href).prepare("INSERT INTO written_by_anyone VALUES (1)").run();
	const written = () => admin.prepare("SELECT count(*) AS n FROM written_by_anyone").first<number>("n");
	try {
		await withConnectionsOf({ POSTGRES: {} }, async () => {
			await openPostgres(url.href).prepare("SET default_transaction_read_only = on").run();
			await write();
		});
		expect(await written()).toBe(1);
		await admin.prepare(`ALTER ROLE ${role} SET default_transaction_read_only = on`).run();
		await expect(withConnectionsOf({ POSTGRES: {} }, write)).rejects.toMatchObject({ name: "AwayError" });
		expect(await written()).toBe(1);
	} finally {
		await admin.prepare("DROP TABLE written_by_anyone").run();
		await admin.prepare(`DROP ROLE ${role}`).run();
	}
});

describe("postgres: a connection that knows the plans of statements whose columns a migration has changed", () => {
	const network = openPostgres(env.POSTGRES.connectionString);

	/** Runs `ask` once a connection has prepared both statements and their table has got a column more. */
	async function afterMigration<Answer>(
		name: string,
		ask: (read: D1PreparedStatement, write: D1PreparedStatement) => Promise<Answer>,
	): Promise<{ answer: Answer; rows: number | null }> {
		await network.prepare(`CREATE TABLE ${name} (n bigint)`).run();
		try {
			return await withConnectionsOf({ POSTGRES: {} }, async () => {
				const read = network.prepare(`SELECT * FROM ${name} WHERE n = ?1`).bind(1);
				const write = network.prepare(`INSERT INTO ${name} (n) VALUES (?1) RETURNING *`).bind(1);
				await network.batch([read, write]);
				await withConnectionsOf({ POSTGRES: {} }, () => network.prepare(`ALTER TABLE ${name} ADD COLUMN more bigint DEFAULT 7`).run());
				const answer = await ask(read, write);
				return { answer, rows: await network.prepare(`SELECT count(*) AS n FROM ${name}`).first<number>("n") };
			});
		} finally {
			await network.prepare(`DROP TABLE ${name}`).run();
		}
	}

	const ROW = { n: 1, more: 7 };

	test("a statement that reads is planned anew", async () => {
		expect(await afterMigration("widened_read", (read) => read.first())).toEqual({ answer: ROW, rows: 1 });
		expect(await afterMigration("widened_raw", (read) => read.raw())).toEqual({ answer: [[1, 7]], rows: 1 });
	});

	test("one that writes does so once", async () => {
		const { answer, rows } = await afterMigration("widened_write", (_, write) => write.all());
		expect([answer.results, rows]).toEqual([[ROW], 2]);
	});

	test.each([false, true])("a batch is written once, all of it, however many of its plans are old (for long: %s)", async (isLong) => {
		const { answer, rows } = await afterMigration(`widened_batch_${isLong}`, (read, write) =>
			network.batch([write, read, write], { isLong }),
		);
		expect(answer.map(({ results }) => results)).toEqual([[ROW], [ROW, ROW], [ROW]]);
		expect(rows).toBe(3);
	});

	test("so is what keeps the tables in order", async () => {
		const { answer, rows } = await afterMigration("widened_upkeep", (_, write) => network.upkeep(write));
		expect([answer.results, rows]).toEqual([[ROW], 2]);
	});

	test("those that were sent before it was known are sent again like the first", async () => {
		const { answer } = await afterMigration("widened_beside", (read) => Promise.all(Array.from({ length: 5 }, () => read.first())));
		expect(answer).toEqual([ROW, ROW, ROW, ROW, ROW]);
	});
});
