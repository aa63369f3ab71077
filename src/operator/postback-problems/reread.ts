/** A kept postback that is read again, by what is known now: pure, but for verifying its signature. */
import { RECEIVED } from "../../conversions/answers.ts";
import { findSenderFault } from "../../conversions/check-sender.ts";
import type { ReceivedPostback } from "../../conversions/message.ts";
import { isNameInPlace } from "../../conversions/other-names.ts";
import { readEventDate } from "../../conversions/read-event-date.ts";
import { pickValues, splitFields } from "../../conversions/read-fields.ts";
import { readPostback } from "../../conversions/read-postback.ts";
import type { postbackIntake } from "../../db/schema/conversions.ts";
import { haveSameParameters } from "../../lib/query.ts";
import { isoTime } from "../../lib/time.ts";
import { readErrors } from "./classify.ts";
import { POSTBACK_FIELDS } from "./network-macros.ts";
import { type Mapping, RECEIVED_AT } from "./replay-request.ts";

export type KeptPostback = Pick<typeof postbackIntake.$inferSelect, "id" | "receivedAt" | "platform" | "query" | "outcome" | "answer"> & {
	/** What of it was replayed last, and under which id; null where nothing was. */
	lastId: string | null;
	lastQuery: string | null;
};

/** What the ledger keeps of one that is replayed: what of it counts. */
const KEPT_FIELDS = [...POSTBACK_FIELDS, "s2", "s3", "surl"];
const MAX_VALUE = 2_000;

/** Behind the id of the postback that is replayed, a number: so it stands where that came in, and before whatever came after. */
const REPLAY_ID = /~(\d{3})$/;

/** The id of the postback that came, of an id that may be a replay's. */
export function originOf(intakeId: string): string {
	return intakeId.replace(REPLAY_ID, "");
}

/**
 * The postback as it reads now; null where it is at fault still, where it cannot be told whose it is, or where it was replayed, or
 * accepted, so before.
 * @param postbackSecret its platform's
 */
export async function reread(kept: KeptPostback, mapping: Mapping, postbackSecret: string | null): Promise<ReceivedPostback | null> {
	const { id, receivedAt, platform, query, outcome, lastId, lastQuery } = kept;
	const values = pickValues(splitFields(query));
	if (!(await isProven(kept, values.get("sig"), postbackSecret))) return null;
	const mapped = new Map(values);
	for (const [field, from] of Object.entries(mapping)) {
		const value = from === RECEIVED_AT ? dateOf(values.get(field), receivedAt) : from === undefined ? undefined : values.get(from);
		if (value !== undefined && !isNameInPlace(field, value)) mapped.set(field, value);
	}
	const { postback } = readPostback(mapped, receivedAt);
	if (postback === null) return null;
	const { txnid, cid } = postback;
	const text = textOf(mapped);
	const last = lastQuery ?? (outcome === "accepted" ? textOf(values) : null);
	// Of a user who was erased it may be kept in another order.
	if (last !== null && haveSameParameters(text, last)) return null;
	const number = Number(REPLAY_ID.exec(lastId ?? "")?.[1] ?? 0) + 1;
	if (number > 999) return null;
	return {
		format: 1,
		kind: "postback",
		intake: {
			id: `${id}~${String(number).padStart(3, "0")}`,
			receivedAt,
			platform,
			method: "REPLAY",
			query: text,
			txnid,
			cid,
			outcome: "accepted",
			answer: JSON.stringify(RECEIVED),
		},
		postback,
	};
}

/** The date that came where it can be read: that of the event, which decides the day and the rate. Otherwise the time of receipt. */
function dateOf(given: string | undefined, receivedAt: number): string {
	const isReadable = given !== undefined && readEventDate(given, receivedAt) !== null;
	return isReadable ? given : isoTime(receivedAt);
}

function textOf(values: ReadonlyMap<string, string>): string {
	return new URLSearchParams(KEPT_FIELDS.flatMap((name) => toPair(name, values.get(name)))).toString();
}

function toPair(name: string, value: string | undefined): [string, string][] {
	return value === undefined ? [] : [[name, value.slice(0, MAX_VALUE).toWellFormed()]];
}

/**
 * Whether a postback is its platform's. What was refused for its signature must have a valid one now; of what was refused for its address,
 * that address is not kept, so that it can never be told.
 */
async function isProven(
	{ outcome, answer, query }: KeptPostback,
	signature: string | undefined,
	postbackSecret: string | null,
): Promise<boolean> {
	// Whoever has a key that has ended may have sent it.
	if (outcome === "unknown_key") return false;
	if (outcome !== "rejected") return true;
	const errors = readErrors(answer);
	// One that came while keys could not be read was answered as received, and refused later: why is not kept.
	if (Object.keys(errors).length === 0 || errors.request !== undefined) return false;
	if (errors.sig === undefined) return true;
	if (postbackSecret === null) return false;
	return (await findSenderFault({ sourceRanges: null, postbackSecret }, { text: query, signature, address: null })) === null;
}
