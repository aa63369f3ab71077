/** Rows of statements that compare in the database: a key, and each of its sums as it is stored and as the rows give it. */
import type { PublisherCounter, Sides, Sum, SumRow } from "./compare-sums.ts";
import { SHAPES } from "./compare-sums.ts";

/** Sums that differ which one statement reads: the others are found by the next, once these are written right. */
export const MAX_DIFFERING = 2_000;

export type DifferingRow = SumRow & Partial<Record<`stored_${Sum}` | `counted_${Sum}`, number>>;

export function sidesOf(counter: PublisherCounter, rows: readonly DifferingRow[]): Sides {
	const { key, ofClicks, ofOthers } = SHAPES[counter];
	const side = (name: "stored" | "counted") =>
		rows.map((row): SumRow => {
			const ids = key.map((column) => [column, row[column]]);
			return Object.fromEntries([...ids, ...[...ofClicks, ...ofOthers].map((sum) => [sum, row[`${name}_${sum}`] ?? 0])]);
		});
	return { stored: side("stored"), counted: side("counted") };
}
