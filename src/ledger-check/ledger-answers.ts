/** Request and answer of POST /operator/check-ledger, and what the status shows of it. */
import * as v from "valibot";
import { LEDGER_CHECKS } from "../lib/enums.ts";
import { count } from "../lib/shapes.ts";
import { NET_REASONS } from "./check-conversion.ts";

const textOrNull = v.nullable(v.string());

/** Body of POST /operator/check-ledger. */
export const checkLedgerSchema = v.strictObject({
	cursor: v.optional(
		v.pipe(
			v.string("must be a cursor"),
			v.check((text) => readCursor(text) !== null, "must be the next_cursor of an answer"),
		),
	),
});

/** The last conversion of an answer; null where a text is no cursor. */
export function readCursor(text: string): { platform: string; txnid: string } | null {
	const match = /^([\da-f]*)\.([\da-f]*)$/.exec(text);
	if (match === null || match.slice(1).some((part) => part.length % 2 === 1)) return null;
	const [platform = "", txnid = ""] = match.slice(1).map((hex) => new TextDecoder().decode(Uint8Array.fromHex(hex)));
	return { platform, txnid };
}

export function writeCursor({ platform, txnid }: { platform: string; txnid: string }): string {
	return [platform, txnid].map((text) => new TextEncoder().encode(text).toHex()).join(".");
}

export const ledgerDifferenceSchema = v.strictObject({
	platform: v.string(),
	txnid: v.string(),
	publisher: textOrNull,
	kind: v.pipe(
		v.picklist(LEDGER_CHECKS),
		v.description("`history`: a field is not what its events give; `callbacks`: they do not come to the report."),
	),
	field: v.pipe(v.string(), v.description("The field; of callbacks `order`, `not_owed`, `no_credit`, `credit_stands` or `credit_amount`.")),
	stored: textOrNull,
	expected: textOrNull,
});

export const netReasonsSchema = v.pipe(
	v.strictObject(v.entriesFromList(NET_REASONS, count)),
	v.description("Conversions of which publishers confirmed another amount than reports show, by why."),
);

export const ledgerAnswerSchema = v.strictObject({
	conversions: v.pipe(count, v.description("Those that were checked.")),
	difference_count: count,
	differences: v.pipe(v.array(ledgerDifferenceSchema), v.description("The first hundred.")),
	reasons: netReasonsSchema,
	next_cursor: v.pipe(textOrNull, v.description("Ask again with it; null where all is checked.")),
});

export type ShownLedgerDifference = v.InferOutput<typeof ledgerDifferenceSchema>;
export type NetReasons = v.InferOutput<typeof netReasonsSchema>;
export type LedgerAnswer = v.InferOutput<typeof ledgerAnswerSchema>;
