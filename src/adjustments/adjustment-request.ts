/** What POST and GET /operator/adjustments take. */
import * as v from "valibot";
import { datetime, day, endOf, inOrder, startOf, times } from "../http/datetime.ts";
import { nameOfAtMost, wordsOfAtMost } from "../http/texts.ts";
import { ADJUSTMENT_KINDS } from "../lib/enums.ts";
import { networkPrefix } from "../lib/ip.ts";
import { ABSOLUTE_MAX_PAYOUT_MICROS, formatUsd, parseDecimal } from "../lib/money.ts";
import { OPERATOR_CURSOR, pageLimit } from "../lib/page-cursor.ts";
import { TRAFFIC_RULES } from "../lib/traffic-rules.ts";

const name = nameOfAtMost(2_000);

/** The network that clicks keep of an address: an address stands for the one that it is in. */
const addressPrefix = v.pipe(
	v.string("must be a text"),
	v.check((value) => prefixOf(value) !== null, "must be an address, or a network such as 203.0.113.0/24 or 2001:db8:85a3::/48"),
	v.transform((value) => prefixOf(value) ?? ""),
);

function prefixOf(text: string): string | null {
	const [address = "", bits, ...more] = text.split("/");
	const prefix = networkPrefix(address);
	return prefix === null || more.length > 0 || (bits !== undefined && !prefix.endsWith(`/${bits}`)) ? null : prefix;
}

/** Money is credited in ten-thousandths (decision 0024). */
const AMOUNT_DECIMALS = 4;
const MICROS_PER_TEN_THOUSANDTH = 100;

/** Micro-dollars of an amount that was read. */
export function microsOf(amount: string): number {
	return (parseDecimal(amount, AMOUNT_DECIMALS) ?? 0) * MICROS_PER_TEN_THOUSANDTH;
}

const amount = v.pipe(
	v.string("must be a text such as -12.5000"),
	v.check((value) => parseDecimal(value, AMOUNT_DECIMALS) !== null, "must be USD with at most four decimals, such as -12.5000"),
	v.check((value) => microsOf(value) !== 0, "must not be zero"),
	v.check(
		(value) => Math.abs(microsOf(value)) <= ABSOLUTE_MAX_PAYOUT_MICROS,
		`must be at most ${formatUsd(ABSOLUTE_MAX_PAYOUT_MICROS)} either way`,
	),
);

export const shared = {
	/** The caller's own: asked again under it, a request that was cut off goes on, and one that was done changes nothing. */
	id: v.optional(v.pipe(v.string("must be a text"), v.regex(/^[\w-]{8,64}$/, "must be 8 to 64 letters, digits, - or _"))),
	/** Why, in the operator's words. */
	text: wordsOfAtMost(1_000),
};

const SELECTION = {
	/** publishers.id. */
	publisher: v.optional(name),
	/** A source_id of reports; empty for the clicks without one. */
	source: v.optional(v.pipe(v.string("must be a text"), v.maxLength(2_000, "is too long"))),
	address_prefix: v.optional(addressPrefix),
	/** A brand's domain. */
	brand: v.optional(name),
	campaign: v.optional(v.pipe(v.number("must be a number"), v.safeInteger("must be a whole number"))),
	/** When the click was made: from, and before; a date as `to` is included. */
	from: v.optional(datetime),
	to: v.optional(datetime),
	/** A rule that flagged it. */
	reason: v.optional(v.picklist(TRAFFIC_RULES, `must be one of ${TRAFFIC_RULES.join(", ")}`)),
};

const voidClicksSchema = v.pipe(
	v.strictObject({ kind: v.literal("void_clicks"), ...SELECTION, ...shared }),
	v.check(
		(request) => Object.keys(SELECTION).some((field) => request[field as keyof typeof SELECTION] !== undefined),
		`must name clicks by ${Object.keys(SELECTION).join(", ")}`,
	),
	v.forward(
		v.check(({ from, to }) => from === undefined || to === undefined || startOf(from) < endOf(to), "must be after from"),
		["to"],
	),
);

const CONVERSION_KINDS = ["void_conversion", "restore_conversion", "release_conversion"] as const;
const judgementSchema = v.strictObject({
	kind: v.picklist(["void_conversion", "restore_conversion"]),
	platform: name,
	txnid: name,
	...shared,
});
/** What a conversion that is released was seen to be worth: one that its platform has raised meanwhile is not released. */
export const upTo = v.optional(
	v.pipe(
		v.string("must be a text such as 12000.0000"),
		v.check((value) => (parseDecimal(value, AMOUNT_DECIMALS) ?? -1) >= 0, "must be USD with at most four decimals, such as 12000.0000"),
		v.description("What it was seen to be worth, USD: it is released only if it is worth no more by now."),
	),
);
const releaseSchema = v.strictObject({ kind: v.literal("release_conversion"), platform: name, txnid: name, up_to: upTo, ...shared });
const amountSchema = v.strictObject({ kind: v.literal("amount"), publisher: name, date: day, amount, ...shared });
const undoSchema = v.strictObject({ kind: v.literal("undo"), adjustment: name, ...shared });

/** Body of POST /operator/adjustments. */
export const adjustmentSchema = v.variant(
	"kind",
	[voidClicksSchema, judgementSchema, releaseSchema, amountSchema, undoSchema],
	`must be void_clicks, ${CONVERSION_KINDS.join(", ")}, amount or undo`,
);

/** A conversion without a click gets the one that an operator names. It is asked for at /operator/conversions alone. */
export type AttachRequest = {
	kind: "attach_conversion";
	platform: string;
	txnid: string;
	/** clicks.id. */
	click: string;
	id?: string | undefined;
	text: string;
};

export type AdjustmentRequest = v.InferOutput<typeof adjustmentSchema>;
export type VoidClicksRequest = v.InferOutput<typeof voidClicksSchema>;
export type ConversionRequest = v.InferOutput<typeof judgementSchema> | v.InferOutput<typeof releaseSchema>;
export type AmountRequest = v.InferOutput<typeof amountSchema>;
export type UndoRequest = v.InferOutput<typeof undoSchema>;

/** Query of GET /operator/adjustments. */
export const listSchema = v.pipe(
	v.strictObject({
		kind: v.optional(v.picklist(ADJUSTMENT_KINDS, `must be one of ${ADJUSTMENT_KINDS.join(", ")}`)),
		...times,
		limit: pageLimit,
		/** `next_cursor` of the page before. */
		cursor: v.optional(v.pipe(v.string(), v.regex(OPERATOR_CURSOR.pattern, "must be the next_cursor of a page"))),
	}),
	inOrder(),
);

export type ListQuery = v.InferOutput<typeof listSchema>;
