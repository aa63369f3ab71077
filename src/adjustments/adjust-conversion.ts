/** Voids, restores and releases a conversion: its verdict, which settling turns into sums and callbacks. */
import { and, eq } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { OvertakenError } from "../db/overtaken.ts";
import { adjustments } from "../db/schema/adjustments.ts";
import { conversions } from "../db/schema/conversions.ts";
import { invalidInput } from "../http/errors.ts";
import type { AdjustmentRequest, ConversionRequest } from "./adjustment-request.ts";
import { type Adjustment, findRival, type NewAdjustment, requestOf, reread } from "./adjustment-rows.ts";
import { type AdjustmentDeps, type Change, type ConversionKey, type Judgement, NO_CHANGE, type Verdict } from "./deps.ts";

const VERDICTS: Record<ConversionRequest["kind"], Verdict> = {
	void_conversion: "voided",
	restore_conversion: null,
	release_conversion: "released",
};

/** The verdict that an adjustment gives, and the conversion that it is given to. */
type Word = { key: ConversionKey; verdict: Verdict };

/** @throws HttpError 422 where the conversion is not there, or stands so already */
export async function readWord(db: Database, { kind, platform, txnid }: ConversionRequest): Promise<Word> {
	const key = { platform, txnid };
	const verdict = VERDICTS[kind];
	const present = await readVerdict(db, key);
	if (present === undefined) throw noConversion();
	if (present === verdict) throw refuse(verdict === null ? "is neither voided nor released" : `is ${verdict} already`);
	return { key, verdict };
}

/** What undoes an adjustment: the verdict before it. @throws HttpError 422 where another has judged the conversion since */
export async function readUndoingWord(db: Database, { kind, request }: Adjustment): Promise<Word> {
	const { platform, txnid, was } = JSON.parse(request) as ConversionKey & { was: Verdict };
	const key = { platform, txnid };
	if ((await readVerdict(db, key)) !== VERDICTS[kind as ConversionRequest["kind"]]) {
		throw invalidInput([{ path: "adjustment", message: "is of a conversion that was judged again since" }]);
	}
	return { key, verdict: was };
}

/** Judges, and adds the adjustment in the same transaction. */
export async function judgeBy(
	{ db, judge }: AdjustmentDeps,
	row: NewAdjustment,
	{ key, verdict }: Word,
	request: AdjustmentRequest,
): Promise<Adjustment> {
	const alongside = ({ changed, previous, publisherRevenueMicros, grossMicros }: Judgement) => [
		insertRows(adjustments, [
			{
				...row,
				request: requestOf(request, previous),
				conversions: changed ? 1 : 0,
				publisherRevenueMicros,
				grossRevenueMicros: grossMicros,
			},
		]),
	];
	try {
		if ((await judge(key, verdict, row.id, { alongside })) === null) throw noConversion();
	} catch (error) {
		if (!(error instanceof OvertakenError)) throw error;
		const rival = await findRival(db, row, request);
		if (rival === null) throw error;
		return rival;
	}
	return reread(db, row.id);
}

/** What judging would change. */
export async function previewWord({ judge }: AdjustmentDeps, { key, verdict }: Word): Promise<Change> {
	const judgement = await judge(key, verdict, "", { dryRun: true });
	if (judgement === null) throw noConversion();
	const { changed, publisherRevenueMicros, grossMicros } = judgement;
	return { ...NO_CHANGE, conversions: changed ? 1 : 0, publisherRevenueMicros, grossRevenueMicros: grossMicros };
}

/** Undefined where there is no such conversion. */
async function readVerdict(db: Database, { platform, txnid }: ConversionKey): Promise<Verdict | undefined> {
	const [row] = await db
		.select({ verdict: conversions.verdict })
		.from(conversions)
		.where(and(eq(conversions.platform, platform), eq(conversions.txnid, txnid)));
	return row?.verdict;
}

function refuse(message: string) {
	return invalidInput([{ path: "txnid", message }]);
}

function noConversion() {
	return refuse("is no transaction of this platform");
}
