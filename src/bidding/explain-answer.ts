/** Answer of POST /operator/explain. */
import * as v from "valibot";
import { BID_ENDPOINTS, LINK_TYPES } from "../lib/enums.ts";
import { count, usd } from "../lib/shapes.ts";
import { NO_BID_REASONS, type NoBidReason } from "../openrtb/no-bid.ts";

const reason = v.picklist(Object.keys(NO_BID_REASONS) as NoBidReason[]);

export const bidDecisionSchema = v.strictObject({
	outcome: v.literal("bid"),
	domain: v.string(),
	advertiser_id: count,
	campaign_id: count,
	price: usd,
	is_deeplink: v.boolean(),
});
export const invalidDecisionSchema = v.strictObject({ outcome: v.literal("invalid"), explanation: v.string() });

const decisionSchema = v.variant("outcome", [
	bidDecisionSchema,
	v.strictObject({
		outcome: v.literal("no-bid"),
		reason,
		condition: v.pipe(v.nullable(count), v.description("No-bid condition of the interface, 1 to 9.")),
		code: v.pipe(count, v.description("No-bid code of OpenRTB; ours from 500.")),
		explanation: v.string(),
	}),
	invalidDecisionSchema,
]);

export const candidateSchema = v.strictObject({
	domain: v.string(),
	campaign_id: count,
	link: v.pipe(v.picklist(LINK_TYPES), v.description("The link it was considered for.")),
	eligible: v.boolean(),
	won: v.pipe(v.boolean(), v.description("Whether this campaign made the bid.")),
	reason: v.nullable(reason),
	explanation: v.string(),
	price: v.pipe(v.nullable(usd), v.description("The publisher's price; null where it could not bid.")),
});

export const explanationSchema = v.strictObject({
	endpoint: v.picklist(BID_ENDPOINTS),
	decision: decisionSchema,
	candidates: v.array(candidateSchema),
});

export type Explanation = v.InferOutput<typeof explanationSchema>;
