/** Compares every value of every row. */
import { asHeld, keyOf, nextChunkRows, type Row, readKey, readRows, writeKey } from "./keyset.ts";
import type { MovedTable } from "./tables.ts";
import { keepProgress, type Progress } from "./target.ts";
import type { Walk } from "./walk.ts";

/** @returns how far it has come when the table or the time was over */
export async function compareRows(walk: Walk, moved: MovedTable, start: Progress): Promise<Progress> {
	const { from, to, moveId, isOver } = walk;
	let progress = start;
	let limit = nextChunkRows(0, 0);
	while (progress.done === 0 && !isOver()) {
		const after = readKey(progress.lastKey);
		const rows = await readRows(from, moved, { after, upTo: null }, limit);
		const last = rows.at(-1);
		const isLast = rows.length < limit;
		const upTo = isLast || last === undefined ? null : keyOf(moved, last);
		// One more than there should be shows that there are others.
		const copies = await readRows(to, moved, { after, upTo }, rows.length + 1);
		const next: Progress = {
			...progress,
			lastKey: last === undefined ? progress.lastKey : writeKey(keyOf(moved, last)),
			rowCount: progress.rowCount + rows.length,
			differenceCount: progress.differenceCount + compare(walk, moved, rows, copies),
			done: isLast ? 1 : 0,
		};
		await keepProgress(to, moveId, progress.lastKey, next);
		progress = next;
		limit = nextChunkRows(rows.length, JSON.stringify(rows).length);
	}
	return progress;
}

/** @returns how many rows are not the same */
function compare({ report }: Walk, moved: MovedTable, rows: readonly Row[], copies: readonly Row[]): number {
	const nameOf = (row: Row) => keyOf(moved, row).map(asHeld).join(" ");
	const byKey = new Map(copies.map((copy) => [JSON.stringify(keyOf(moved, copy)), copy]));
	const none = { column: null, from: null, to: null };
	let differences = 0;
	for (const row of rows) {
		const key = JSON.stringify(keyOf(moved, row).map(asHeld));
		const copy = byKey.get(key);
		byKey.delete(key);
		const column = copy && moved.columns.find((property) => asHeld(row[property]) !== asHeld(copy[property]));
		if (copy !== undefined && column === undefined) continue;
		differences++;
		report({ table: moved.name, key: nameOf(row), kind: copy === undefined ? "missing" : "other", ...none, column: column ?? null });
	}
	for (const copy of byKey.values()) report({ table: moved.name, key: nameOf(copy), kind: "unknown", ...none });
	return differences + byKey.size;
}
