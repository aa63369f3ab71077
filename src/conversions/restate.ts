/** What a postback states of a conversion, and which postbacks may not: pure. */
import type { ConversionStatus } from "../lib/enums.ts";
import { contentHashOf } from "../lib/md5-ids.ts";
import type { Conversion } from "./conversion.ts";
import { isKeptPending } from "./holds.ts";
import type { Postback } from "./message.ts";
import { readStatus } from "./status-map.ts";

export type StatedPlatform = { currency: string; statusMap: Readonly<Record<string, ConversionStatus>> };

/** A conversion that was said to stand in so many ways is not reopened by a postback any more. */
const MAX_APPROVALS = 40;

/** The conversion as a postback states it. What it leaves out and no default fills stays as it was. */
export function restate(present: Conversion, postback: Postback, intakeId: string, platform: StatedPlatform): Conversion {
	const { status, unknown } = read(postback.payoutMicros, postback.status, platform);
	const currency = postback.currency ?? platform.currency;
	const stated: Conversion = {
		...remember(present, postback, platform),
		cid: postback.cid,
		status,
		networkStatus: postback.status,
		statusUnknown: unknown,
		eventAt: postback.eventAt,
		payoutMicros: postback.payoutMicros,
		salesMicros: postback.salesMicros ?? (currency === present.currency ? present.salesMicros : null),
		currency,
		s2: postback.s2 ?? present.s2,
		s3: postback.s3 ?? present.s3,
		surl: postback.surl ?? present.surl,
		lastIntakeId: intakeId,
	};
	if (present.verdict === "voided") return { ...stated, status: "cancelled" };
	return isKeptPending(present.heldFor) && status !== "cancelled" ? { ...stated, status: "pending" } : stated;
}

/** How a conversion stands by what its platform said last and the operator's word, whatever it is held for. */
export function statusOf(conversion: Conversion, platform: StatedPlatform): ConversionStatus {
	return conversion.verdict === "voided" ? "cancelled" : platformStatusOf(conversion, platform);
}

/**
 * Why a postback, though the newest, may not reopen a conversion that the platform has cancelled: it says again what was said before the
 * cancellation, or is about an earlier event. Null where it may, or would not.
 */
export function whyStale(present: Conversion, postback: Postback, platform: StatedPlatform): "older_edate" | "repeated" | null {
	const isOverruled = present.verdict === "voided" || isKeptPending(present.heldFor);
	const stands = isOverruled ? platformStatusOf(present, platform) : present.status;
	if (stands !== "cancelled" || read(postback.payoutMicros, postback.status, platform).status === "cancelled") return null;
	if (postback.eventAt < present.eventAt) return "older_edate";
	const known = present.approvalHashes.split(" ");
	return known.length >= MAX_APPROVALS || known.includes(hashOf(postback, platform)) ? "repeated" : null;
}

/** Notes what a postback said, unless it cancelled: so that the same again lifts no later cancellation. */
export function remember(present: Conversion, postback: Postback, platform: StatedPlatform): Conversion {
	const hashes = new Set(present.approvalHashes.split(" "));
	// Of what an earlier version stored, the last statement is known.
	if (present.approvalHashes === "" && present.cid !== "" && platformStatusOf(present, platform) !== "cancelled") {
		hashes.add(hashOf({ ...present, status: present.networkStatus }, platform));
	}
	if (read(postback.payoutMicros, postback.status, platform).status !== "cancelled") hashes.add(hashOf(postback, platform));
	hashes.delete("");
	return { ...present, approvalHashes: [...hashes].slice(0, MAX_APPROVALS).join(" ") };
}

function platformStatusOf({ payoutMicros, networkStatus }: Conversion, platform: StatedPlatform): ConversionStatus {
	return read(payoutMicros, networkStatus, platform).status;
}

function read(payoutMicros: number, word: string | null, { statusMap }: StatedPlatform): { status: ConversionStatus; unknown: boolean } {
	const { status, unknown } = readStatus(word, statusMap);
	// A negative payout takes the conversion back, whatever its status says; it is never a debit.
	return { status: payoutMicros < 0 ? "cancelled" : status, unknown };
}

type Said = Omit<Postback, "txnid">;

function hashOf({ cid, eventAt, payoutMicros, salesMicros, currency, status, s2, s3, surl }: Said, platform: StatedPlatform): string {
	return contentHashOf([cid, eventAt, payoutMicros, salesMicros, currency ?? platform.currency, status, s2, s3, surl]);
}
