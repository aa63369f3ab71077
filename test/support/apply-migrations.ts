/** Setup of every test file of the `worker` project: brings both databases to the present schema. */
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll } from "vitest";
import { openPostgres } from "../../src/db/postgres.ts";
import "./worker-env.ts";

await applyD1Migrations(env.PRODUCTS, env.PRODUCTS_MIGRATIONS);

if (env.POSTGRES_URL === "") await applyD1Migrations(env.DB, env.NETWORK_MIGRATIONS);
else await usePostgres(env.POSTGRES_URL);

/** Makes a PostgreSQL database of this file's own the network database, as a copy of one that is migrated. */
async function usePostgres(server: string): Promise<void> {
	const admin = openPostgres(server);
	const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
	await admin.prepare(`CREATE DATABASE ${name} TEMPLATE clickbourse_template`).run();
	const url = new URL(server);
	url.pathname = `/${name}`;
	const binding = { connectionString: url.href };
	Object.defineProperties(env, {
		D1: { value: env.DB, configurable: true, enumerable: true },
		DB: { value: openPostgres(binding.connectionString, new Map()), configurable: true, enumerable: true },
		POSTGRES: { value: binding, configurable: true, enumerable: true },
	});
	afterAll(async () => {
		await admin.prepare(`DROP DATABASE ${name} WITH (FORCE)`).run();
	});
}
