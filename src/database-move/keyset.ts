/** Rows of any table in the order of its key, some at a time, the same from either database. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { allColumns, columnNames, rowOf, tableName } from "../db/json-rows.ts";
import type { MovedTable } from "./tables.ts";

/** Values of a primary key, in its order. */
export type Key = readonly (string | number)[];
export type Row = Readonly<Record<string, string | number | null>>;

/** Behind one key, up to another; null for from the first, and to the last. */
export type Range = { after: Key | null; upTo: Key | null };

const MAX_CHUNK_ROWS = 2_000;
const MIN_CHUNK_ROWS = 20;
const CHUNK_BYTES = 500_000;

/** How many rows to read at once, by how large the latest were: some texts are a hundred times as long as a click. */
export function nextChunkRows(rows: number, bytes: number): number {
	if (rows === 0) return MIN_CHUNK_ROWS;
	return Math.min(MAX_CHUNK_ROWS, Math.max(MIN_CHUNK_ROWS, Math.floor((CHUNK_BYTES * rows) / Math.max(1, bytes))));
}

export function readRows(db: Database, moved: MovedTable, range: Range, limit: number): Promise<Row[]> {
	const { table, keys } = moved;
	return db.all<Row>(
		sql`SELECT ${allColumns(table, "r")} FROM ${tableName(table)} r WHERE ${within(moved, range)} ORDER BY ${columnNames(table, keys)} LIMIT ${limit}`,
	);
}

/** The key of the row that stands this many rows behind another one; null where there are fewer. */
export async function keyBehind(db: Database, moved: MovedTable, after: Key | null, rows: number): Promise<Key | null> {
	const { table, keys } = moved;
	const [row] = await db.all<Row>(
		sql`SELECT ${allColumns(table, "r")} FROM ${tableName(table)} r WHERE ${within(moved, { after, upTo: null })}
		ORDER BY ${columnNames(table, keys)} LIMIT 1 OFFSET ${rows - 1}`,
	);
	return row === undefined ? null : keyOf(moved, row);
}

/** A condition on rows of the alias `r`. */
export function within({ table, keys }: MovedTable, { after, upTo }: Range): SQL {
	const key = rowOf(table, keys, sql`r`);
	const from = after === null ? sql`true` : sql`${key} > ${listed(after)}`;
	return upTo === null ? from : sql`${from} AND ${key} <= ${listed(upTo)}`;
}

export function keyOf({ keys }: MovedTable, row: Row): Key {
	return keys.map((key) => row[key] ?? "");
}

/** As it is kept: PostgreSQL would not take every character of a text that SQLite has. */
export function writeKey(key: Key | null): string {
	return key === null ? "" : encodeURI(JSON.stringify(key));
}

export function readKey(text: string): Key | null {
	return text === "" ? null : (JSON.parse(decodeURI(text)) as Key);
}

/** A row as PostgreSQL can hold it: its text has neither NUL nor half a surrogate pair. */
export function asHeld(value: string | number | null | undefined): string | number | null {
	return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : (value ?? null);
}

function listed(key: Key): SQL {
	return sql`(${sql.join(
		key.map((value) => sql`${value}`),
		sql`, `,
	)})`;
}
