/** What a postback states of a conversion, and which postbacks may not: pure. */
import type { ConversionStatus, NegativePayout } from "../lib/enums.ts";
import { contentHashOf } from "../lib/md5-ids.ts";
import type { Conversion } from "./conversion.ts";
import { isKeptPending } from "./holds.ts";
import { asClickHash } from "./match-click.ts";
import type { Postback } from "./message.ts";
import { correct, meaningOf, type Payouts, readPayouts, state, totalOf, wasPositiveBefore, writePayouts } from "./payouts.ts";
import { readStatus } from "./status-map.ts";

export type StatedPlatform = {
	currency: string;
	statusMap: Readonly<Record<string, ConversionStatus>>;
	negativePayout: NegativePayout;
};

/** A conversion that was said to stand in this many ways is not reopened by a postback any more. */
const MAX_APPROVALS = 40;

/** True for a postback that only corrects the amount of a conversion. */
export function isCorrection({ payoutMicros }: Postback, { negativePayout }: StatedPlatform): boolean {
	return payoutMicros < 0 && negativePayout === "adjust";
}

/** The conversion with what is remembered of every one, before anything new is said of it; rows of earlier versions have less. */
export function recall(present: Conversion, platform: StatedPlatform): Conversion {
	const conversion = { ...present, defaultCurrency: present.defaultCurrency ?? platform.currency };
	const recalled = { ...conversion, payouts: writePayouts(payoutsOf(conversion)) };
	const isRemembered = present.approvalHashes !== "" && !isLastUnstated(present, readPayouts(present.payouts));
	if (isRemembered || present.cid === "" || platformStatusOf(present, platform) === "cancelled") return recalled;
	return withApproval(recalled, hashOf({ ...conversion, status: present.networkStatus }, conversion));
}

/** The conversion as a postback states it. What it leaves out and no default fills stays as it was. @param present recalled */
export function restate(
	present: Conversion,
	postback: Postback,
	intakeId: string,
	platform: StatedPlatform,
	isStatement: boolean,
): Conversion {
	const currency = currencyOf(postback, present);
	const stated: Conversion = {
		...rememberPayout(rememberApproval(present, postback, intakeId, platform), postback, intakeId, platform, isStatement),
		cid: postback.cid,
		networkStatus: postback.status,
		statusUnknown: readStatus(postback.status, platform.statusMap).unknown,
		eventAt: postback.eventAt,
		salesMicros: postback.salesMicros ?? (currency === present.currency ? present.salesMicros : null),
		currency,
		s2: postback.s2 ?? present.s2,
		s3: postback.s3 ?? present.s3,
		surl: postback.surl ?? present.surl,
		lastIntakeId: intakeId,
	};
	return stand(stated, platform);
}

/** The conversion with what an older postback had stated, which a newer one has replaced: of its payout, it matters that it was stated. */
export function restateLate(
	present: Conversion,
	postback: Postback,
	intakeId: string,
	platform: StatedPlatform,
	isStatement: boolean,
): Conversion {
	const approved = rememberApproval(present, postback, intakeId, platform);
	return stand(rememberPayout(approved, postback, intakeId, platform, isStatement), platform);
}

/**
 * The conversion corrected by an amount. Nothing else of it changes; but where nothing was stated yet, it is known by what the correction
 * says, until something is.
 */
export function amend(present: Conversion, postback: Postback, intakeId: string, platform: StatedPlatform): Conversion {
	const correction = [intakeId, postback.payoutMicros, hashOf(postback, present), postback.currency] as const;
	const amended = { ...present, payouts: writePayouts(correct(payoutsOf(present), correction)) };
	if (present.cid !== "") return stand(amended, platform);
	const { cid, eventAt, s2, s3, surl } = postback;
	return stand({ ...amended, cid, eventAt, s2, s3, surl, currency: currencyOf(postback, present) }, platform);
}

/** How a conversion stands by what its platform said last and the operator's word, whatever it is held for. */
export function statusOf(conversion: Conversion, platform: StatedPlatform): ConversionStatus {
	return conversion.verdict === "voided" ? "cancelled" : platformStatusOf(conversion, platform);
}

/**
 * Why a postback, though the newest, may not reopen a conversion that the platform has cancelled: it says again what was said before the
 * cancellation, or is about an earlier event. Null where it may, or would not. @param present recalled
 */
