/**
 * Many rows as one JSON parameter: how a batch is written in a few statements, whatever its size. And the one place that puts names of
 * the schema into raw SQL, where a statement is made for a table that is not known before (decision 0029).
 */
import { type Column, getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/** A table's name in the database. */
export function tableName(table: SQLiteTable): SQL {
	return sql.raw(getTableName(table));
}

/** A name made of a table's: of a trigger on it. */
export function derivedName(table: SQLiteTable, suffix: string): SQL {
	return sql.raw(`${getTableName(table)}${suffix}`);
}

/**
 * The names of columns, separated by commas.
 * @param properties as the schema calls them
 */
export function columnNames(table: SQLiteTable, properties: readonly string[]): SQL {
	return listOf(properties.map((property) => sql.raw(columnOf(table, property).name)));
}

/** The names of columns as a row value, each behind what it is of: an alias, or `excluded`. */
export function rowOf(table: SQLiteTable, properties: readonly string[], alias: SQL): SQL {
	return sql`(${listOf(properties.map((property) => sql`${alias}.${sql.raw(columnOf(table, property).name)}`))})`;
}

/** The properties of all columns of a table. */
export function propertiesOf<Table extends SQLiteTable>(table: Table): (keyof Table["$inferInsert"] & string)[] {
	return Object.keys(getTableColumns(table));
}

/** Behind ON CONFLICT … DO UPDATE SET: each column becomes what was to be inserted. */
export function replaceColumns(table: SQLiteTable, properties: readonly string[]): SQL {
	const names = properties.map((property) => columnOf(table, property).name);
	return sql.raw(names.map((name) => `${name} = excluded.${name}`).join(", "));
}

/** Behind ON CONFLICT … DO UPDATE SET: each column grows by what was to be inserted. */
export function addColumns(table: SQLiteTable, properties: readonly string[]): SQL {
	const names = properties.map((property) => columnOf(table, property).name);
	return sql.raw(names.map((name) => `${name} = ${getTableName(table)}.${name} + excluded.${name}`).join(", "));
}

type Columns<Table extends SQLiteTable> = Table["_"]["columns"];

/** A row as `SELECT *` gives it: under the columns' own names, booleans as 0 and 1. */
export type StoredRow<Table extends SQLiteTable> = {
	[Property in keyof Columns<Table> as Columns<Table>[Property]["_"]["name"]]:
		| (Columns<Table>[Property]["_"]["data"] extends boolean ? 0 | 1 : Columns<Table>[Property]["_"]["data"])
		| (Columns<Table>[Property]["_"]["notNull"] extends true ? never : null);
};

/** Every column of a table under its property's name, as a plain statement gives it: booleans are 0 and 1. */
export function allColumns(table: SQLiteTable, alias: string): SQL {
	const columns = Object.entries(getTableColumns(table)).map(([property, { name }]) => `${alias}.${name} AS "${property}"`);
	return sql.raw(columns.join(", "));
}

/**
 * An INSERT of all `rows`, which must name the same properties. Columns they do not name get their defaults.
 * @param then what follows, such as an ON CONFLICT clause
 * @param computed columns that the database computes, whether or not rows name them
 */
export function insertRows<Table extends SQLiteTable>(
	table: Table,
	rows: readonly Partial<Table["$inferInsert"]>[],
	then: SQL = sql``,
	computed: Readonly<Record<string, SQL>> = {},
): SQL {
	const properties = [...new Set([...Object.keys(rows[0] ?? {}), ...Object.keys(computed)])];
	// Without WHERE the parser takes ON CONFLICT for a join's.
	return sql`INSERT INTO ${tableName(table)} (${columnNames(table, properties)})
		SELECT ${readMembers(table, properties, sql`value`, computed)} FROM json_each(${JSON.stringify(rows, plainValue)}) WHERE true ${then}`;
}

/**
 * The values of columns in a row that is a JSON object of the table's properties, separated by commas.
 * @param instead what stands in the place of some
 */
export function readMembers(table: SQLiteTable, properties: readonly string[], row: SQL, instead: Readonly<Record<string, SQL>> = {}): SQL {
	return listOf(
		properties.map((property) => instead[property] ?? typed(columnOf(table, property), sql`${row} ->> ${sql.raw(`'${property}'`)}`)),
	);
}

/**
 * The same of a row that is a JSON array in the order of `properties`, each under its column's name: for batches whose size matters,
 * since an array does not repeat the names in every row.
 */
export function cellsAsColumns<Property extends string>(table: SQLiteTable, properties: readonly Property[], row: SQL): SQL {
	const cells = namedCells(properties, row);
	return listOf(
		properties.map((property) => {
			const column = columnOf(table, property);
			return sql`${typed(column, cells[property])} AS ${sql.raw(column.name)}`;
		}),
	);
}

/**
 * An INSERT of all rows that {@link writeCells} has written. Each row is made JSONB once: out of text, every cell costs a search for the
 * whole row, three times as much for a click (decision 0029).
 * @param rows what stands for them: a parameter such as `?1`, or the text itself
 * @param computed further columns, which the database computes
 */
export function insertCells(
	table: SQLiteTable,
	properties: readonly string[],
	rows: SQL,
	then: SQL = sql``,
	computed: Readonly<Record<string, SQL>> = {},
): SQL {
	const values = [cellsAsColumns(table, properties, sql`value`), ...Object.values(computed)];
	return sql`INSERT INTO ${tableName(table)} (${columnNames(table, [...properties, ...Object.keys(computed)])})
		WITH given AS MATERIALIZED (SELECT jsonb(value) AS value FROM json_each(${rows}))
		SELECT ${listOf(values)} FROM given WHERE true ${then}`;
}

/** The values in a row that is a JSON array, by the names of what stands there; numbers are to be cast by who reads them. */
export function namedCells<Name extends string>(names: readonly Name[], row: SQL): Record<Name, SQL> {
	const cells = names.map((name, at) => [name, sql`${row} ->> ${sql.raw(String(at))}`]);
	return Object.fromEntries(cells) as Record<Name, SQL>;
}

/** Rows as the JSON parameter that {@link namedCells} and {@link cellsAsColumns} read. */
export function writeCells<Name extends string>(names: readonly Name[], rows: readonly Readonly<Record<Name, unknown>>[]): string {
	return JSON.stringify(rows.map((row) => names.map((name) => row[name] ?? null)));
}

function listOf(parts: readonly SQL[]): SQL {
	return sql.join([...parts], sql.raw(", "));
}

/** `->>` gives text on PostgreSQL, whatever stands there. */
function typed(column: Column, value: SQL): SQL {
	return column.getSQLType() === "integer" ? sql`CAST(${value} AS BIGINT)` : value;
}

/** One row as JSON: what {@link readMembers} reads. */
export function writeRow(row: Readonly<Record<string, unknown>>): string {
	return JSON.stringify(Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainValue(name, value)])));
}

/** Booleans are stored as 0 and 1. */
function plainValue(_: string, value: unknown): unknown {
	return typeof value === "boolean" ? Number(value) : value;
}

function columnOf(table: SQLiteTable, property: string): Column {
	const columns: Record<string, Column> = getTableColumns(table);
	const column = columns[property];
	if (column === undefined) throw new Error(`no column ${property} in ${getTableName(table)}`);
	return column;
}
