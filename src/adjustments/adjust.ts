/** What an operator takes back, gives back, adds or takes: each an adjustment, a row that is only ever added. */
import { eq, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { renewDigests } from "../db/digests-of-days.ts";
import { NUMBER, TAKE_NUMBER } from "../db/report-sequence.ts";
import { adjustments } from "../db/schema/adjustments.ts";
import { invalidInput } from "../http/errors.ts";
import { newTimeOrderedId } from "../lib/ids.ts";
import { logError, logInfo } from "../lib/log.ts";
import { formatUsd } from "../lib/money.ts";
import { EARLIEST_EVENT_AT, utcDay } from "../lib/time.ts";
import { countVoided, previewVoid, restoreAll, voidAll } from "./adjust-clicks.ts";
import { judgeBy, previewWord, readUndoingWord, readWord } from "./adjust-conversion.ts";
import type { Adjusted } from "./adjustment-answer.ts";
import { type AdjustmentRequest, type AmountRequest, microsOf, type UndoRequest, type VoidClicksRequest } from "./adjustment-request.ts";
import { type Adjustment, type NewAdjustment, openAdjustment, readAdjustment, requestOf } from "./adjustment-rows.ts";
import { detachBy, previewDetach, readAttachment } from "./attach-conversion.ts";
import { type AdjustmentDeps, type Change, NO_CHANGE } from "./deps.ts";
import type { AnyRequest } from "./revalue-request.ts";
import { readSelection, requirePublisher } from "./select-clicks.ts";

/**
 * Does what a request asks. Under an id that is known it goes on where it was cut off, and answers what came of it in all.
 * @throws HttpError 422 where it cannot be done, 412 where its id is another request's
 */
export async function adjust(deps: AdjustmentDeps, request: AdjustmentRequest): Promise<Adjusted> {
	const stored = await carryOut(deps, request);
	const { id, kind, clicks, conversions } = stored;
	if (clicks > 0) await tellOfSpend(deps);
	logInfo("adjustment.made", { adjustment: id, kind, clicks, conversions, complete: stored.cursor === null });
	const alike = request.kind === "amount" ? await findAlike(deps.db, request, id).catch(tellOfNone) : null;
	return { id, ...answerOf(kind, { ...stored, complete: stored.cursor === null }), alike, dry_run: false };
}

/** The amount is booked: what is told beside it must not make a failure of that. */
function tellOfNone(error: unknown): null {
	logError("adjustment.alike_not_looked_for", error);
	return null;
}

/** Best effort: the cron looks at caps every minute. */
async function tellOfSpend({ onSpendChanged }: AdjustmentDeps): Promise<void> {
	try {
		await onSpendChanged();
	} catch (error) {
		logError("adjustment.caps_not_looked_at", error);
	}
}

async function carryOut(deps: AdjustmentDeps, request: AdjustmentRequest): Promise<Adjustment> {
	const { db, beside } = deps;
	const known = request.id === undefined || beside !== undefined ? null : await readAdjustment(db, request.id, request);
	if (known !== null && known.cursor === null) return known;
	if (request.kind === "void_clicks") return voidClicks(deps, request, known);
	if (request.kind === "amount") return addAmount(deps, request);
	if (request.kind === "undo") return undo(deps, request, known);
	return judgeBy(deps, newRow(deps, request), () => readWord(db, request), request);
}

/** What a request would do. @throws HttpError 422 where it could not be done */
export async function previewAdjustment(deps: AdjustmentDeps, request: AdjustmentRequest): Promise<Adjusted> {
	const { db } = deps;
	const change =
		request.kind === "void_clicks"
			? await previewVoid(db, await readSelection(db, request, deps.now()))
			: request.kind === "amount"
				? await previewAmount(deps, request)
				: request.kind === "undo"
					? await previewUndo(deps, request)
					: await previewWord(deps, await readWord(db, request));
	const alike = request.kind === "amount" ? await findAlike(db, request, request.id) : null;
	return { id: null, ...answerOf(request.kind, change), alike, dry_run: true };
}

export function answerOf(kind: Adjusted["kind"], change: Change): Omit<Adjusted, "id" | "dry_run"> {
	const { clicks, conversions, publisherRevenueMicros, grossRevenueMicros, complete } = change;
	return {
		kind,
		clicks,
		conversions,
		publisher_revenue: formatUsd(publisherRevenueMicros),
		gross_revenue: formatUsd(grossRevenueMicros),
		complete,
		alike: null,
	};
}

export function newRow({ now, actor }: AdjustmentDeps, request: AnyRequest): NewAdjustment {
	const at = now();
	return {
		id: request.id ?? newTimeOrderedId(at),
		kind: request.kind,
		actor: actor.name,
		at,
		text: request.text,
		request: requestOf(request),
	};
}

async function voidClicks(deps: AdjustmentDeps, request: VoidClicksRequest, known: Adjustment | null): Promise<Adjustment> {
	const { db, now } = deps;
	const selection = await readSelection(db, request, known?.at ?? now());
	const opened = known ?? (await openAdjustment(deps, { ...newRow(deps, request), cursor: selection.after }, request));
	return voidAll(db, opened, selection);
}

/** As of conversions: from the first day that has anything on, counters are compared and digests looked at. */
const FIRST_DAY = utcDay(EARLIEST_EVENT_AT);

async function previewAmount({ db, now }: AdjustmentDeps, { publisher, date, amount }: AmountRequest): Promise<Change> {
	await requirePublisher(db, publisher);
	if (date > utcDay(now())) throw invalidInput([{ path: "date", message: "must not be a day to come" }]);
	if (date < FIRST_DAY) throw invalidInput([{ path: "date", message: `must not be before ${FIRST_DAY}` }]);
	return { ...NO_CHANGE, publisherRevenueMicros: microsOf(amount) };
}

async function addAmount(deps: AdjustmentDeps, request: AmountRequest): Promise<Adjustment> {
	const { publisherRevenueMicros } = await previewAmount(deps, request);
	return storeAmount(
		deps,
		{ ...newRow(deps, request), publisherId: request.publisher, date: request.date },
		publisherRevenueMicros,
		request,
	);
}

/** What has the same amount on the same day already: booked twice, perhaps. @param id of the one that is looked at, where it has one */
async function findAlike(db: Database, { publisher, date, amount }: AmountRequest, id = ""): Promise<string | null> {
	const [found] = await db.all<{ id: string }>(sql`SELECT a.id FROM adjustments a
		WHERE a.publisher_id = ${publisher} AND a.date = ${date} AND a.kind = 'amount' AND a.amount_micros = CAST(${microsOf(amount)} AS BIGINT)
			AND a.id <> ${id} AND NOT EXISTS (SELECT 1 FROM adjustments u WHERE u.undoes = a.id)
		ORDER BY a.at DESC, a.id DESC LIMIT 1`);
	return found?.id ?? null;
}

/** Adds an amount to a publisher's day, in one transaction with its row. */
function storeAmount(deps: AdjustmentDeps, row: NewAdjustment, amountMicros: number, request: AdjustmentRequest): Promise<Adjustment> {
	return openAdjustment(deps, { ...row, amountMicros, publisherRevenueMicros: amountMicros }, request, [
		sql`INSERT INTO daily_publishers (publisher_id, date, adjustment_micros) VALUES (${row.publisherId}, ${row.date}, ${amountMicros})
			ON CONFLICT (publisher_id, date) DO UPDATE SET adjustment_micros = daily_publishers.adjustment_micros + excluded.adjustment_micros`,
		renewDigests([row]),
		TAKE_NUMBER,
		sql`UPDATE adjustments SET sequence = ${NUMBER} WHERE id = ${row.id}`,
	]);
}

/** The adjustment that is to be undone. @throws HttpError 422 where it cannot be; one whose undoing was cut off can */
async function readUndone(db: Database, { adjustment }: UndoRequest): Promise<{ target: Adjustment; begun: Adjustment | null }> {
	const refuse = (message: string) => invalidInput([{ path: "adjustment", message }]);
	const [target] = await db.select().from(adjustments).where(eq(adjustments.id, adjustment));
	if (target === undefined) throw refuse("is no adjustment's id");
	if (target.kind === "undo") throw refuse("is an undo, which cannot be undone");
	if (target.kind === "revalue") throw refuse("is a revaluation: import the rates of before, and revalue again");
	const [begun] = await db.select().from(adjustments).where(eq(adjustments.undoes, adjustment));
	if (begun !== undefined && begun.cursor === null) throw refuse(`is undone already, by ${begun.id}`);
	return { target, begun: begun ?? null };
}

async function undo(deps: AdjustmentDeps, request: UndoRequest, known: Adjustment | null): Promise<Adjustment> {
	const { db } = deps;
	const { target, begun } = await readUndone(db, request);
	const row = { ...newRow(deps, request), undoes: target.id };
	if (target.kind === "void_clicks") {
		// One that is still under way ends here: what it has taken is given back.
		const ending = sql`UPDATE adjustments SET cursor = NULL WHERE id = ${target.id}`;
		return restoreAll(db, known ?? begun ?? (await openAdjustment(deps, { ...row, cursor: "" }, request, [ending])), target.id);
	}
	if (target.kind === "amount") {
		const { publisherId, date, amountMicros } = target;
		return storeAmount(deps, { ...row, publisherId, date }, -(amountMicros ?? 0), request);
	}
	if (target.kind === "attach_conversion") return detachBy(deps, row, await readAttachment(db, target), request);
	return judgeBy(deps, row, () => readUndoingWord(db, target), request);
}

async function previewUndo(deps: AdjustmentDeps, request: UndoRequest): Promise<Change> {
	const { target } = await readUndone(deps.db, request);
	if (target.kind === "void_clicks") return countVoided(deps.db, target.id);
	if (target.kind === "amount") return { ...NO_CHANGE, publisherRevenueMicros: -(target.amountMicros ?? 0) };
	if (target.kind === "attach_conversion") return previewDetach(deps, await readAttachment(deps.db, target));
	return previewWord(deps, await readUndoingWord(deps.db, target));
}
