/** Answers of /api/claims and /operator/claims. */
import * as v from "valibot";
import { adjustedSchema } from "../adjustments/adjustment-answer.ts";
import { CLAIM_KINDS, CLAIM_STATES } from "../lib/enums.ts";
import { count, time } from "../lib/shapes.ts";
import { publisherClickSchema } from "../publisher-api/clicks-answer.ts";
import { publisherConversionSchema } from "../publisher-api/conversions-answer.ts";

const text = v.string();
const state = v.pipe(
	v.picklist(CLAIM_STATES),
	v.description("`open` waits for the network, `answered` for the publisher; the others are the end of it."),
);
const usd = v.pipe(text, v.regex(/^\d+\.\d{4}$/));

const entrySchema = v.strictObject({
	at: time,
	by: v.picklist(["publisher", "network"]),
	state: v.pipe(v.picklist(CLAIM_STATES), v.description("Of the claim since then.")),
	text,
});

export const claimSchema = v.strictObject({
	id: text,
	kind: v.pipe(v.picklist(CLAIM_KINDS), v.description("`missing`: a sale that is not there; `wrong`: one that is not as it should be.")),
	about: v.pipe(text, v.description("The click, transaction or order.")),
	brand: v.nullable(text),
	at: v.pipe(v.nullable(time), v.description("When the sale was made, as the publisher has it.")),
	amount: v.pipe(v.nullable(usd), v.description("What the publisher expects, USD.")),
	state,
	thread: v.pipe(v.array(entrySchema), v.description("What was written to and fro, the first first.")),
	created_at: time,
	changed_at: time,
	undone_at: v.pipe(v.nullable(time), v.description("When the network took back what granted it; null where it stands.")),
});

const OUTCOMES = ["opened", "under_way", "known", "no_sale", "no_click"] as const;

export const claimedSchema = v.strictObject({
	outcome: v.pipe(
		v.picklist(OUTCOMES),
		v.description(
			"`opened`: a claim; `under_way`: there was one already; `known`: the sale is there, and stands as `conversions` say; `no_sale`: none is known that could be wrong; `no_click`: no click or sale of this id is known.",
		),
	),
	claim: v.pipe(v.nullable(claimSchema), v.description("Of `opened` and `under_way`.")),
	conversions: v.array(publisherConversionSchema),
	clicks: v.array(publisherClickSchema),
});

export const claimsSchema = v.strictObject({ data: v.array(claimSchema), limit: count, next_cursor: v.nullable(text) });

export const operatorClaimSchema = v.strictObject({
	...claimSchema.entries,
	publisher: text,
	adjustment: v.pipe(v.nullable(text), v.description("Id of the adjustment that granted it.")),
});
/** A claim as an operator leaves it, or would. */
export const settledClaimSchema = v.strictObject({
	...operatorClaimSchema.entries,
	adjusted: v.pipe(v.nullable(adjustedSchema), v.description("What the adjustment that grants it comes to; null but for a grant.")),
	dry_run: v.boolean(),
});
export const operatorClaimsSchema = v.strictObject({ data: v.array(operatorClaimSchema), limit: count, next_cursor: v.nullable(text) });

export type Claim = v.InferOutput<typeof claimSchema>;
export type Claimed = v.InferOutput<typeof claimedSchema>;
export type Claims = v.InferOutput<typeof claimsSchema>;
export type OperatorClaim = v.InferOutput<typeof operatorClaimSchema>;
export type SettledClaim = v.InferOutput<typeof settledClaimSchema>;
export type OperatorClaims = v.InferOutput<typeof operatorClaimsSchema>;
export type ThreadEntry = v.InferOutput<typeof entrySchema>;
