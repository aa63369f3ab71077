// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code
/** SQL is written by one rule: docs/decisions/0029-how-sql-is-written.md. */
import { globSync, readFileSync } from "node:fs";
import { getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import * as network from "../../src/db/schema/network.ts";
import * as products from "../../src/db/schema/products.ts";
import { readSql, SQLITE_ONLY } from "../support/node/sql-rule.ts";

const DECISION = readFileSync("docs/decisions/0029-how-sql-is-written.md", "utf8");
const MIGRATIONS = globSync("drizzle/*/*.sql").map((path) => readFileSync(path, "utf8"));

const TABLES = new Set([
	"json_each",
	// What scripts/postgres/migrate.ts keeps, and wrangler.
	"applied_migrations",
	"d1_migrations",
	...[...Object.values(network), ...Object.values(products)].filter((value) => is(value, SQLiteTable)).map((table) => getTableName(table)),
	...MIGRATIONS.flatMap((text) => [...text.matchAll(/CREATE (?:VIRTUAL TABLE|FUNCTION) `?(\w+)/g)].map(([, name = ""]) => name)),
]);

/** The schema itself writes indexes, not statements. */
const READINGS = globSync("src/**/*.{ts,tsx}", { exclude: ["src/db/schema/**"] })
	.map((path) => path.replaceAll("\\", "/"))
	.sort()
	.map((path) => ({ path, ...readSql(path, readFileSync(path, "utf8"), TABLES) }));

describe("unit: SQL in src", () => {
	it("follows the rule", () => {
		expect(TABLES.size).toBeGreaterThan(30);
		expect(READINGS.flatMap(({ faults }) => faults)).toEqual([]);
	});

	it("uses what SQLite alone understands only where the decision says so", () => {
		const found = Object.keys(SQLITE_ONLY).map((what) => [
			what,
			READINGS.filter(({ sqliteOnly }) => sqliteOnly.includes(what)).map(({ path }) => path),
		]);
		const rows = [...DECISION.matchAll(/^\| `([^`]+)` \| (.+?) \|/gm)];
		const listed = rows.map(([, what, files = ""]) => [what, [...files.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path)]);
		expect(listed).toEqual(found);
	});
});

const HEAD = `
import { and, eq, sql } from "drizzle-orm";
import { insertRows, tableName } from "../db/json-rows.ts";
import { MANIFEST_CHANGED } from "../db/schema/book.ts";
import { clicks } from "../db/schema/clicks.ts";
`;
const faultsOf = (code: string) => readSql("src/reports/some.ts", HEAD + code, TABLES).faults;

describe("unit: the reader of SQL", () => {
	it.each([
		["a table of the schema", "sql`SELECT id FROM ${clicks}`"],
		["a column of the schema", "sql`SELECT ${clicks.id} FROM clicks`"],
		["a table of the schema in a fragment of a fragment", "sql`SELECT 1 ${sql`FROM ${clicks}`}`"],
		["a table that is not there", "sql`SELECT id FROM click`"],
		["a column's name in capitals, unquoted", "sql`SELECT click_hash AS clickHash FROM clicks`"],
		["a JSON path", "sql`SELECT value ->> '$.id' FROM json_each(${text})`"],
		["an element as JSON", "sql`SELECT value, ${now} FROM json_each(${keys})`"],
		["json_extract", "sql`SELECT json_extract(value, 'id') FROM json_each(${text})`"],
		["IS between values", "sql`SELECT id FROM clicks WHERE reason IS NOT ${reason}`"],
		["INSERT OR", "sql`INSERT OR IGNORE INTO clicks (id) VALUES (${id})`"],
		["a CROSS JOIN with ON", "sql`SELECT 1 FROM json_each(${text}) j CROSS JOIN clicks c ON c.id = j.value`"],
		["a LEFT JOIN with nothing", "sql`SELECT c.id FROM clicks c LEFT JOIN campaigns g ON false`"],
		["a PRAGMA", "sql`PRAGMA table_list`"],
		["sql.raw", "sql.raw('id')"],
		["a prepared statement", "db.$client.prepare(text)"],
		["SQL in a string", "run('DELETE FROM clicks WHERE true')"],
		["SQL in a plain template", "run(`SELECT id FROM clicks WHERE id = ${id}`)"],
		["raw SQL in a condition of the builder", "db.select().from(clicks).where(sql`id = ${id}`)"],
		["raw SQL in a nested condition", "db.select().from(clicks).where(and(eq(clicks.id, id), sql`true`))"],
		["raw SQL among the columns of the builder", "db.select({ n: sql`1` }).from(clicks)"],
		["raw SQL in what the builder sets", "db.update(clicks).set({ bidMicros: sql`1` })"],
	])("finds %s", (_, code) => {
		expect(faultsOf(`const some = ${code};`)).toHaveLength(1);
	});

	it.each([
		["plain names", 'sql`SELECT id AS "clickId" FROM clicks WHERE reason IS NULL AND id = ${id}`'],
		["names through json-rows", "sql`SELECT id FROM ${tableName(clicks)}`"],
		["a value that the schema names", "sql`SELECT 1 FROM book_state WHERE manifest_dirty = ${MANIFEST_CHANGED}`"],
		["rows through json-rows, with what follows them", "insertRows(clicks, rows, sql`ON CONFLICT (id) DO NOTHING`)"],
		["a member that is called like a table", "sql`SELECT id FROM clicks WHERE id = ${sums.clicks}`"],
		["named queries", "sql`WITH page AS (SELECT id FROM clicks), next AS MATERIALIZED (SELECT id FROM page) SELECT id FROM next`"],
		["an upsert", "sql`INSERT INTO clicks (id) VALUES (${id}) ON CONFLICT (id) DO UPDATE SET uid = excluded.uid`"],
		["IS DISTINCT FROM a column", "sql`SELECT id FROM clicks c WHERE c.uid IS DISTINCT FROM c.atag`"],
		["the builder by itself", "db.select().from(clicks).where(eq(clicks.id, id))"],
	])("passes %s", (_, code) => {
		expect(faultsOf(`const some = ${code};`)).toEqual([]);
	});
});
