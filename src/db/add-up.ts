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
		const sumsOf = new Map<string, number[]>();
		for (const move of moves) {
			const id = JSON.stringify(key.map((name) => move[name] ?? null));
			const before = sumsOf.get(id);
			const added = sums.map((name, at) => (before?.[at] ?? 0) + Number(move[name]));
			sumsOf.set(id, added);
		}
		// A key's text is the beginning of its row's.
		const rows = [...sumsOf].flatMap(([id, added]) => (added.some((sum) => sum !== 0) ? `${id.slice(0, -1)},${added.join(",")}]` : []));
		return rows.length === 0 ? null : `[${rows.join(",")}]`;
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
