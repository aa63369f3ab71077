import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "./failure.ts";

/**
 * A Worker that runs statements on a database bound to it: each that Miniflare is asked for from its own process costs milliseconds on
 * its way there, and there are hundreds.
 */
export const MIGRATING_WORKER = `export default {
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

/** How that Worker is asked. */
export type Ask = (url: string, init: { method: "POST"; body: string }) => Promise<Pick<Response, "ok" | "text" | "json">>;

/** As wrangler makes it. */
const APPLIED = `CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
	applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;

/**
 * Applies the migrations of a folder that a database lacks, each in a transaction, as `wrangler d1 migrations apply` does, in the same
 * place and with the same table of what was applied.
 * @throws Failure that names the migration
 */
export async function applyMigrations(ask: Ask, binding: string, folder: string): Promise<void> {
	const run = async (statements: readonly string[]): Promise<unknown> => {
		const response = await ask("http://migrate", { method: "POST", body: JSON.stringify({ binding, statements }) });
		if (!response.ok) throw new Error(await response.text());
		return response.json();
	};
	const rows = (await run([APPLIED, "SELECT name FROM d1_migrations"])) as { name: string }[];
	const applied = new Set(rows.map(({ name }) => name));
	const files = (await readdir(folder)).filter((file) => file.endsWith(".sql") && !applied.has(file)).sort();
	for (const file of files) {
		const statements = (await readFile(join(folder, file), "utf8")).split("--> statement-breakpoint");
		try {
			await run([...statements, `INSERT INTO d1_migrations (name) VALUES ('${file.replaceAll("'", "''")}')`]);
		} catch (error) {
			throw new Failure(
				`${error instanceof Error ? error.message : String(error)}\n\nThe local database ${binding} could not be migrated by ${file}.\n` +
					"If a migration was changed after it had been applied, `npm run reset` clears the local state; then run `npm start` again.",
			);
		}
	}
}
