/**
 * Migrations may not lose rows, and must make the very tables that the schema describes. For `.ci/run`.
 *
 * A statement that can lose rows passes only with a reason on the line before it: `-- reviewed: …`.
 */

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findLosses } from "./checks/find-losses.ts";
import { Failure, reportFailure } from "./local/failure.ts";
import { ROOT } from "./local/paths.ts";

const DATABASES = ["network", "products"];

function checkLosses(): string[] {
	return DATABASES.flatMap((database) => {
		const folder = join(ROOT, "drizzle", database);
		return readdirSync(folder)
			.filter((file) => file.endsWith(".sql"))
			.flatMap((file) => findLosses(readFileSync(join(folder, file), "utf8")).map((loss) => `drizzle/${database}/${file}: ${loss}`));
	});
}

/** What drizzle-kit would still generate: the schema has something that no migration makes. */
function findDrift(database: string): string[] {
	const copy = mkdtempSync(join(tmpdir(), "clickbourse-migrations-"));
	try {
		cpSync(join(ROOT, "drizzle", database), copy, { recursive: true });
		const before = readdirSync(copy).length;
		const { status, stdout, stderr } = spawnSync(
			process.execPath,
			[
				join(ROOT, "node_modules", "drizzle-kit", "bin.cjs"),
				...["generate", "--dialect", "sqlite", "--casing", "snake_case", "--out", copy],
				...["--schema", join(ROOT, "src", "db", "schema", `${database}.ts`)],
			],
			{ cwd: ROOT, encoding: "utf8" },
		);
		if (status !== 0) throw new Failure(`${stdout}${stderr}\ndrizzle-kit failed for ${database}: see above.`);
		const added = readdirSync(copy).length - before;
		return added === 0 ? [] : [`src/db/schema/${database}.ts has changes that no migration makes: run \`npm run db:generate\``];
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
}

function checkMigrations(): void {
	const faults = [...checkLosses(), ...DATABASES.flatMap(findDrift)];
	if (faults.length > 0) throw new Failure(`${faults.join("\n")}\n\nThe migrations are not sound.`);
	console.log("No migration can lose rows, and the schema has nothing that they do not make.");
}

try {
	checkMigrations();
} catch (error) {
	reportFailure(error);
}
