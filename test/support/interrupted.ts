import { env } from "cloudflare:workers";
import { type Database, openDatabase } from "../../src/db/client.ts";
import "./worker-env.ts";

/** The database, where something else happens once, before the first batch: between what was read and what is written. */
export function interrupted(meanwhile: () => Promise<unknown>): Database {
	let isOver = false;
	const client = {
		prepare: (query: string) => env.DB.prepare(query),
		batch: async (statements: D1PreparedStatement[]) => {
			const isFirst = !isOver;
			isOver = true;
			if (isFirst) await meanwhile();
			return env.DB.batch(statements);
		},
	};
	return openDatabase(client as unknown as D1Database);
}
