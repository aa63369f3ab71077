/** Answer of POST /operator/explain. */
import * as v from "valibot";
import { EXPLAINED_LEVELS } from "../learning/explain.ts";
import { LEARNING_MODES } from "../learning/modes.ts";
import { BID_ENDPOINTS, LINK_TYPES } from "../lib/enums.ts";
import { count, usd } from "../lib/shapes.ts";
import { NO_BID_CODES, type NoBidReason } from "../openrtb/no-bid.ts";
import type { Refusal } from "../privacy/privacy-of.ts";

const reason = v.picklist(Object.keys(NO_BID_CODES) as NoBidReason[]);

export const bidDecisionSchema = v.strictObject({
	outcome: v.literal("bid"),
	domain: v.string(),
	advertiser_id: v.pipe(v.string(), v.description("As `ext.advertiser_id` of an answer to OpenRTB.")),
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

const epc = v.pipe(v.string(), v.regex(/^\d+\.\d{4,6}$/), v.description("USD a click, before the share."));
const isoDay = v.pipe(v.string(), v.isoDate(), v.description("UTC."));

const factorSchema = v.strictObject({
	level: v.picklist(EXPLAINED_LEVELS),
	in_force: v.pipe(
		v.number(),
		v.description("What the price is multiplied by, until the next publishing; 1 where the operator's number is bid."),
	),
	learned: v.pipe(v.number(), v.description("Where that is going.")),
	clicks: v.pipe(v.number(), v.description("Weighted: half after 30 days.")),
	expected: v.pipe(v.string(), v.description("What those clicks were to have earned by now without this factor, USD.")),
	earned: v.pipe(v.string(), v.description("What they have earned, as far as it counts, less what of it is yet to be taken back, USD.")),
	expected_conversions: v.pipe(v.number(), v.description("The same as equivalent conversions.")),
	earned_conversions: v.number(),
	weight: v.pipe(v.number(), v.description("Of what was seen against the number that it started from, 0 to 1.")),
	maturity: v.pipe(v.number(), v.description("The part of those clicks' earnings that is known by now.")),
});

const explainedPriceSchema = v.strictObject({
	campaign_id: count,
	link: v.picklist(LINK_TYPES),
	keyword: v.pipe(
		v.nullable(v.string()),
		v.description("A keyword that the campaign lists, `*` for any other, null where its EPC priced."),
	),
	source: v.pipe(v.string(), v.description("The source, or `*other` where it is not followed singly.")),
	mode: v.pipe(v.picklist(LEARNING_MODES), v.description("Of this campaign's bids to this publisher.")),
	operator_epc: epc,
	factors: v.pipe(v.array(factorSchema), v.description("In the order in which they multiply the operator's number.")),
	lowest_factor: v.pipe(v.number(), v.description("Bounds of the campaign's own factor.")),
	highest_factor: v.number(),
	payout_cap: v.pipe(v.nullable(v.string()), v.description("What a payout counts up to, USD.")),
	payout_weight: v.pipe(v.nullable(v.string()), v.description("What a conversion weighs, USD.")),
	loading: v.pipe(v.number(), v.description("The part that larger payouts, shared by the network, add.")),
	renumbered: v.pipe(
		v.number(),
		v.description(
			"What the learned factors together are multiplied by, where the operator's number has changed since the night: 1 where it has not.",
		),
	),
	reversal_level: v.pipe(
		v.number(),
		v.description("How many times as much is taken back of the source's conversions as of its publisher's: 1 without evidence."),
	),
	advised_epc: v.pipe(
		epc,
		v.description("The operator's number × the factors in force; × the learned ones and `renumbered` where it is not bid by them."),
	),
	epc: v.pipe(epc, v.description("What is reckoned with: the advised one in automatic mode, else the operator's.")),
	released_at: v.pipe(
		v.nullable(v.pipe(v.string(), v.isoTimestamp())),
		v.description("Since when it is no longer bid by the operator's number: what is reckoned with leaves that by a day's movement a day."),
	),
	caution: v.pipe(
		v.number(),
		v.description("Guards of bids that are paid by click; 1 for publishers who are not, and where the operator's number is bid."),
	),
	overpaid: v.number(),
	creep: v.number(),
	revenue_share: v.number(),
	price: v.pipe(usd, v.description("What is bid by this; the book may be a minute behind.")),
	learned_until: v.pipe(v.nullable(isoDay), v.description("Clicks of days before it are learned from.")),
	last_break: v.nullable(v.strictObject({ day: isoDay, z: v.number() })),
	last_change: v.pipe(
		v.nullable(v.strictObject({ at: v.pipe(v.string(), v.isoTimestamp()), operator_epc: epc, epc, why: v.string() })),
		v.description("The last that was published of the campaign's price for this keyword."),
	),
});

export const explanationSchema = v.strictObject({
	endpoint: v.picklist(BID_ENDPOINTS),
	decision: decisionSchema,
	privacy: privacyRefusal,
	candidates: v.array(candidateSchema),
	prices: v.pipe(
		v.optional(v.array(explainedPriceSchema)),
		v.description("How the prices of those that could bid were made, the first of them; absent where prices are not learned."),
	),
});

export type Explanation = v.InferOutput<typeof explanationSchema>;
export type ExplainedPriceAnswer = v.InferOutput<typeof explainedPriceSchema>;
