/** The network's database as it was before one of its migrations. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const FOLDER = "drizzle/network";

/**
 * The database before a migration, and what applies it.
 * @param name of the file, without its number
 */
export function openBefore(name: string): { db: DatabaseSync; migrate: () => void } {
	const files = readdirSync(FOLDER).filter((file) => file.endsWith(".sql"));
	const migration = files.find((file) => file.endsWith(`_${name}.sql`));
	if (migration === undefined) throw new Error(`there is no migration ${name}`);
	const db = new DatabaseSync(":memory:");
	const apply = (file: string) => db.exec(readFileSync(join(FOLDER, file), "utf8"));
	for (const file of files.filter((other) => other < migration)) apply(file);
	return { db, migrate: () => apply(migration) };
}

/** A row with these values, and something in every other column that must not be empty. */
export function insertRow(db: DatabaseSync, table: string, values: Record<string, string | number>): void {
	const required = db.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE "notnull" = 1 AND dflt_value IS NULL`).all();
	const row: Record<string, string | number> = {
		...Object.fromEntries(required.map(({ name }) => [name, `${Object.values(values)[0]}`])),
		...values,
	};
	const names = Object.keys(row);
	db.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => "?")})`).run(...Object.values(row));
}
