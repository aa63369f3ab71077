/** Writes the rows of {@link deskTables} into a database of either engine. Indexes are as they were, made at the end. */
import { DatabaseSync } from "node:sqlite";
import { postgresHex, sqliteHex } from "../clicks/stored.ts";
import { FILL_SETTINGS, series, withClient, withoutIndexes } from "../postgres.ts";
import { deskTables, deskTotals, type Series } from "./stored.ts";

const ROWS_PER_STATEMENT = 500_000;

/** @param file of D1; nothing may have it open */
export function fillDeskD1(file: string, clicks: number, say: (text: string) => void): void {
	const db = new DatabaseSync(file);
	try {
		db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; PRAGMA threads = 2");
		for (const { name, rows, insert } of deskTables(clicks, { hex: sqliteHex, series: sqliteSeries })) {
			say(`storing ${rows} of ${name}`);
			const indexes = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL").all(name);
			for (const index of indexes) db.exec(`DROP INDEX ${index.name}`);
			for (const [from, to] of chunks(rows)) db.exec(insert(from, to));
			for (const index of indexes) db.exec(String(index.sql));
		}
		for (const statement of deskTotals(clicks)) db.exec(statement);
		db.exec("PRAGMA journal_mode = WAL");
	} finally {
		db.close();
	}
}

export async function fillDeskPostgres(url: string, clicks: number, say: (text: string) => void): Promise<void> {
	await withClient(url, async (client) => {
		await client.query(FILL_SETTINGS);
		await client.query("SELECT make_click_weeks($1, 16)", [Date.UTC(2026, 7, 17)]);
		for (const { name, rows, insert } of deskTables(clicks, { hex: postgresHex, series })) {
			say(`storing ${rows} of ${name}`);
			await withoutIndexes(client, name, async () => {
				for (const [from, to] of chunks(rows)) await client.query(insert(from, to));
			});
		}
		for (const statement of deskTotals(clicks)) await client.query(statement);
		say("vacuuming");
		await client.query("VACUUM (ANALYZE)");
	});
}

function chunks(rows: number): [from: number, to: number][] {
	return Array.from({ length: Math.ceil(rows / ROWS_PER_STATEMENT) }, (_, at) => [
		at * ROWS_PER_STATEMENT,
		Math.min(rows, (at + 1) * ROWS_PER_STATEMENT),
	]);
}

const sqliteSeries: Series = (from, to) =>
	`(WITH RECURSIVE numbers(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${to}) SELECT n FROM numbers)`;
