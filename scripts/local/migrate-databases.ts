/**
 * Run by migrate.ts, in a process of its own: Miniflare ends the one it is in at the first signal.
 * Brings the local databases up to date as `wrangler d1 migrations apply --local` does, in the same place and with the same table of what
 * was applied; but that starts a runtime for each migration, which takes half a minute where there are forty.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { parse } from "smol-toml";
import { Failure, reportFailure } from "./failure.ts";
import { ROOT, STATE_DIR } from "./paths.ts";

/** Where wrangler keeps what its present form of the state holds. */
const PERSISTED = join(STATE_DIR, "v3");
const APPLIED = `CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
	applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;

/** An entry of d1_databases in wrangler.toml. */
type DatabaseConfig = { binding: string; database_id?: string; migrations_dir?: string };

/** @throws Failure that names the migration */
async function migrateDatabases(): Promise<void> {
	const databases = await readDatabases();
	const miniflare = new Miniflare(
		convertV4MiniflareOptions({
			log: new Log(LogLevel.ERROR),
			cf: false,
			resourcePersistencePath: PERSISTED,
			modules: true,
			script: WORKER,
			d1Databases: Object.fromEntries(databases.map(({ binding, database_id = binding }) => [binding, database_id])),
		}),
	);
	try {
		for (const { binding, migrations_dir = "migrations" } of databases) {
			await migrate(runIn(miniflare, binding), binding, join(ROOT, migrations_dir));
		}
	} finally {
		await miniflare.dispose();
	}
}

/** Not by wrangler, which takes longer to load than a start without new migrations takes otherwise; what is wrong there, it says soon after. */
async function readDatabases(): Promise<DatabaseConfig[]> {
	const { d1_databases = [] } = parse(await readFile(join(ROOT, "wrangler.toml"), "utf8"));
	return d1_databases as DatabaseConfig[];
}

/** Runs statements within the runtime: each that Miniflare is asked for from here costs milliseconds on its way there. */
const WORKER = `export default {
	async fetch(request, env) {
		const { binding, statements } = await request.json();
		try {
			const done = await env[binding].batch(statements.map((statement) => env[binding].prepare(statement)));
			return Response.json(done[done.length - 1].results);
		} catch (error) {
			return new Response(error.message, { status: 500 });
		}
	}
}`;

/** Runs statements in one transaction, and returns the rows of the last. @throws Error with the database's message */
type Run = (statements: readonly string[]) => Promise<unknown[]>;

function runIn(miniflare: Miniflare, binding: string): Run {
	return async (statements) => {
		const response = await miniflare.dispatchFetch("http://migrate", { method: "POST", body: JSON.stringify({ binding, statements }) });
		if (!response.ok) throw new Error(await response.text());
		return (await response.json()) as unknown[];
	};
}

async function migrate(run: Run, binding: string, folder: string): Promise<void> {
	const results = (await run([APPLIED, "SELECT name FROM d1_migrations"])) as { name: string }[];
	const applied = new Set(results.map(({ name }) => name));
	const files = (await readdir(folder)).filter((file) => file.endsWith(".sql") && !applied.has(file)).sort();
	for (const file of files) {
		const statements = (await readFile(join(folder, file), "utf8")).split("--> statement-breakpoint");
		try {
			await run([...statements, `INSERT INTO d1_migrations (name) VALUES ('${file}')`]);
		} catch (error) {
			throw new Failure(
				`${error instanceof Error ? error.message : String(error)}\n\nThe local database ${binding} could not be migrated by ${file}.\n` +
					"If a migration was changed after it had been applied, `npm run reset` clears the local state; then run `npm start` again.",
			);
		}
	}
}

migrateDatabases().catch(reportFailure);
