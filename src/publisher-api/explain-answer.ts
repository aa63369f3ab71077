/** Answer of POST /api/explain. */
import * as v from "valibot";
import { bidDecisionSchema, candidateSchema, invalidDecisionSchema, privacyRefusal } from "../bidding/explain-answer.ts";
import { BID_ENDPOINTS } from "../lib/enums.ts";
import { count, usd } from "../lib/shapes.ts";
import { NO_BID_CODES, type NoBidReason } from "../openrtb/no-bid.ts";

type Told = Exclude<NoBidReason, "cap_met" | "outside_hours"> | "not_available_now";

function isTold(reason: string): reason is Told {
	return reason !== "cap_met" && reason !== "outside_hours";
}

/** Neither caps nor hours of a campaign are a publisher's affair: what bids again later is not available now. */
export function tellReason(reason: string): Told {
	return isTold(reason) ? reason : "not_available_now";
}

/** The code of a reason that is told; 0, OpenRTB's for an unknown one, of what this version does not know. */
export function codeOf(reason: string): number {
	if (reason === "not_available_now") return NO_BID_CODES.cap_met;
	return Object.hasOwn(NO_BID_CODES, reason) ? NO_BID_CODES[reason as NoBidReason] : 0;
}

export const noBidCode = v.pipe(count, v.description("No-bid code of OpenRTB; ours from 500."));

const reason = v.picklist([...Object.keys(NO_BID_CODES), "not_available_now"].filter(isTold));

const decisionSchema = v.variant("outcome", [
	bidDecisionSchema,
	v.strictObject({ outcome: v.literal("no-bid"), reason, code: noBidCode, explanation: v.string() }),
	invalidDecisionSchema,
]);

const ownCandidateSchema = v.strictObject({
	...candidateSchema.entries,
	reason: v.nullable(reason),
	price: v.pipe(v.nullable(usd), v.description("Your price; null where it could not bid.")),
});

export const ownExplanationSchema = v.strictObject({
	endpoint: v.picklist(BID_ENDPOINTS),
	decision: decisionSchema,
	privacy: privacyRefusal,
	candidates: v.array(ownCandidateSchema),
});

export type OwnExplanation = v.InferOutput<typeof ownExplanationSchema>;
