/** Setup of every test file of the `worker` project: brings both databases to the present schema. */
import type { D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach, expect } from "vitest";
import { openPostgres } from "../../src/db/postgres.ts";
import { openMirror } from "./mirror.ts";
import "./worker-env.ts";

await migrate(env.PRODUCTS, env.PRODUCTS_MIGRATIONS);

if (env.POSTGRES_URL === "" || env.MIRROR !== "") await makeNetworkDatabase(env.DB);
if (env.MIRROR !== "") await useMirror(env.POSTGRES_URL);
else if (env.POSTGRES_URL !== "") await usePostgres(env.POSTGRES_URL);

/** Runs every statement of the migrations, in one transaction: `applyD1Migrations` runs one after the other, for each test file. */
async function migrate(database: D1Database, migrations: readonly D1Migration[]): Promise<void> {
	await database.batch(migrations.flatMap(({ queries }) => queries.map((query) => database.prepare(query))));
}

/** The first file of a process goes the whole way of the migrations; others get at once what they end in. */
async function makeNetworkDatabase(database: D1Database): Promise<void> {
	const made = globalThis as { networkDatabase?: readonly string[] };
	if (made.networkDatabase === undefined) {
		await migrate(database, env.NETWORK_MIGRATIONS);
		made.networkDatabase = await writeDown(database);
	} else {
		await database.batch(made.networkDatabase.map((statement) => database.prepare(statement)));
	}
}

/** What a database has, as the statements that make it: tables, the few rows that migrations put in, then indexes and triggers. */
async function writeDown(database: D1Database): Promise<string[]> {
	const made = await database
		.prepare(
			`SELECT type, name, sql FROM sqlite_master
			WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'
			ORDER BY type = 'table' DESC, rowid`,
		)
		.all<{ type: string; name: string; sql: string }>();
	const tables = made.results.filter(({ type }) => type === "table");
	const columns = await database.batch<{ name: string }>(tables.map(({ name }) => database.prepare(`PRAGMA table_info("${name}")`)));
	const rows = await database.batch<{ text: string }>(
		tables.map(({ name }, at) => {
			const values = (columns[at]?.results ?? []).map((column) => `quote("${column.name}")`);
			return database.prepare(`SELECT 'INSERT INTO "${name}" VALUES (' || ${values.join(" || ',' || ")} || ')' AS text FROM "${name}"`);
		}),
	);
	return [
		...tables.map(({ sql }) => sql),
		...rows.flatMap(({ results }) => results.map(({ text }) => text)),
		...made.results.filter(({ type }) => type !== "table").map(({ sql }) => sql),
	];
}

/** Makes a PostgreSQL database of this file's own the network database. */
async function usePostgres(server: string): Promise<void> {
	const binding = { connectionString: await copyTemplate(server) };
	define({ D1: env.DB, DB: openPostgres(binding.connectionString, new Map()), POSTGRES: binding });
}

/** Makes both engines the network database, as one. Everything that both have run is noted for test/mirror. */
async function useMirror(server: string): Promise<void> {
	const postgres = openPostgres(await copyTemplate(server), new Map());
	const mirror = openMirror(env.DB, postgres);
	define({ D1: env.DB, DB: mirror.database, POSTGRES_DB: postgres });
	afterEach(() => {
		expect(mirror.takeDifferences()).toEqual([]);
	});
	afterAll(async () => {
		const texts = JSON.stringify([...mirror.texts]);
		await openPostgres(server)
			.prepare("INSERT INTO mirrored_statements (text) SELECT jsonb_array_elements_text(CAST(? AS jsonb))")
			.bind(texts)
			.run();
	});
}

/** A database of this file's own, as a copy of one that is migrated. @returns its URL */
async function copyTemplate(server: string): Promise<string> {
	const admin = openPostgres(server);
	const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
	await admin.prepare(`CREATE DATABASE ${name} TEMPLATE clickbourse_template`).run();
	afterAll(async () => {
		await admin.prepare(`DROP DATABASE ${name} WITH (FORCE)`).run();
	});
	const url = new URL(server);
	url.pathname = `/${name}`;
	return url.href;
}

/** For this file: the next one of the same process finds the bindings as they were. */
function define(bindings: Readonly<Record<string, unknown>>): void {
	for (const [name, value] of Object.entries(bindings)) {
		const before = Object.getOwnPropertyDescriptor(env, name);
		Object.defineProperty(env, name, { value, configurable: true, enumerable: true });
		afterAll(() => {
			if (before === undefined) Reflect.deleteProperty(env, name);
			else Object.defineProperty(env, name, before);
		});
	}
}
