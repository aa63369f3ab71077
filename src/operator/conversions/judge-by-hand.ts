/** A person's word on a conversion: its click, its release, that it is void or not. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { adjust, previewAdjustment } from "../../adjustments/adjust.ts";
import type { Adjusted } from "../../adjustments/adjustment-answer.ts";
import { attach, readAttachedClick } from "../../adjustments/attach.ts";
import type { AdjustmentDeps, Judgement } from "../../adjustments/deps.ts";
import type { ConversionKey } from "../../conversions/conversion.ts";
import type { Database } from "../../db/client.ts";
import { notThere } from "../../http/errors.ts";
import type { HttpError } from "../../lib/http.ts";
import { formatUsd } from "../../lib/money.ts";
import type { Judged, ShownConversionAnswer } from "./conversions-answers.ts";
import { resolveClick } from "./find-clicks.ts";
import { type attachSchema, clickWanted, type releaseSchema } from "./judge-request.ts";
import { showConversionOf } from "./show-conversion.ts";

const KINDS = { release: "release_conversion", void: "void_conversion", restore: "restore_conversion" } as const;
export type JudgingVerb = keyof typeof KINDS;
export const JUDGING_VERBS = Object.keys(KINDS) as JudgingVerb[];

/** @throws HttpError 404 where there is no such conversion */
export async function mustShow(db: Database, key: ConversionKey): Promise<ShownConversionAnswer> {
	const shown = await showConversionOf(db, key);
	if (shown === null) throw noSuchConversion();
	return shown;
}

/** @throws HttpError 404 where there is no such conversion */
export async function requireConversion(db: Database, { platform, txnid }: ConversionKey): Promise<void> {
	const found = await db.all(sql`SELECT txnid FROM conversions WHERE platform = ${platform} AND txnid = ${txnid}`);
	if (found.length === 0) throw noSuchConversion();
}

function noSuchConversion(): HttpError {
	return notThere("There is no such conversion.");
}

/** Releases, voids or restores a conversion, or says what that would come to. Only a release has `up_to`. */
export function judgeByHand(
	deps: AdjustmentDeps,
	verb: JudgingVerb,
	key: ConversionKey,
	{ text, id, up_to }: v.InferOutput<typeof releaseSchema>,
	isDryRun: boolean,
): Promise<Judged> {
	const kind = KINDS[verb];
	const request = kind === "release_conversion" ? { kind, ...key, up_to, id, text } : { kind, ...key, id, text };
	return watch({ ...deps, verb: `${verb}Conversion` }, key, (watched) =>
		isDryRun ? previewAdjustment(watched, request) : adjust(watched, request),
	);
}

/**
 * Gives a conversion without a click the one that is named, or says what that would come to.
 * @param publisher publishers.id of whose click it has to be; absent for anyone's
 */
export function attachByHand(
	deps: AdjustmentDeps,
	key: ConversionKey,
	{ text, id, ...wanted }: v.InferOutput<typeof attachSchema>,
	isDryRun: boolean,
	publisher?: string,
): Promise<Judged> {
	return watch(deps, key, async (watched) => {
		const before = id === undefined ? null : await readAttachedClick(deps.db, key, id);
		const click = await resolveClick(deps.db, key, clickWanted(wanted), before, publisher);
		return attach(watched, { kind: "attach_conversion", ...key, click, id, text }, isDryRun);
	});
}

/** What an adjustment came to, with the conversion as it stands then; of one that was done before, as it stands now. */
async function watch(deps: AdjustmentDeps, key: ConversionKey, run: (deps: AdjustmentDeps) => Promise<Adjusted>): Promise<Judged> {
	const seen: Judgement[] = [];
	const note = async (judging: Promise<Judgement | null>) => {
		const judgement = await judging;
		if (judgement !== null) seen.push(judgement);
		return judgement;
	};
	const adjusted = await run({
		...deps,
		judge: (...word) => note(deps.judge(...word)),
		attach: (...word) => note(deps.attach(...word)),
	});
	const judgement = seen.at(-1);
	const conversion = judgement === undefined ? judgedOf((await mustShow(deps.db, key)).conversion) : showJudged(judgement.conversion);
	const callbacks = (judgement?.callbacks ?? []).map(({ publisherId, status, payoutMicros }) => ({
		publisher: publisherId,
		status,
		payout: formatUsd(payoutMicros),
	}));
	return { ...adjusted, conversion, callbacks };
}

function judgedOf(shown: ShownConversionAnswer["conversion"]): Judged["conversion"] {
	const { stage, status, why, verdict, publisher, click_id, publisher_revenue } = shown;
	return { stage, status, why, verdict, publisher, click_id, publisher_revenue };
}

function showJudged(conversion: Judgement["conversion"]): Judged["conversion"] {
	const { stage, status, heldFor, verdict, publisherId, clickId, revenueMicros } = conversion;
	const publisher_revenue = revenueMicros === null ? null : formatUsd(revenueMicros);
	return { stage, status, why: heldFor, verdict, publisher: publisherId, click_id: clickId, publisher_revenue };
}
