/** Why a postback that was not taken needs a person: pure. */
import { isNameInPlace, OTHER_NAMES, plainName } from "../../conversions/other-names.ts";
import { MAX_AMOUNT_MICROS } from "../../conversions/read-amount.ts";
import { readTime } from "../../conversions/read-event-date.ts";
import { type Field, pickValues, readUnfilled, splitFields } from "../../conversions/read-fields.ts";
import type { POSTBACK_OUTCOMES } from "../../lib/enums.ts";
import { POSTBACK_FIELDS, type PostbackField } from "./network-macros.ts";

/** Why a postback needs a person. The first are of what was refused, the others of what was accepted and is not settled. */
export const PROBLEM_CAUSES = [
	"placeholder",
	"misnamed",
	"missing",
	"transaction_id_form",
	"click_id_form",
	"date_form",
	"date_out_of_range",
	"amount_form",
	"amount_out_of_range",
	"signature",
	"sender_address",
	"too_large",
	"unknown_key",
	"over_rate",
	"no_click",
	"other_platform",
	"ambiguous",
	"no_publisher",
	"older_than_retention",
	"unknown_status",
	"no_rate",
	"unknown_currency",
	"amount",
	"review",
	"publisher_suspended",
] as const;
export type ProblemCause = (typeof PROBLEM_CAUSES)[number];

export type Refused = { outcome: (typeof POSTBACK_OUTCOMES)[number]; answer: string; query: string };

export type Cause = {
	cause: ProblemCause;
	field: PostbackField | null;
	/** What stood in the place of the field, or the parameter that it may have come in; null for nothing. */
	sent: string | null;
};

const FORMS: Readonly<Record<string, ProblemCause>> = {
	txnid: "transaction_id_form",
	cid: "click_id_form",
	edate: "date_form",
	payout: "amount_form",
};

/** Every field at fault is a cause of its own: each is to be mended. */
export function classifyRefused({ outcome, answer, query }: Refused): Cause[] {
	if (outcome === "unknown_key") return [{ cause: "unknown_key", field: null, sent: null }];
	if (outcome === "failed") return [{ cause: "over_rate", field: null, sent: null }];
	const fields = splitFields(query);
	return Object.entries(readErrors(answer)).map(([name, [message = ""]]) => classifyField(fields, name, message));
}

/** Fault by field, as the platform was answered. */
export function readErrors(answer: string): Record<string, string[]> {
	const { errors = {} } = JSON.parse(answer) as { errors?: Record<string, string[]> };
	return errors;
}

function classifyField(fields: readonly Field[], name: string, message: string): Cause {
	if (name === "sig") return { cause: "signature", field: null, sent: null };
	if (name === "request") return { cause: message.includes("address") ? "sender_address" : "too_large", field: null, sent: null };
	const field = POSTBACK_FIELDS.find((known) => known === name) ?? null;
	const own = fields.filter((sent) => sent.name === name);
	const unfilled = own.find((sent) => readUnfilled(sent) !== null);
	const value = pickValues(own).get(name) ?? null;
	if (value === null) {
		if (unfilled !== undefined) return { cause: "placeholder", field, sent: unfilled.value };
		const other = findMisnamed(fields, name);
		return other === null ? { cause: "missing", field, sent: null } : { cause: "misnamed", field, sent: other };
	}
	if (name === "edate" && readTime(value) !== null) return { cause: "date_out_of_range", field, sent: value };
	if (name === "payout" && isTooMuch(value)) return { cause: "amount_out_of_range", field, sent: value };
	return { cause: FORMS[name] ?? "missing", field, sent: value };
}

/** Whether an amount that was refused is written as one is asked for. */
function isTooMuch(text: string): boolean {
	return /^[+-]?\d+(\.\d*)?$/.test(text.trim()) && Math.abs(Number(text)) * 1_000_000 > MAX_AMOUNT_MICROS;
}

/** The parameter in which a field may have come that did not come under its own name; null for none. */
function findMisnamed(fields: readonly Field[], name: string): string | null {
	const values = pickValues(fields);
	const wanted = [name, ...(OTHER_NAMES[name] ?? [])];
	const others = [...values].filter(([key, value]) => key !== name && !isNameInPlace(name, value)).map(([key]) => key);
	return wanted.flatMap((other) => others.filter((key) => plainName(key) === other))[0] ?? null;
}
