/** Counters: many moves become one row a key, which one statement adds to a table. */
import { type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { textOf } from "./client.ts";
import { addColumns, columnNames, insertCells } from "./json-rows.ts";

export type Addition<Move> = {
	/** `?1` is what {@link Addition.rowsOf} gives. */
	text: string;
	/** The sums of moves by key as a JSON parameter; null where they cancel each other out. */
	rowsOf: (moves: readonly Move[]) => string | null;
	/** The same as a statement of its own; none where they cancel each other out. */
	statements: (moves: readonly Move[]) => SQL[];
};

type Row = { key: unknown[]; sums: number[] };

/** The values of a key as one text, texts with their lengths: no two keys have the same. It is made for each move, so it is no JSON. */
function idOf<Move extends Record<string, unknown>>(move: Move, key: readonly (keyof Move & string)[]): string {
	let id = "";
	for (const name of key) {
		const value = move[name] ?? null;
		id += typeof value === "string" ? `${value.length}:${value} ` : `${value} `;
	}
	return id;
}

/**
 * Adds moves to a table of sums.
 * @param key  properties that tell one row from another
 * @param sums properties that are added up
 * @param where which keys are added to, from `AND` on: a condition on `value`, a list of the key's and the sums' values; absent for all
 */
export function additionTo<Move extends Record<string, unknown>>(
	table: SQLiteTable,
	key: readonly (keyof Move & string)[],
	sums: readonly (keyof Move & string)[],
	where: SQL = sql``,
): Addition<Move> {
	const columns = [...key, ...sums];
	const then = sql`${where} ON CONFLICT (${columnNames(table, key)}) DO UPDATE SET ${addColumns(table, sums)}`;
	const rowsOf = (moves: readonly Move[]) => {
		const byKey = new Map<string, Row>();
		for (const move of moves) {
			const id = idOf(move, key);
			const row = byKey.get(id) ?? { key: key.map((name) => move[name] ?? null), sums: sums.map(() => 0) };
			for (const [at, name] of sums.entries()) row.sums[at] = (row.sums[at] ?? 0) + Number(move[name]);
			byKey.set(id, row);
		}
		const rows = [...byKey.values()].filter((row) => row.sums.some((sum) => sum !== 0)).map((row) => [...row.key, ...row.sums]);
		return rows.length === 0 ? null : JSON.stringify(rows);
	};
	return {
		text: textOf(insertCells(table, columns, sql`?1`, then)),
		rowsOf,
		statements(moves) {
			const rows = rowsOf(moves);
			return rows === null ? [] : [insertCells(table, columns, sql`${rows}`, then)];
		},
	};
}
