/** Millions of clicks, written straight into D1's file: through D1 it would take hours. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { insertStoredClicks, insertStoredCounters, sqliteHex } from "./stored.ts";

const ROWS_PER_STATEMENT = 1_000_000;

/** The file of the D1 database that has the network; nothing may have it open. @param known files of other networks in the same folder */
export function findD1File(folder: string, known: readonly string[] = []): string {
	const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\/[0-9a-f]{64}\.sqlite$/.test(name));
	const file = names.map((name) => join(folder, name)).find((file) => !known.includes(file) && hasClicks(file));
	if (file === undefined) throw new Error(`there is no network database in ${folder}`);
	return file;
}

function hasClicks(file: string): boolean {
	const db = new DatabaseSync(file, { readOnly: true });
	try {
		return db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'clicks'").get() !== undefined;
	} finally {
		db.close();
	}
}

/** Writes the clicks from number 0 up to below `rows`, with the counters that later ones meet. Indexes are as they were, made at the end. */
export function fillD1(file: string, rows: number, say: (text: string) => void): void {
	const db = new DatabaseSync(file);
	try {
		db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; PRAGMA threads = 2");
		const indexes = db
			.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'clicks' AND sql IS NOT NULL")
			.all();
		for (const { name } of indexes) db.exec(`DROP INDEX ${name}`);
		for (let from = 0; from < rows; from += ROWS_PER_STATEMENT) {
			db.exec(insertStoredClicks("clicks", sqliteHex, series(from, Math.min(rows, from + ROWS_PER_STATEMENT))));
			if (from % (5 * ROWS_PER_STATEMENT) === 0) say(`${from / 1_000_000} of ${rows / 1_000_000} million clicks stored`);
		}
		for (const { name, sql } of indexes) {
			say(`indexing ${name}`);
			db.exec(String(sql));
		}
		for (const statement of insertStoredCounters(rows, (count) => series(0, count))) db.exec(statement);
		db.exec("PRAGMA journal_mode = WAL");
	} finally {
		db.close();
	}
}

function series(from: number, to: number): string {
	return `(WITH RECURSIVE numbers(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${to}) SELECT n FROM numbers)`;
}
