/** Connections to PostgreSQL: when one is made, when it is made again, and that none is left. */
import { env } from "cloudflare:workers";
import { Client } from "pg";
import { expect, test, vi } from "vitest";
import { openPostgres, withConnectionsOf } from "../../src/db/postgres.ts";
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
		await expect(withConnectionsOf({ POSTGRES: {} }, write)).rejects.toMatchObject({ kind: "away" });
		expect(await written()).toBe(1);
	} finally {
		await admin.prepare("DROP TABLE written_by_anyone").run();
		await admin.prepare(`DROP ROLE ${role}`).run();
	}
});
