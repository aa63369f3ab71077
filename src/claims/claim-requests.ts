/** What the endpoints of claims take. */
import * as v from "valibot";
import { microsOf, upTo } from "../adjustments/adjustment-request.ts";
import { day, inOrder, moment, times } from "../http/datetime.ts";
import { anyId, brandDomain } from "../http/filters.ts";
import { nameOfAtMost, wordsOfAtMost } from "../http/texts.ts";
import { normaliseClickId } from "../lib/click-id.ts";
import { CLAIM_KINDS, CLAIM_STATES } from "../lib/enums.ts";
import { ABSOLUTE_MAX_PAYOUT_MICROS, formatUsd } from "../lib/money.ts";
import { OPERATOR_CURSOR, pageLimit } from "../lib/page-cursor.ts";

/** Of the body of a claim, and of what is written of it. */
export const MAX_CLAIM_BYTES = 16 * 1024;
export const MAX_CLAIM_TEXT = 1_000;

const words = wordsOfAtMost(MAX_CLAIM_TEXT);

const isAmount = (text: string) => microsOf(text) > 0 && microsOf(text) <= ABSOLUTE_MAX_PAYOUT_MICROS;

export const claimRequestSchema = v.strictObject({
	kind: v.picklist(CLAIM_KINDS, `must be one of ${CLAIM_KINDS.join(", ")}`),
	id: v.pipe(
		anyId,
		v.trim(),
		v.nonEmpty("must not be blank"),
		// As clicks are found by it: spelled otherwise, one sale would have many claims.
		v.transform((id) => normaliseClickId(id) ?? id),
		v.description("A click id, a transaction id or an order id."),
	),
	brand: v.nullish(brandDomain, null),
	at: v.nullish(v.pipe(moment, v.description("When the sale was made.")), null),
	amount: v.nullish(
		v.pipe(
			v.string("must be a text such as 12.50"),
			v.check(
				isAmount,
				`must be USD with at most four decimals, such as 12.50, more than 0 and at most ${formatUsd(ABSOLUTE_MAX_PAYOUT_MICROS)}`,
			),
			v.description("What you expect, USD."),
		),
		null,
	),
	text: words,
});
export type ClaimRequest = v.InferOutput<typeof claimRequestSchema>;

export const wordsSchema = v.strictObject({ text: words });

const list = {
	id: v.optional(v.pipe(v.string(), v.maxLength(64, "is too long"))),
	state: v.optional(v.picklist(CLAIM_STATES, `must be one of ${CLAIM_STATES.join(", ")}`)),
	limit: pageLimit,
	cursor: v.optional(v.pipe(v.string(), v.regex(OPERATOR_CURSOR.pattern, "must be the next_cursor of an answer"))),
};
export const ownClaimsQuerySchema = v.strictObject(list);
export const claimsQuerySchema = v.pipe(
	v.strictObject({
		...list,
		publisher: v.optional(v.pipe(v.string(), v.maxLength(2_000, "is too long"))),
		...times,
	}),
	inOrder(),
);

const name = nameOfAtMost(2_000);

/** What grants a claim: an adjustment of the claim's own publisher. */
const meansSchema = v.variant(
	"kind",
	[
		v.strictObject({
			kind: v.literal("amount"),
			date: day,
			amount: v.pipe(
				v.string("must be a text such as 12.50"),
				v.check(isAmount, "must be USD with at most four decimals, such as 12.50, more than 0"),
			),
		}),
		v.strictObject({ kind: v.literal("restore_conversion"), platform: name, txnid: name }),
		v.strictObject({ kind: v.literal("release_conversion"), platform: name, txnid: name, up_to: upTo }),
		v.strictObject({
			kind: v.literal("attach_conversion"),
			platform: name,
			txnid: name,
			click: v.pipe(name, v.description("A click's id, its hash, or the publisher's click id.")),
		}),
	],
	"must be amount, restore_conversion, release_conversion or attach_conversion",
);
export const grantSchema = v.strictObject({ text: words, by: meansSchema });
export type GrantRequest = v.InferOutput<typeof grantSchema>;
