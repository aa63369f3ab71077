/** Answer of POST /operator/explain. */
import * as v from "valibot";
import { BID_ENDPOINTS, LINK_TYPES } from "../lib/enums.ts";
import { count, usd } from "../lib/shapes.ts";
import { NO_BID_REASONS, type NoBidReason } from "../openrtb/no-bid.ts";
import type { Refusal } from "../privacy/privacy-of.ts";

const reason = v.picklist(Object.keys(NO_BID_REASONS) as NoBidReason[]);

export const bidDecisionSchema = v.strictObject({
	outcome: v.literal("bid"),
	domain: v.string(),
	advertiser_id: count,
	campaign_id: count,
	price: usd,
	is_deeplink: v.boolean(),
	stripped: v.pipe(v.boolean(), v.description("The link has nothing of the user: a privacy signal says no.")),
});
export const invalidDecisionSchema = v.strictObject({ outcome: v.literal("invalid"), explanation: v.string() });

/** What each privacy signal is that can say no. */
export const PRIVACY_REFUSALS: Readonly<Record<Refusal, string>> = {
	unreadable: "a signal that cannot be read",
	coppa: "COPPA",
	limited: "limited tracking, or Global Privacy Control",
	us_privacy: "US Privacy",
	gpp: "GPP",
	gdpr: "the GDPR",
};

export const privacyRefusal = v.pipe(
	v.nullable(v.picklist(Object.keys(PRIVACY_REFUSALS) as Refusal[])),
	v.description("The first privacy signal of the request that says no, whatever your policy makes of it; null where none does."),
);

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
	privacy: privacyRefusal,
	candidates: v.array(candidateSchema),
});

export type Explanation = v.InferOutput<typeof explanationSchema>;
