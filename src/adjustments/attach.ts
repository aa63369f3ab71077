/** Gives a conversion that has no click the one that an operator names. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { invalidInput } from "../http/errors.ts";
import { answerOf, newRow } from "./adjust.ts";
import { noConversion } from "./adjust-conversion.ts";
import type { Adjusted } from "./adjustment-answer.ts";
import type { AttachRequest } from "./adjustment-request.ts";
import { readAdjustment } from "./adjustment-rows.ts";
import { changeOf, storeMove } from "./attach-conversion.ts";
import type { AdjustmentDeps, ConversionKey } from "./deps.ts";

/**
 * Attaches, or says what that would change. Under an id that is known, what came of it.
 * @throws HttpError 422 where the conversion is not there or has its click, or the click is not there; 412 where the id is another request's
 */
export async function attach(deps: AdjustmentDeps, request: AttachRequest, isDryRun: boolean): Promise<Adjusted> {
	const { db, beside } = deps;
	const { platform, txnid, click } = request;
	const key = { platform, txnid };
	const known = request.id === undefined || beside !== undefined ? null : await readAdjustment(db, request.id, request);
	if (known !== null) return { id: known.id, ...answerOf(known.kind, { ...known, complete: true }), dry_run: false };
	await requireUnattached(db, key);
	if (isDryRun) {
		const change = changeOf(await deps.attach(key, click, "", { dryRun: true }));
		return { id: null, ...answerOf(request.kind, change), dry_run: true };
	}
	const row = newRow(deps, request);
	const stored = await storeMove(deps, row, request, (alongside) => deps.attach(key, click, row.id, { alongside }));
	return { id: stored.id, ...answerOf(stored.kind, { ...stored, complete: true }), dry_run: false };
}

/** The click that was attached to a conversion under an id; null where nothing was. */
export async function readAttachedClick(db: Database, { platform, txnid }: ConversionKey, id: string): Promise<string | null> {
	const [known] = await db.all<{ request: string }>(sql`SELECT request FROM adjustments WHERE id = ${id} AND kind = 'attach_conversion'`);
	if (known === undefined) return null;
	const asked = JSON.parse(known.request) as ConversionKey & { click: string };
	return asked.platform === platform && asked.txnid === txnid ? asked.click : null;
}

/** A conversion keeps its click, of which its publisher was told: what an operator attached is undone first. */
async function requireUnattached(db: Database, { platform, txnid }: ConversionKey): Promise<void> {
	const [present] = await db.all<{ clickId: string | null }>(
		sql`SELECT click_id AS "clickId" FROM conversions WHERE platform = ${platform} AND txnid = ${txnid}`,
	);
	if (present === undefined) throw await noConversion(db, platform);
	if (present.clickId !== null) throw invalidInput([{ path: "txnid", message: "has its click already" }]);
}
