import { Failure } from "./failure.ts";
import { runWrangler } from "./wrangler.ts";

/** Bindings of the databases in wrangler.toml. */
const DATABASES = ["DB", "PRODUCTS"] as const;

/** Brings both local databases up to date. @throws Failure with wrangler's output */
export async function migrateLocalDatabases(): Promise<void> {
	for (const database of DATABASES) {
		const { code, output } = await runWrangler(["d1", "migrations", "apply", database, "--local"]);
		if (code === 0) continue;
		throw new Failure(
			`${output.trim()}\n\nThe local database ${database} could not be migrated (wrangler's output is above).\n` +
				"If a migration was changed after it had been applied, `npm run reset` clears the local state; then run `npm start` again.",
		);
	}
}
