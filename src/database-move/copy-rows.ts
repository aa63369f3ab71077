/** Copies a table, some rows a transaction, with how far it has come in that transaction: a break loses and repeats nothing. */
import { sql } from "drizzle-orm";
import { insertCells, writeCells } from "../db/json-rows.ts";
import { keyOf, nextChunkRows, readKey, readRows, writeKey } from "./keyset.ts";
import type { MovedTable } from "./tables.ts";
import { keepProgress, type Progress } from "./target.ts";
import type { Walk } from "./walk.ts";

/** @returns how far it has come when the table or the time was over */
export async function copyRows({ from, to, moveId, isOver }: Walk, moved: MovedTable, start: Progress): Promise<Progress> {
	let progress = start;
	let limit = nextChunkRows(0, 0);
	while (progress.done === 0 && !isOver()) {
		const rows = await readRows(from, moved, { after: readKey(progress.lastKey), upTo: null }, limit);
		const last = rows.at(-1);
		const next: Progress = {
			...progress,
			lastKey: last === undefined ? progress.lastKey : writeKey(keyOf(moved, last)),
			rowCount: progress.rowCount + rows.length,
			done: rows.length < limit ? 1 : 0,
		};
		const cells = writeCells(moved.columns, rows);
		const insert = insertCells(moved.table, moved.columns, sql`${cells}`, sql`ON CONFLICT DO NOTHING`);
		await keepProgress(to, moveId, progress.lastKey, next, rows.length === 0 ? [] : [insert]);
		progress = next;
		limit = nextChunkRows(rows.length, cells.length);
	}
	return progress;
}
