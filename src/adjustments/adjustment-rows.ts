/** Rows of `adjustments`: added once, read back, and told apart by the request that made them. */
import { eq, type SQL } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { isConstraintError, OvertakenError } from "../db/overtaken.ts";
import { adjustments } from "../db/schema/adjustments.ts";
import { invalidInput } from "../http/errors.ts";
import { conflict, HttpError } from "../lib/http.ts";
import { besideAdjustment } from "./audit-adjustment.ts";
import type { AdjustmentDeps, Verdict } from "./deps.ts";
import type { AnyRequest } from "./revalue-request.ts";

export type Adjustment = typeof adjustments.$inferSelect;
export type NewAdjustment = typeof adjustments.$inferInsert;

/** Of a conversion that was judged: its verdict before, and the most that it passed if it was a release, micro-dollars. */
export type Before = { was: Verdict; was_released_micros?: number };

/** What was asked for, as a row keeps it. */
export function requestOf({ id: _, kind: __, text: ___, ...asked }: AnyRequest, before?: Before): string {
	return JSON.stringify({ ...asked, ...before });
}

/** @throws HttpError 412 where the id is of another request; null where there is none */
export async function readAdjustment(db: Database, id: string, request: AnyRequest): Promise<Adjustment | null> {
	const [row] = await db.select().from(adjustments).where(eq(adjustments.id, id));
	if (row === undefined) return null;
	const { was: _, was_released_micros: __, ...asked } = JSON.parse(row.request) as Record<string, unknown>;
	if (row.kind === request.kind && JSON.stringify(asked) === requestOf(request)) return row;
	throw conflict(`The id ${id} is of another adjustment.`);
}

/**
 * Adds an adjustment, in one transaction with what else it does at once. Where the same request came twice and the other was faster,
 * its row: nothing is done then.
 * @throws HttpError 412 where the id is of another request, 422 where it undoes what is undone already
 */
export async function openAdjustment(
	deps: AdjustmentDeps,
	row: NewAdjustment,
	request: AnyRequest,
	others: readonly SQL[] = [],
): Promise<Adjustment> {
	const write = () => runTransaction(deps.db, [insertRows(adjustments, [row]), ...besideAdjustment(deps, row, request), ...others]);
	return storeOnce(deps, row, request, write, isConstraintError);
}

/**
 * Has a transaction write that adds an adjustment's row.
 * @param isTaken whether it failed since the row, or what it moves, was there already
 * @returns the row, or that of the same request where it was faster
 */
export async function storeOnce(
	{ db, beside }: AdjustmentDeps,
	row: NewAdjustment,
	request: AnyRequest,
	write: () => Promise<unknown>,
	isTaken: (error: unknown) => boolean,
): Promise<Adjustment> {
	try {
		await write();
	} catch (error) {
		if (!isTaken(error)) throw error;
		const rival = await findRival(db, row, request);
		if (rival === null) throw error;
		if (beside !== undefined) throw error instanceof HttpError ? new OvertakenError("overtaken", { cause: error }) : error;
		return rival;
	}
	return reread(db, row.id);
}

/**
 * What stands in the way of a row that could not be added: the row of the same request, which another was faster with; null where there
 * is nothing. @throws HttpError 412 where its id is of another request, 422 where it undoes what is undone already
 */
async function findRival(db: Database, { id, undoes }: NewAdjustment, request: AnyRequest): Promise<Adjustment | null> {
	const same = await readAdjustment(db, id, request);
	if (same !== null || undoes === undefined || undoes === null) return same;
	const [undone] = await db.select({ id: adjustments.id }).from(adjustments).where(eq(adjustments.undoes, undoes));
	if (undone === undefined) return null;
	throw invalidInput([{ path: "adjustment", message: `is undone already, by ${undone.id}` }]);
}

/** An adjustment that is there, as it stands now. */
export async function reread(db: Database, id: string): Promise<Adjustment> {
	const [row] = await db.select().from(adjustments).where(eq(adjustments.id, id));
	if (row === undefined) throw new Error(`no adjustment ${id}`);
	return row;
}
