import { env } from "cloudflare:workers";
import "./worker-env.ts";

/**
 * Keeps what these tables hold beside them, so that a set-up of many statements is made once in a file.
 * @returns what puts it back, in one batch
 */
export async function keepRows(tables: readonly string[]): Promise<() => Promise<void>> {
	await env.DB.batch(tables.map((table) => env.DB.prepare(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`)));
	return async () => {
		await env.DB.batch(
			tables.flatMap((table) => [
				env.DB.prepare(`DELETE FROM ${table}`),
				env.DB.prepare(`INSERT INTO ${table} SELECT * FROM kept_${table}`),
			]),
		);
	};
}
