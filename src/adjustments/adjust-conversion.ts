/** Voids, restores and releases a conversion: its verdict, which settling turns into sums and callbacks. */
import { and, eq, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { isOvertaken, retryOvertaken } from "../db/overtaken.ts";
import { adjustments } from "../db/schema/adjustments.ts";
import { conversions } from "../db/schema/conversions.ts";
import { invalidInput } from "../http/errors.ts";
import { HttpError } from "../lib/http.ts";
import { ABSOLUTE_MAX_PAYOUT_MICROS, ABSOLUTE_MAX_SALES_MICROS, formatUsd } from "../lib/money.ts";
import { type AdjustmentRequest, type ConversionRequest, microsOf } from "./adjustment-request.ts";
import { type Adjustment, type Before, type NewAdjustment, requestOf, storeOnce } from "./adjustment-rows.ts";
import { besideAdjustment } from "./audit-adjustment.ts";
import { type AdjustmentDeps, type Change, type ConversionKey, type Judgement, NO_CHANGE, type Verdict } from "./deps.ts";

const VERDICTS: Record<ConversionRequest["kind"], Verdict> = {
	void_conversion: "voided",
	restore_conversion: null,
	release_conversion: "released",
};

/**
 * The verdict that an adjustment gives, and the conversion that it is given to, of the version that it was chosen by. `givenBackMicros`: of
 * a release that is given back, what it passed, or what one may pass at the most, micro-dollars.
 */
type Word = { key: ConversionKey; verdict: Verdict; ofVersion: number; givenBackMicros?: number };

/** @throws HttpError 422 where the conversion is not there, or stands so already */
export async function readWord(db: Database, request: ConversionRequest): Promise<Word> {
	const { kind, platform, txnid } = request;
	const key = { platform, txnid };
	const verdict = VERDICTS[kind];
	const present = await readJudged(db, key);
	if (present === undefined) throw await noConversion(db, platform);
	if (present.verdict === verdict) throw refuse(verdict === null ? "is neither voided nor released" : `is ${verdict} already`);
	if (verdict === "released") refuseVainRelease(present);
	const { version: ofVersion } = present;
	const seen = kind === "release_conversion" ? request.up_to : undefined;
	if (seen === undefined) return { key, verdict, ofVersion };
	const seenMicros = microsOf(seen);
	// Its platform may raise it while a person looks at it, or between this and the transaction that releases it.
	if ((present.grossMicros ?? 0) > seenMicros) {
		const message = `is less than it is worth by now, ${formatUsd(present.grossMicros ?? 0)} USD: look at it again`;
		throw invalidInput([{ path: "up_to", message }]);
	}
	return { key, verdict, ofVersion, givenBackMicros: seenMicros };
}

/** A release that passes nothing now would pass, unseen, whatever the platform reports later. */
function refuseVainRelease({ verdict, heldFor, grossMicros, salesUsdMicros }: Judged): void {
	// What is voided is not held; the word on it is changed.
	if (verdict !== "voided" && heldFor !== "amount" && heldFor !== "review") throw refuse("is not kept back for its amount or for review");
	const isWithinAll = (grossMicros ?? 0) <= ABSOLUTE_MAX_PAYOUT_MICROS && (salesUsdMicros ?? 0) <= ABSOLUTE_MAX_SALES_MICROS;
	if (heldFor === "amount" && (grossMicros === null || !isWithinAll)) throw refuse("pays more than any release may pass, or sold for more");
}

/**
 * What undoes an adjustment: the verdict before it; a release for what it was given for, which an earlier version did not note.
 * @throws HttpError 422 where another has judged the conversion since
 */
export async function readUndoingWord(db: Database, { id, kind, request }: Adjustment): Promise<Word> {
	const { platform, txnid, was, was_released_micros: givenBackMicros = 0 } = JSON.parse(request) as ConversionKey & Before;
	const key = { platform, txnid };
	const present = await readJudged(db, key);
	const isJudgedSo = present !== undefined && present.verdict === VERDICTS[kind as ConversionRequest["kind"]];
	if (!isJudgedSo || (await readStandingWord(db, key)) !== id) {
		throw invalidInput([{ path: "adjustment", message: "is of a conversion that was judged again since" }]);
	}
	// A release was of the click that it had then.
	const verdict = was === "released" && (await hasLostClickSince(db, key, id)) ? null : was;
	return { key, verdict, ofVersion: present.version, givenBackMicros };
}

/** Whether the click of a conversion was taken away from it after an adjustment judged it. */
async function hasLostClickSince(db: Database, { platform, txnid }: ConversionKey, adjustmentId: string): Promise<boolean> {
	const lost = await db.all(sql`SELECT 1 AS lost FROM conversion_events e
		WHERE e.platform = ${platform} AND e.txnid = ${txnid} AND e.kind = 'detached'
			AND e.seq > (SELECT max(j.seq) FROM conversion_events j
				WHERE j.platform = ${platform} AND j.txnid = ${txnid} AND j.kind = 'judged' AND j.details ->> 'adjustment' = ${adjustmentId})
		LIMIT 1`);
	return lost.length > 0;
}

/** adjustments.id of the last word on a conversion that is not undone; null where there is none. */
async function readStandingWord(db: Database, { platform, txnid }: ConversionKey): Promise<string | null> {
	const words = await db.all<{ id: string; undoes: string | null }>(sql`
		SELECT a.id, a.undoes FROM conversion_events e JOIN adjustments a ON a.id = e.details ->> 'adjustment'
		WHERE e.platform = ${platform} AND e.txnid = ${txnid} AND e.kind = 'judged' ORDER BY e.seq DESC`);
	const undone = new Set<string | null>(words.map(({ undoes }) => undoes));
	return words.find(({ id, undoes }) => undoes === null && !undone.has(id))?.id ?? null;
}

/**
 * Judges, and adds the adjustment in the same transaction.
 * @param choose the word, by how the conversion stands: asked again where that has changed before it was given
 */
export async function judgeBy(
	deps: AdjustmentDeps,
	row: NewAdjustment,
	choose: () => Promise<Word>,
	request: AdjustmentRequest,
): Promise<Adjustment> {
	const { db, judge } = deps;
	const alongside = ({ changed, previous, releasedMicros, publisherRevenueMicros, grossMicros }: Judgement) => [
		insertRows(adjustments, [
			{
				...row,
				request: requestOf(request, { was: previous, ...(previous === "released" && { was_released_micros: releasedMicros }) }),
				conversions: changed ? 1 : 0,
				publisherRevenueMicros,
				grossRevenueMicros: grossMicros,
			},
		]),
		...besideAdjustment(deps, row, request, { before: { verdict: previous }, counts: { conversions: changed ? 1 : 0 } }),
	];
	const write = async () => {
		const { key, verdict, ofVersion, givenBackMicros } = await choose();
		if ((await judge(key, verdict, row.id, { ofVersion, givenBackMicros, alongside })) === null) throw await noConversion(db, key.platform);
	};
	// What the same request has done stands in the way of choosing again, too.
	return storeOnce(
		deps,
		row,
		request,
		() => retryOvertaken(write),
		(error) => isOvertaken(error) || error instanceof HttpError,
	);
}

/** What judging would change. */
export async function previewWord({ db, judge }: AdjustmentDeps, { key, verdict, givenBackMicros }: Word): Promise<Change> {
	const judgement = await judge(key, verdict, "", { givenBackMicros, dryRun: true });
	if (judgement === null) throw await noConversion(db, key.platform);
	const { changed, publisherRevenueMicros, grossMicros } = judgement;
	return { ...NO_CHANGE, conversions: changed ? 1 : 0, publisherRevenueMicros, grossRevenueMicros: grossMicros };
}

type Judged = Pick<typeof conversions.$inferSelect, "verdict" | "heldFor" | "grossMicros" | "salesUsdMicros" | "version">;

/** Undefined where there is no such conversion. */
async function readJudged(db: Database, { platform, txnid }: ConversionKey): Promise<Judged | undefined> {
	const { verdict, heldFor, grossMicros, salesUsdMicros, version } = conversions;
	const [row] = await db
		.select({ verdict, heldFor, grossMicros, salesUsdMicros, version })
		.from(conversions)
		.where(and(eq(conversions.platform, platform), eq(conversions.txnid, txnid)));
	return row;
}

function refuse(message: string) {
	return invalidInput([{ path: "txnid", message }]);
}

/** Why a conversion is not there. */
export async function noConversion(db: Database, platform: string): Promise<Error> {
	const [known] = await db.all<{ id: string }>(sql`SELECT id FROM platforms WHERE id = ${platform}`);
	return known === undefined
		? invalidInput([{ path: "platform", message: "is no platform's id" }])
		: refuse("is no transaction of this platform");
}
