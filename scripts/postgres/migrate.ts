/** Brings a PostgreSQL database to the present schema: `drizzle/postgres`, each file once, in order, in a transaction of its own. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { Failure } from "../local/failure.ts";
import { ROOT } from "../local/paths.ts";

const FOLDER = join(ROOT, "drizzle", "postgres");

/** Any number, the same for all. */
const MIGRATION_LOCK = 1_908;

/** Names of the migrations, in order. */
export function listMigrations(): string[] {
	return readdirSync(FOLDER)
		.filter((file) => file.endsWith(".sql"))
		.sort();
}

/**
 * @returns the migrations that were applied now
 * @throws Failure that names the migration at fault; those before it stay
 */
export async function migratePostgres(url: string): Promise<string[]> {
	const client = await open(url);
	try {
		// The role's own limit is for the Worker's statements; and two that migrate take turns.
		await client.query(`SET statement_timeout = 0; SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
		await client.query(
			"CREATE TABLE IF NOT EXISTS applied_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())",
		);
		const { rows } = await client.query<{ name: string }>("SELECT name FROM applied_migrations");
		const applied = new Set(rows.map(({ name }) => name));
		const missing = listMigrations().filter((name) => !applied.has(name));
		for (const name of missing) await apply(client, name);
		return missing;
	} finally {
		await client.end();
	}
}

/** @throws Failure where the URL is none, or nothing answers there; it shows no password */
async function open(url: string): Promise<Client> {
	try {
		const client = new Client({ connectionString: url });
		// Of a line that breaks, what waits for an answer fails, and tells it.
		client.on("error", () => {});
		await client.connect();
		return client;
	} catch (error) {
		throw new Failure(`The PostgreSQL database cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
	}
}

async function apply(client: Client, name: string): Promise<void> {
	try {
		await client.query("BEGIN");
		await client.query(readFileSync(join(FOLDER, name), "utf8"));
		await client.query("INSERT INTO applied_migrations (name) VALUES ($1)", [name]);
		await client.query("COMMIT");
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		if (await rollBack(client)) throw new Failure(`The migration ${name} failed, and nothing of it was applied: ${why}`);
		throw new Failure(
			`The line to the database broke at the migration ${name}, of which all was applied or nothing: ${why}\n` +
				"Once the database answers, run this again: it goes on from there.",
		);
	}
}

/** False where the line is broken. */
async function rollBack(client: Client): Promise<boolean> {
	try {
		await client.query("ROLLBACK");
		return true;
	} catch {
		// The server does it by itself then, unless it has committed.
		return false;
	}
}
