/** The migrations of both engines make the same tables: columns, keys, indexes, and the rows that are there from the beginning. */
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { beforeAll, describe, expect, it } from "vitest";
import * as schema from "../../src/db/schema/network.ts";

const TABLES = Object.values(schema)
	.filter((value) => is(value, SQLiteTable))
	.map((table) => getTableName(table))
	.sort();

/** What scripts/postgres/migrate.ts keeps, and what writers lock. */
const POSTGRES_ONLY_TABLES = ["applied_migrations", "writer_turn"];
/** Tables that D1 alone has: none of the network's, but its migrations' own. */
const D1_ONLY_TABLES = ["_cf_METADATA", "d1_migrations", "sqlite_sequence"];
/** What is jsonb where D1 has text: rows of an import, read by their members over and over. */
const JSONB = ["import_rows.row"];
/** SQLite gives a number to every row whose only key is one; PostgreSQL where the code leaves it out. */
const NUMBERED = ["brands.id"];
/** What keys hold besides on PostgreSQL: the column that their table can be distributed by over nodes (scripts/postgres/distribute.sql). */
const ALSO_IN_KEY: Readonly<Record<string, string>> = {
	callback_attempts: "callback_id",
	click_history: "publisher_id",
	clicks: "click_hash",
	paid_visits: "publisher_id",
};
/** Unique by each partition of clicks: PostgreSQL has no key across them without what they are partitioned by (drizzle/postgres/0002). */
const OF_EACH_PARTITION = ["clicks_billed_by_hash"];

type Row = Record<string, string | number | null>;

async function onD1(query: string, ...values: string[]): Promise<Row[]> {
	return (
		await env.D1.prepare(query)
			.bind(...values)
			.all<Row>()
	).results;
}

async function onPostgres(query: string, ...values: string[]): Promise<Row[]> {
	return (
		await env.DB.prepare(query)
			.bind(...values)
			.all<Row>()
	).results;
}

const COLUMNS = `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, c.collname AS collation, a.attnotnull AS is_required,
	pg_get_expr(d.adbin, d.adrelid) AS value, a.attidentity AS identity
	FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum LEFT JOIN pg_collation c ON c.oid = a.attcollation
	WHERE a.attrelid = CAST(CAST(? AS text) AS regclass) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`;

const KEY = `SELECT a.attname AS name FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
	JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
	WHERE i.indrelid = CAST(CAST(? AS text) AS regclass) AND i.indisprimary ORDER BY k.place`;

const INDEXES = `SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
	WHERE i.indrelid = CAST(CAST(? AS text) AS regclass) AND NOT i.indisprimary ORDER BY 1`;

/** A column as one line, as PostgreSQL should have it. */
function describeSqlite(table: string, { name, type, notnull, dflt_value: value }: Row): string {
	const types: Record<string, string> = { INTEGER: "bigint", TEXT: 'text COLLATE "C"' };
	const of = `${table}.${name}`;
	const kind = JSONB.includes(of) ? "jsonb" : types[String(type).toUpperCase()];
	// false is how drizzle writes the 0 of a boolean.
	const given = value === "false" ? "0" : value === "true" ? "1" : value;
	return [of, kind, notnull === 1 && "NOT NULL", given !== null && `DEFAULT ${given}`, NUMBERED.includes(of) && "IDENTITY"]
		.filter((part) => part !== false)
		.join(" ");
}

function describePostgres(table: string, { name, type, collation, is_required: isRequired, value, identity }: Row): string {
	const given = value === null ? false : `DEFAULT ${String(value).replace(/::(?:text|bigint)$/, "")}`;
	return [
		`${table}.${name}`,
		collation === null ? type : `${type} COLLATE "${collation}"`,
		isRequired === 1 && "NOT NULL",
		given,
		identity !== "" && "IDENTITY",
	]
		.filter((part) => part !== false)
		.join(" ");
}

/** `pg_get_indexdef` without the schema, and without what it says of a partitioned table. */
const bare = (text: string, within: string) => text.replace(/ ON (?:ONLY )?/, " ON ").replaceAll(`${within}.`, "");

