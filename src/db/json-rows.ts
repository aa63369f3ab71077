/** Many rows as one JSON parameter: how a batch is written in a few statements, whatever its size. */
import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/**
 * An INSERT of all `rows`, which must name the same properties. Columns they do not name get their defaults.
 * @param then what follows, such as an ON CONFLICT clause
 */
export function insertRows<Table extends SQLiteTable>(
	table: Table,
	rows: readonly Partial<Table["$inferInsert"]>[],
	then: SQL = sql``,
): SQL {
	const columns: Record<string, { name: string }> = getTableColumns(table);
	const properties = Object.keys(rows[0] ?? {});
	const names = properties.map((property) => `"${columnNamed(columns, property)}"`).join(", ");
	const values = properties.map((property) => `value ->> '$.${property}'`).join(", ");
	// Without WHERE the parser takes ON CONFLICT for a join's.
	return sql`INSERT INTO ${sql.raw(getTableName(table))} (${sql.raw(names)}) SELECT ${sql.raw(values)} FROM json_each(${JSON.stringify(rows)}) WHERE true ${then}`;
}

/** Every column of a table under its property's name, as a plain statement gives it: booleans are 0 and 1. */
export function allColumns(table: SQLiteTable, alias: string): SQL {
	const columns = Object.entries(getTableColumns(table)).map(([property, column]) => `${alias}."${column.name}" AS "${property}"`);
	return sql.raw(columns.join(", "));
}

function columnNamed(columns: Record<string, { name: string }>, property: string): string {
	const column = columns[property];
	if (column === undefined) throw new Error(`no column ${property}`);
	return column.name;
}
