/** PostgreSQL for a part of the benchmark: the server that `npm start -- --postgres` has. */
import { chmodSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { migratePostgres } from "../postgres/migrate.ts";
import { type PostgresServer, startPostgres } from "../postgres/server.ts";
import type { Bench } from "./part.ts";

const DATABASE = "bench";

/** Nothing is kept if the machine stops, so that millions of rows are stored in minutes: for filling alone. */
const FILL_FLAGS = ["fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "max_wal_size=8GB", "autovacuum=off"];

/** What every guide to PostgreSQL sets first; what a commit promises stays as it is. */
const FLAGS = [`shared_buffers=${Math.floor(totalmem() / 4 / 2 ** 20)}MB`, "max_wal_size=16GB"];

export type BenchPostgres = PostgresServer & { url: string };

/** Makes the database in a folder `name` of the run's, lets `fill` store rows in it, and starts the server again so that every commit is on the disk. */
export async function startFilled({ folder }: Bench, name: string, fill: (url: string) => Promise<void>): Promise<BenchPostgres> {
	// Where this is root, the server runs as another user, who must get there.
	chmodSync(folder, 0o711);
	const data = join(folder, name);
	const filling = await startPostgres(data, FILL_FLAGS);
	try {
		await withClient(filling.urlOf("postgres"), (client) => client.query(`CREATE DATABASE ${DATABASE} TEMPLATE template0 ENCODING 'UTF8'`));
		await migratePostgres(filling.urlOf(DATABASE));
		await fill(filling.urlOf(DATABASE));
	} finally {
		await filling.stop();
	}
	const server = await startPostgres(data, FLAGS);
	return { ...server, url: server.urlOf(DATABASE) };
}

/** Runs what needs a connection of its own. */
export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		return await work(client);
	} finally {
		await client.end();
	}
}

/** Writes rows of a table while it has no index but its key; then its indexes are as they were. */
export async function withoutIndexes(client: Client, table: string, write: () => Promise<void>): Promise<void> {
	const { rows: indexes } = await client.query<{ name: string; definition: string }>(
		`SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = $1::regclass AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)`,
		[table],
	);
	for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
	await write();
	// Of a partitioned table: of its partitions, too.
	for (const { definition } of indexes) await client.query(definition.replace(" ON ONLY ", " ON "));
}

/** What a connection that fills sets first. */
export const FILL_SETTINGS = "SET statement_timeout = 0; SET maintenance_work_mem = '1GB'";

/** The numbers from `from` up to below `to`, as `n`. */
export function series(from: number, to: number): string {
	return `generate_series(CAST(${from} AS bigint), ${to - 1}) AS numbers (n)`;
}
