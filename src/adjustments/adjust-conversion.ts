/** Voids, restores and releases a conversion: its verdict, which settling turns into sums and callbacks. */
import { and, eq } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { isOvertaken } from "../db/overtaken.ts";
import { adjustments } from "../db/schema/adjustments.ts";
import { conversions } from "../db/schema/conversions.ts";
import { invalidInput } from "../http/errors.ts";
import { ABSOLUTE_MAX_PAYOUT_MICROS, ABSOLUTE_MAX_SALES_MICROS } from "../lib/money.ts";
import type { AdjustmentRequest, ConversionRequest } from "./adjustment-request.ts";
import { type Adjustment, type NewAdjustment, requestOf, storeOnce } from "./adjustment-rows.ts";
import { besideAdjustment } from "./audit-adjustment.ts";
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
	const present = await readJudged(db, key);
	if (present === undefined) throw noConversion();
	if (present.verdict === verdict) throw refuse(verdict === null ? "is neither voided nor released" : `is ${verdict} already`);
	if (verdict === "released") refuseVainRelease(present);
	return { key, verdict };
}

/** A release that passes nothing now would pass, unseen, whatever the platform reports later. */
function refuseVainRelease({ verdict, heldFor, grossMicros, salesUsdMicros }: Judged): void {
	// What is voided is not held; the word on it is changed.
	if (verdict !== "voided" && heldFor !== "amount" && heldFor !== "review") throw refuse("is not kept back for its amount or for review");
	const isWithinAll = (grossMicros ?? 0) <= ABSOLUTE_MAX_PAYOUT_MICROS && (salesUsdMicros ?? 0) <= ABSOLUTE_MAX_SALES_MICROS;
	if (heldFor === "amount" && (grossMicros === null || !isWithinAll)) throw refuse("pays more than any release may pass, or sold for more");
}

/** What undoes an adjustment: the verdict before it. @throws HttpError 422 where another has judged the conversion since */
export async function readUndoingWord(db: Database, { kind, request }: Adjustment): Promise<Word> {
	const { platform, txnid, was } = JSON.parse(request) as ConversionKey & { was: Verdict };
	const key = { platform, txnid };
	if ((await readJudged(db, key))?.verdict !== VERDICTS[kind as ConversionRequest["kind"]]) {
		throw invalidInput([{ path: "adjustment", message: "is of a conversion that was judged again since" }]);
	}
	return { key, verdict: was };
}

/** Judges, and adds the adjustment in the same transaction. */
export async function judgeBy(
	deps: AdjustmentDeps,
	row: NewAdjustment,
	{ key, verdict }: Word,
	request: AdjustmentRequest,
): Promise<Adjustment> {
	const { judge } = deps;
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
		...besideAdjustment(deps, row, request, { before: { verdict: previous }, counts: { conversions: changed ? 1 : 0 } }),
	];
	const write = async () => {
		if ((await judge(key, verdict, row.id, { alongside })) === null) throw noConversion();
	};
	return storeOnce(deps, row, request, write, isOvertaken);
}

/** What judging would change. */
export async function previewWord({ judge }: AdjustmentDeps, { key, verdict }: Word): Promise<Change> {
	const judgement = await judge(key, verdict, "", { dryRun: true });
	if (judgement === null) throw noConversion();
	const { changed, publisherRevenueMicros, grossMicros } = judgement;
	return { ...NO_CHANGE, conversions: changed ? 1 : 0, publisherRevenueMicros, grossRevenueMicros: grossMicros };
}

type Judged = Pick<typeof conversions.$inferSelect, "verdict" | "heldFor" | "grossMicros" | "salesUsdMicros">;

/** Undefined where there is no such conversion. */
async function readJudged(db: Database, { platform, txnid }: ConversionKey): Promise<Judged | undefined> {
	const { verdict, heldFor, grossMicros, salesUsdMicros } = conversions;
	const [row] = await db
		.select({ verdict, heldFor, grossMicros, salesUsdMicros })
		.from(conversions)
		.where(and(eq(conversions.platform, platform), eq(conversions.txnid, txnid)));
	return row;
}

function refuse(message: string) {
	return invalidInput([{ path: "txnid", message }]);
}

function noConversion() {
	return refuse("is no transaction of this platform");
}
