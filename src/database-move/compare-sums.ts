/** Has both databases add up every integer column, some thousand rows at a time, by the same statement. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { columnNames, tableName } from "../db/json-rows.ts";
import { type ExactSum, readSum, sumOf } from "../reports/exact-sum.ts";
import { keyBehind, type Range, readKey, within, writeKey } from "./keyset.ts";
import type { MovedTable } from "./tables.ts";
import { keepProgress, type Progress } from "./target.ts";
import type { Walk } from "./walk.ts";

/** Few enough for the shorter of both databases' time limits. */
const ROWS_A_STATEMENT = 20_000;

/** @returns how far it has come when the table or the time was over */
export async function compareSums({ from, to, moveId, isOver, report }: Walk, moved: MovedTable, start: Progress): Promise<Progress> {
	let progress = start;
	while (progress.done === 0 && !isOver()) {
		const after = readKey(progress.lastKey);
		const upTo = await keyBehind(from, moved, after, ROWS_A_STATEMENT);
		const range = { after, upTo };
		const [left, right] = await Promise.all([addUp(from, moved, range), addUp(to, moved, range)]);
		let differenceCount = progress.differenceCount;
		for (const [column, sum] of Object.entries(left)) {
			if (sum === right[column]) continue;
			differenceCount++;
			report({ table: moved.name, kind: "sum", key: upTo?.join(" ") ?? null, column, from: String(sum), to: String(right[column]) });
		}
		const next: Progress = {
			...progress,
			lastKey: upTo === null ? progress.lastKey : writeKey(upTo),
			rowCount: progress.rowCount + Number(left.rows),
			differenceCount,
			sums: add(progress.sums, left),
			done: upTo === null ? 1 : 0,
		};
		await keepProgress(to, moveId, progress.lastKey, next);
		progress = next;
	}
	return progress;
}

async function addUp(db: Database, moved: MovedTable, range: Range): Promise<Record<string, bigint>> {
	const { table, integers } = moved;
	const sums = integers.map((property) => {
		const column = columnNames(table, [property]);
		return sql`, ${sumOf(sql`r.${column}`)} AS ${column}`;
	});
	const [row = {}] = await db.all<Record<string, ExactSum>>(
		sql`SELECT CAST(COUNT(*) AS TEXT) AS rows_there${sql.join(sums)} FROM ${tableName(table)} r WHERE ${within(moved, range)}`,
	);
	const { rows_there: rows = null, ...columns } = row;
	const read = Object.entries(columns).map(([column, sum]) => [column, readSum(sum)]);
	return { rows: BigInt(rows ?? 0), ...Object.fromEntries(read) };
}

function add(sums: string, more: Readonly<Record<string, bigint>>): string {
	const known = JSON.parse(sums) as Record<string, string>;
	const both = Object.entries(more).map(([column, sum]) => [column, String(BigInt(known[column] ?? 0) + sum)]);
	return JSON.stringify(Object.fromEntries(both));
}
