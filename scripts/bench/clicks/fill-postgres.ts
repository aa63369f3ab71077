/** Millions of clicks of one week, made by PostgreSQL itself. */
import { FIRST_AT } from "../../../test/bench/click-messages.ts";
import { FILL_SETTINGS, series, withClient } from "../postgres.ts";
import { insertStoredClicks, insertStoredCounters, postgresHex } from "./stored.ts";

const ROWS_PER_STATEMENT = 500_000;
const WRITERS = 2;

type Index = { name: string; definition: string; key: string | null };

/** Writes the clicks from number 0 up to below `rows`, with the counters that later ones meet. Indexes are as they were, made at the end. */
export async function fillPostgres(url: string, rows: number, say: (text: string) => void): Promise<void> {
	await withClient(url, async (client) => {
		await client.query(FILL_SETTINGS);
		await client.query("SELECT make_click_weeks($1, 2)", [FIRST_AT]);
		const partition = `clicks_${new Date(FIRST_AT).toISOString().slice(0, 10).replaceAll("-", "_")}`;
		const { rows: bounds } = await client.query<{ bound: string }>(
			"SELECT pg_get_expr(relpartbound, oid) AS bound FROM pg_class WHERE relname = $1",
			[partition],
		);
		const bound = bounds[0]?.bound;
		if (bound === undefined) throw new Error(`there is no partition ${partition}`);
		await client.query(`ALTER TABLE clicks DETACH PARTITION ${partition}`);
		const { rows: indexes } = await client.query<Index>(
			`SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition, pg_get_constraintdef(k.oid) AS key
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid
			WHERE i.indrelid = $1::regclass`,
			[partition],
		);
		for (const { name, key } of indexes)
			await client.query(key === null ? `DROP INDEX ${name}` : `ALTER TABLE ${partition} DROP CONSTRAINT ${name}`);
		await write(url, partition, rows, say);
		for (const { name, key, definition } of indexes) {
			say(`indexing ${name}`);
			await client.query(key === null ? definition : `ALTER TABLE ${partition} ADD CONSTRAINT ${name} ${key}`);
		}
		await client.query(`ALTER TABLE clicks ATTACH PARTITION ${partition} ${bound}`);
		for (const statement of insertStoredCounters(rows, (count) => series(0, count))) await client.query(statement);
		// As the cron has it: clicks are summed up to be learned from, whoever learns.
		await client.query("UPDATE click_sequence SET learning_gap = 0");
		say("vacuuming");
		await client.query("VACUUM (ANALYZE)");
	});
}

/** Some connections at once, each with the next million. */
async function write(url: string, table: string, rows: number, say: (text: string) => void): Promise<void> {
	let next = 0;
	const work = () =>
		withClient(url, async (client) => {
			await client.query(FILL_SETTINGS);
			while (next < rows) {
				const from = next;
				next = Math.min(rows, from + ROWS_PER_STATEMENT);
				if (from % (10 * ROWS_PER_STATEMENT) === 0) say(`${from / 1_000_000} of ${rows / 1_000_000} million clicks stored`);
				await client.query(insertStoredClicks(table, postgresHex, series(from, next)));
			}
		});
	await Promise.all(Array.from({ length: WRITERS }, work));
}