export function whyStale(
	present: Conversion,
	postback: Postback,
	intakeId: string,
	platform: StatedPlatform,
): "older_edate" | "repeated" | null {
	const isOverruled = present.verdict === "voided" || isKeptPending(present.heldFor);
	const stands = isOverruled ? platformStatusOf(present, platform) : present.status;
	if (stands !== "cancelled" || cancels(present, postback, intakeId, platform)) return null;
	// Corrections that came before what they correct have cancelled nothing.
	if (payoutsOf(present).stated.length === 0) return null;
	if (postback.eventAt < present.eventAt) return "older_edate";
	const known = present.approvalHashes.split(" ");
	return known.length >= MAX_APPROVALS || known.includes(hashOf(postback, present)) ? "repeated" : null;
}

/** Notes what a postback said, unless it cancelled: so that the same again lifts no later cancellation. @param present recalled */
export function rememberApproval(present: Conversion, postback: Postback, intakeId: string, platform: StatedPlatform): Conversion {
	return cancels(present, postback, intakeId, platform) ? present : withApproval(present, hashOf(postback, present));
}

function withApproval(conversion: Conversion, hash: string): Conversion {
	const hashes = new Set([...conversion.approvalHashes.split(" "), hash]);
	hashes.delete("");
	return { ...conversion, approvalHashes: [...hashes].slice(0, MAX_APPROVALS).join(" ") };
}

function rememberPayout(
	present: Conversion,
	postback: Postback,
	intakeId: string,
	{ statusMap }: StatedPlatform,
	isStatement: boolean,
): Conversion {
	const meaning = readStatus(postback.status, statusMap).status;
	// What a platform's statement says begins anew, though a postback had said the same: no correction from before goes on.
	const said = hashOf(postback, present);
	const { payoutMicros, eventAt } = postback;
	const statement = isStatement
		? ([intakeId, payoutMicros, intakeId, meaning, eventAt, said] as const)
		: ([intakeId, payoutMicros, said, meaning, eventAt] as const);
	return { ...present, payouts: writePayouts(state(payoutsOf(present), statement)) };
}

/** Amount and status as all that was said of them comes to. */
function stand(conversion: Conversion, platform: StatedPlatform): Conversion {
	const { payoutMicros } = totalOf(payoutsOf(conversion), conversion.lastIntakeId, conversion.currency);
	const status = statusOf(conversion, platform);
	return { ...conversion, payoutMicros, status: isKeptPending(conversion.heldFor) && status !== "cancelled" ? "pending" : status };
}

function platformStatusOf(conversion: Conversion, platform: StatedPlatform): ConversionStatus {
	const payouts = payoutsOf(conversion);
	const { isReversed } = totalOf(payouts, conversion.lastIntakeId, conversion.currency);
	if (isReversed) return "cancelled";
	// A map that has changed since holds for what comes from then on.
	return meaningOf(payouts, conversion.lastIntakeId) ?? readStatus(conversion.networkStatus, platform.statusMap).status;
}

/** Whether a postback takes the conversion back: by its word; by a payout below zero, or of zero after one above it, whatever its word. */
function cancels(conversion: Conversion, { payoutMicros, status }: Postback, intakeId: string, { statusMap }: StatedPlatform): boolean {
	if (payoutMicros < 0 || readStatus(status, statusMap).status === "cancelled") return true;
	return payoutMicros === 0 && wasPositiveBefore(payoutsOf(conversion), intakeId);
}

/** Of what an earlier version stored, the last statement is known. */
function payoutsOf(conversion: Conversion): Payouts {
	const payouts = readPayouts(conversion.payouts);
	if (!isLastUnstated(conversion, payouts)) return payouts;
	const { lastIntakeId, payoutMicros, networkStatus } = conversion;
	return state(payouts, [lastIntakeId, payoutMicros, hashOf({ ...conversion, status: networkStatus }, conversion)]);
}

/** Whether what speaks in it is not among its payouts: an earlier version, which has none, wrote it last, also where this one did before. */
function isLastUnstated({ payouts, cid, lastIntakeId }: Conversion, { stated }: Payouts): boolean {
	if (payouts === "") return cid !== "";
	return lastIntakeId !== "" && !stated.some(([id]) => id === lastIntakeId);
}

function currencyOf({ currency }: { currency: string | null }, { defaultCurrency }: Conversion): string {
	return currency ?? defaultCurrency ?? "";
}

type Said = Omit<Postback, "txnid" | "asCame"> & { asCame?: Omit<Postback, "txnid" | "asCame"> };

function hashOf(said: Said, conversion: Conversion): string {
	const { cid, eventAt, payoutMicros, salesMicros, status, s2, s3, surl } = said.asCame ?? said;
	return contentHashOf([asClickHash(cid) ?? cid, eventAt, payoutMicros, salesMicros, currencyOf(said, conversion), status, s2, s3, surl]);
}
