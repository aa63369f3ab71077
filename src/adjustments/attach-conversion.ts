/** Conversions that are given the click that an operator names, and lose it again. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { isOvertaken } from "../db/overtaken.ts";
import { adjustments } from "../db/schema/adjustments.ts";
import { invalidInput } from "../http/errors.ts";
import type { AdjustmentRequest, AttachRequest } from "./adjustment-request.ts";
import { type Adjustment, type NewAdjustment, requestOf, storeOnce } from "./adjustment-rows.ts";
import { besideAdjustment } from "./audit-adjustment.ts";
import { type AdjustmentDeps, type Change, type ConversionKey, type Judgement, NO_CHANGE } from "./deps.ts";

type Attachment = { key: ConversionKey; click: string };

/** What an adjustment attached. @throws HttpError 422 where the conversion has not that click any more, or never got it */
export async function readAttachment(db: Database, { request, conversions }: Adjustment): Promise<Attachment> {
	const { platform, txnid, click } = JSON.parse(request) as ConversionKey & { click: string };
	const [present] = await db.all<{ clickId: string | null }>(
		sql`SELECT click_id AS "clickId" FROM conversions WHERE platform = ${platform} AND txnid = ${txnid}`,
	);
	if (conversions === 0 || present?.clickId !== click) {
		throw invalidInput([{ path: "adjustment", message: "is of a conversion that has another click, or none" }]);
	}
	return { key: { platform, txnid }, click };
}

/** Takes the click away, and adds the undoing in the same transaction. */
export function detachBy(
	deps: AdjustmentDeps,
	row: NewAdjustment,
	{ key, click }: Attachment,
	request: AdjustmentRequest,
): Promise<Adjustment> {
	return storeMove(deps, row, request, (alongside) => deps.detach(key, click, row.id, { alongside }));
}

export async function previewDetach({ detach }: AdjustmentDeps, { key, click }: Attachment): Promise<Change> {
	return changeOf(await detach(key, click, "", { dryRun: true }));
}

type Alongside = (judgement: Judgement) => SQL[];

/** Moves a conversion to or from a click, with the adjustment's row in the same transaction. @returns the row, or that of the same request where it was faster */
export async function storeMove(
	deps: AdjustmentDeps,
	row: NewAdjustment,
	request: AdjustmentRequest | AttachRequest,
	run: (alongside: Alongside) => Promise<Judgement | null>,
): Promise<Adjustment> {
	const alongside: Alongside = (judgement) => {
		const { conversions, publisherRevenueMicros, grossRevenueMicros } = changeOf(judgement);
		return [
			insertRows(adjustments, [{ ...row, request: requestOf(request), conversions, publisherRevenueMicros, grossRevenueMicros }]),
			...besideAdjustment(deps, row, request, { counts: { conversions } }),
		];
	};
	return storeOnce(deps, row, request, async () => changeOf(await run(alongside)), isOvertaken);
}

/** @throws HttpError 422 where conversion or click are gone meanwhile */
export function changeOf(judgement: Judgement | null): Change {
	if (judgement === null) throw invalidInput([{ path: "click", message: "is not there any more" }]);
	const { changed, publisherRevenueMicros, grossMicros } = judgement;
	return { ...NO_CHANGE, conversions: changed ? 1 : 0, publisherRevenueMicros, grossRevenueMicros: grossMicros };
}
