/** The PostgreSQL server that the `postgres` tests run against: each test file copies its database from a template. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { migratePostgres } from "./migrate.ts";
import { startPostgres } from "./server.ts";

/** The database that tests copy. */
const TEMPLATE = "clickbourse_template";

/** Nothing of it outlives the tests, so nothing is written for good. */
const FLAGS = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];

/**
 * Starts it, or takes the server of DATABASE_URL.
 * @returns the URL of a database from which others can be made
 */
export async function startTestServer(environment: NodeJS.ProcessEnv): Promise<{ url: string; stop: () => Promise<void> }> {
	if (environment.DATABASE_URL) {
		const url = new URL(environment.DATABASE_URL);
		await makeTemplate(url.href, withDatabase(url, TEMPLATE));
		return { url: url.href, stop: () => Promise.resolve() };
	}
	const folder = mkdtempSync(join(tmpdir(), "clickbourse-postgres-"));
	// Where this is root, the server runs as another user, who must get there.
	chmodSync(folder, 0o711);
	const server = await startPostgres(join(folder, "data"), FLAGS);
	await makeTemplate(server.urlOf("postgres"), server.urlOf(TEMPLATE));
	return {
		url: server.urlOf("postgres"),
		stop: async () => {
			await server.stop();
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

async function makeTemplate(admin: string, template: string): Promise<void> {
	const client = new Client({ connectionString: admin });
	await client.connect();
	try {
		await client.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
		await client.query(`CREATE DATABASE ${TEMPLATE} TEMPLATE template0 ENCODING 'UTF8'`);
	} finally {
		await client.end();
	}
	await migratePostgres(template);
}

function withDatabase(url: URL, database: string): string {
	const other = new URL(url);
	other.pathname = `/${database}`;
	return other.href;
}
