/** What a move copies: every table of the network database, but for the two that are about the move itself. */
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { propertiesOf } from "../db/json-rows.ts";
import * as network from "../db/schema/network.ts";

export type MovedTable = {
	name: string;
	table: SQLiteTable;
	/** Properties of all columns. */
	columns: readonly string[];
	/** Those of the primary key, in its order. */
	keys: readonly string[];
	/** Those that hold integers. */
	integers: readonly string[];
};

/** Rows of `import_rows` are of an import that the move has cut off, which takes over all of its file or nothing. */
const LEFT: ReadonlySet<SQLiteTable> = new Set<SQLiteTable>([network.databaseMove, network.databaseMoveProgress, network.importRows]);

export const HELD_TABLES: readonly SQLiteTable[] = Object.values(network).filter(
	(table): table is typeof table & SQLiteTable =>
		is(table, SQLiteTable) && table !== network.databaseMove && table !== network.databaseMoveProgress,
);

export const MOVED_TABLES: readonly MovedTable[] = HELD_TABLES.filter((table) => !LEFT.has(table)).map(describeTable);

function describeTable(table: SQLiteTable): MovedTable {
	const columns = Object.entries(getTableColumns(table));
	const [composite] = getTableConfig(table).primaryKeys;
	const keyColumns = composite?.columns ?? columns.map(([, column]) => column).filter(({ primary }) => primary);
	const keys = keyColumns.map((key) => columns.find(([, column]) => column === key || column.name === key.name)?.[0] ?? "");
	return {
		name: getTableName(table),
		table,
		columns: propertiesOf(table),
		keys,
		integers: columns.filter(([, column]) => column.getSQLType() === "integer").map(([property]) => property),
	};
}
