/** Answer of POST /api/explain. */
import * as v from "valibot";
import { BID_ENDPOINTS, LINK_TYPES } from "../lib/enums.ts";
import { count, usd } from "../lib/shapes.ts";
import { NO_BID_REASONS, type NoBidReason } from "../openrtb/no-bid.ts";

type Told = Exclude<NoBidReason, "cap_met" | "outside_hours"> | "not_available_now";

function isTold(reason: string): reason is Told {
	return reason !== "cap_met" && reason !== "outside_hours";
}

/** Neither caps nor hours of a campaign are a publisher's affair: what bids again later is not available now. */
export function tellReason(reason: string): Told {
	return isTold(reason) ? reason : "not_available_now";
}

const reason = v.picklist([...Object.keys(NO_BID_REASONS), "not_available_now"].filter(isTold));

const decisionSchema = v.variant("outcome", [
	v.strictObject({
		outcome: v.literal("bid"),
		domain: v.string(),
		advertiser_id: count,
		campaign_id: count,
		price: usd,
		is_deeplink: v.boolean(),
	}),
	v.strictObject({ outcome: v.literal("no-bid"), reason, explanation: v.string() }),
	v.strictObject({ outcome: v.literal("invalid"), explanation: v.string() }),
]);

const candidateSchema = v.strictObject({
	domain: v.string(),
	campaign_id: count,
	link: v.pipe(v.picklist(LINK_TYPES), v.description("The link it was considered for.")),
	eligible: v.boolean(),
	won: v.pipe(v.boolean(), v.description("Whether this campaign made the bid.")),
	reason: v.nullable(reason),
	explanation: v.string(),
	price: v.pipe(v.nullable(usd), v.description("Your price; null where it could not bid.")),
});

export const ownExplanationSchema = v.strictObject({
	endpoint: v.picklist(BID_ENDPOINTS),
	decision: decisionSchema,
	candidates: v.array(candidateSchema),
});

export type OwnExplanation = v.InferOutput<typeof ownExplanationSchema>;
