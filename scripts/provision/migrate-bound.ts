import { Failure } from "../local/failure.ts";
import { bindsPostgres } from "../local/postgres-config.ts";
import { migratePostgres } from "../postgres/migrate.ts";
import type { Say } from "./account.ts";

/**
 * Migrates the PostgreSQL database that wrangler.toml binds; nothing where it binds none.
 * @param url has a password: it comes from the environment, and is not shown
 * @throws Failure where there is no URL, since what is deployed next would not run on what is there
 */
export async function migrateBoundPostgres(toml: string, url: string | undefined, say: Say): Promise<void> {
	if (!bindsPostgres(toml)) return;
	if (!url)
		throw new Failure("POSTGRES was not migrated: set DATABASE_URL in the environment to the database behind it, and run this again.");
	const applied = await migratePostgres(url);
	say(applied.length === 0 ? "unchanged POSTGRES" : `migrated  POSTGRES (${applied.join(", ")})`);
}
