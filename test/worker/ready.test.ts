/** Whether a Worker is ready that was deployed before its database was migrated. PostgreSQL has test/postgres/broken-lines.test.ts. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { NEWEST_D1_MIGRATION } from "../../src/db/newest-migration.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import origin from "../../src/origin.ts";
import { ON_D1 } from "../support/engine.ts";

async function ready(database: D1Database = env.DB): Promise<[status: number, answer: unknown]> {
	const request = new Request("https://api.example/ready") as unknown as Parameters<typeof origin.fetch>[0];
	const response = await origin.fetch(request, { ...env, DB: database }, createExecutionContext());
	return [response.status, await response.json()];
}

async function migrateTo(...names: string[]): Promise<void> {
	await env.DB.exec("CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT UNIQUE)");
	for (const name of names) await env.DB.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name).run();
}

afterEach(() => env.DB.exec("DROP TABLE IF EXISTS d1_migrations"));

describe.runIf(ON_D1)("worker: /ready on D1", () => {
	it("is 503 where the newest migration of this version was not applied", async () => {
		await migrateTo("0000_network.sql");
		expect(await ready()).toEqual([503, { status: "database not migrated" }]);
	});

	it("is 503 where none was", async () => {
		expect(await ready(env.PRODUCTS)).toEqual([503, { status: "database not migrated" }]);
	});

	it("is 200 where it was, also with those of a later version, after going back", async () => {
		await migrateTo("0000_network.sql", NEWEST_D1_MIGRATION, "9999_later.sql");
		expect(await ready()).toEqual([200, { status: "ready" }]);
	});

	it("is 200 where something else than wrangler made the tables, or D1 is away", async () => {
		expect(await ready()).toEqual([200, { status: "ready" }]);
		const away = wrapD1(env.DB, () => {
			throw new Error("D1_ERROR: Network connection lost");
		});
		expect(await ready(away)).toEqual([200, { status: "ready" }]);
	});
});
