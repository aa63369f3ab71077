/**
 * Run by migrate.ts, in a process of its own: Miniflare ends the one it is in at the first signal.
 * Brings the local databases up to date. `wrangler d1 migrations apply --local` starts a runtime for each migration, which takes half a
 * minute where there are forty.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare";
import { parse } from "smol-toml";
import { applyMigrations, MIGRATING_WORKER } from "./apply-migrations.ts";
import { reportFailure } from "./failure.ts";
import { ROOT, STATE_DIR } from "./paths.ts";

/** Where wrangler keeps what its present form of the state holds. */
const PERSISTED = join(STATE_DIR, "v3");

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
			script: MIGRATING_WORKER,
			d1Databases: Object.fromEntries(databases.map(({ binding, database_id = binding }) => [binding, database_id])),
		}),
	);
	try {
		for (const { binding, migrations_dir = "migrations" } of databases) {
			await applyMigrations((url, init) => miniflare.dispatchFetch(url, init), binding, join(ROOT, migrations_dir));
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

migrateDatabases().catch(reportFailure);
