import { MAX_CLICK_ID_BYTES, MAX_CLICK_ID_LENGTH, normaliseClickId } from "../lib/click-id.ts";
import type { FieldErrors } from "./answers.ts";
import type { Postback } from "./message.ts";
import { readAmount } from "./read-amount.ts";
import { readEventDate } from "./read-event-date.ts";

/** Longest transaction id, in characters. */
const MAX_ID_LENGTH = 255;
/** Texts nobody settles by are cut there: an overlong landing URL is no reason to lose a sale. */
const MAX_TEXT_LENGTH = 2_000;
/** So is a word that rows are found by, earlier: an index of PostgreSQL takes no more than 2,704 bytes. */
const MAX_WORD_LENGTH = 255;

const CONTROL = /\p{Cc}/u;
/** What programs write where they know no transaction id: all sales that are told of so would be one. */
const NO_TXNID = /^(?:null|\(null\)|nil|none|undefined|nan|0{8}(?:-0{4}){3}-0{12}|0{32})$/i;

/**
 * Reads a postback, or says of each required field what is wrong with it. `sales` and `currency` are optional: an amount that is
 * no number is as if it were not sent, so that it never costs the publisher the conversion; an unknown currency waits for its rate.
 * @param values fields by name; empty ones and placeholders are absent, but for an unfilled `status`
 */
export function readPostback(
	values: ReadonlyMap<string, string>,
	now: number,
): { postback: Postback; errors: null } | { postback: null; errors: FieldErrors } {
	const txnid = readNeeded(values, "txnid", readTxnid);
	const cid = readNeeded(values, "cid", normaliseClickId);
	const eventAt = readNeeded(values, "edate", readEventDate, now);
	const payoutMicros = readNeeded(values, "payout", readAmount);
	if (txnid === null || cid === null || eventAt === null || payoutMicros === null) {
		return { postback: null, errors: faultsOf({ txnid, cid, edate: eventAt, payout: payoutMicros }, values) };
	}
	const sales = values.get("sales");
	const postback: Postback = {
		txnid,
		cid,
		eventAt,
		payoutMicros,
		salesMicros: sales === undefined ? null : readAmount(sales),
		currency: readWord(values.get("currency"))?.toUpperCase() ?? null,
		status: readWord(values.get("status")),
		s2: readText(values.get("s2")),
		s3: readText(values.get("s3")),
		surl: readText(values.get("surl")),
	};
	return { postback, errors: null };
}

const FAULTS: Record<string, string> = {
	txnid: `The txnid may have at most ${MAX_ID_LENGTH} characters, none of them a control character.`,
	cid: `The cid must be a click id of at most ${MAX_CLICK_ID_LENGTH} characters (${MAX_CLICK_ID_BYTES} bytes).`,
	edate: "The edate is not a valid date.",
	payout: "The payout must be a number.",
};

function readNeeded<Value>(
	values: ReadonlyMap<string, string>,
	name: string,
	read: (text: string, now: number) => Value | null,
	now = 0,
): Value | null {
	const text = values.get(name);
	return text === undefined ? null : read(text, now);
}

/** What is wrong with each field that could not be read. */
function faultsOf(read: Record<string, string | number | null>, values: ReadonlyMap<string, string>): FieldErrors {
	const names = Object.keys(read).filter((name) => read[name] === null);
	const isSent = (name: string) => values.has(name) && !(name === "txnid" && NO_TXNID.test(values.get(name) ?? ""));
	return Object.fromEntries(names.map((name) => [name, [isSent(name) ? (FAULTS[name] ?? "") : `The ${name} field is required.`]]));
}

/** The transaction id of a postback or a statement, without blanks around it; null where it cannot be one. */
export function readTxnid(text: string): string | null {
	const isShort = text.length <= MAX_ID_LENGTH || [...text].length <= MAX_ID_LENGTH;
	return isShort && !CONTROL.test(text) && !NO_TXNID.test(text) ? text : null;
}

/** A text that nobody settles by: clean, and cut where it is overlong; null for none. */
function readText(text: string | undefined): string | null {
	return readCut(text, MAX_TEXT_LENGTH);
}

/** A word such as a status or a currency, likewise. */
export function readWord(text: string | undefined): string | null {
	return readCut(text, MAX_WORD_LENGTH);
}

function readCut(text: string | undefined, maxLength: number): string | null {
	if (text === undefined) return null;
	const clean = CONTROL.test(text) ? text.replaceAll(/\p{Cc}/gu, "") : text;
	const cut = clean.length > maxLength ? clean.slice(0, maxLength).replace(HALF_AT_END, "") : clean;
	const kept = cut.toWellFormed().trim();
	return kept === "" ? null : kept;
}

/** Half of a pair that the cut went through. */
const HALF_AT_END = /[\ud800-\udbff]$/;
