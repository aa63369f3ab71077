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