describe("postgres: the schema", () => {
	beforeAll(() => applyD1Migrations(env.D1, env.NETWORK_MIGRATIONS));

	it("has the same tables, but for each engine's own", async () => {
		const [here, there] = await Promise.all([
			onD1("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1"),
			onPostgres(
				"SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1",
			),
		]);
		expect(TABLES.length).toBeGreaterThan(40);
		const without = (rows: Row[], own: readonly string[]) => rows.map(({ name }) => String(name)).filter((name) => !own.includes(name));
		expect(without(here, D1_ONLY_TABLES)).toEqual(TABLES);
		expect(without(there, POSTGRES_ONLY_TABLES)).toEqual(TABLES);
	});

	it.each(TABLES)("%s has the same columns", async (table) => {
		const [here, there] = await Promise.all([onD1("SELECT * FROM pragma_table_xinfo(?) ORDER BY cid", table), onPostgres(COLUMNS, table)]);
		expect(there.map((column) => describePostgres(table, column)).sort()).toEqual(
			here.map((column) => describeSqlite(table, column)).sort(),
		);
	});

	it.each(TABLES)("%s has the same primary key", async (table) => {
		const [here, there] = await Promise.all([
			onD1("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table),
			onPostgres(KEY, table),
		]);
		const also = ALSO_IN_KEY[table];
		expect(there).toEqual(also === undefined ? here : [...here, { name: also }]);
		expect(there).not.toEqual([]);
	});

	// PostgreSQL itself says whether they are equal: it makes D1's indexes on a copy of the table, and writes both in its own way.
	it.each(TABLES)("%s has the same indexes", async (table) => {
		const here = await onD1(
			"SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL ORDER BY 1",
			table,
		);
		const copied = here.filter(({ name }) => !OF_EACH_PARTITION.includes(String(name)));
		await env.DB.batch(
			[
				"CREATE SCHEMA IF NOT EXISTS d1",
				`CREATE TABLE d1.${table} (LIKE public.${table})`,
				...copied.map(({ sql }) => String(sql).replaceAll("`", '"').replace(` ON "${table}"`, ` ON d1."${table}"`)),
			].map((statement) => env.DB.prepare(statement)),
		);
		const [expected, present] = await Promise.all([onPostgres(INDEXES, `d1.${table}`), onPostgres(INDEXES, `public.${table}`)]);
		expect(expected).toHaveLength(copied.length);
		expect(present.map(({ name, text }) => ({ name, text: bare(String(text), "public") }))).toEqual(
			expected.map(({ name, text }) => ({ name, text: bare(String(text), "d1") })),
		);
	});

	it("has the index of each partition on all of them", async () => {
		const [named] = await onD1("SELECT sql FROM sqlite_master WHERE name = ?", ...OF_EACH_PARTITION);
		const where = String(named?.sql).replaceAll("`", '"');
		const partitions = await onPostgres(
			"SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'clicks'::regclass ORDER BY 1",
		);
		expect(partitions.length).toBeGreaterThan(1);
		for (const { name } of partitions) {
			const index = `${name}_billed_by_hash`;
			await env.DB.batch(
				[
					"CREATE SCHEMA IF NOT EXISTS d1",
					`CREATE TABLE d1.${name} (LIKE public.${name})`,
					where.replace(`"${OF_EACH_PARTITION[0]}"`, index).replace(' ON "clicks"', ` ON d1.${name}`),
				].map((statement) => env.DB.prepare(statement)),
			);
			const [[expected], [present]] = (await Promise.all(
				["d1", "public"].map((within) =>
					onPostgres(`SELECT pg_get_indexdef(CAST(CAST(? AS text) AS regclass)) AS text`, `${within}.${index}`),
				),
			)) as [Row[], Row[]];
			expect(bare(String(present?.text), "public")).toBe(bare(String(expected?.text), "d1"));
		}
	});

	it.each(TABLES)("%s begins with the same rows", async (table) => {
		const write = (rows: Row[]) => rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
		const [here, there] = await Promise.all([onD1(`SELECT * FROM ${table}`), onPostgres(`SELECT * FROM ${table}`)]);
		expect(write(there)).toEqual(write(here));
	});
});
