/** Claims: of publishers, and what operators do with them. */
import * as v from "valibot";
import {
	claimedSchema,
	claimSchema,
	claimsSchema,
	operatorClaimSchema,
	operatorClaimsSchema,
	settledClaimSchema,
} from "../../claims/claim-answers.ts";
import {
	claimRequestSchema,
	claimsQuerySchema,
	grantSchema,
	MAX_CLAIM_BYTES,
	ownClaimsQuerySchema,
	wordsSchema,
} from "../../claims/claim-requests.ts";
import { CLAIM_STATES } from "../../lib/enums.ts";
import { MAX_SMALL_BYTES } from "../../operator/routes.ts";
import type { Answer, Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { BEING_MOVED, DRY_RUN, faultsAnswer, largerThan, missing, OTHER_METHOD, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("Claim", claimSchema);
named("OperatorClaim", operatorClaimSchema);

const OWN = { tag: "Claims", host: "base", credential: "AccessKey" } as const;
const STAFF = { tag: "Operator", host: "base", credential: "OperatorKey" } as const;
const SUSPENDED = "A suspended publisher is answered 401.";
const ID = { in: "path", name: "id", required: true, description: "The claim.", schema: v.string() } as const;
const NO_CLAIM = missing("There is no claim of this id.", "There is no such claim.");
const ENDED: Answer = {
	description: "It has ended, or was changed meanwhile.",
	content: {
		schema: v.strictObject({ error: v.string(), message: v.string() }),
		example: { error: "Conflict", message: "It is granted, and so at its end." },
	},
};
const words = (text: string) => ({ required: true, contents: [{ schema: wordsSchema, example: { text } }] });

export const CLAIM_OPERATIONS: readonly Operation[] = [
	{
		...OWN,
		method: "get",
		path: "/api/claims",
		id: "listOwnClaims",
		summary: "Your claims, each with what was written",
		description: "The newest first.",
		parameters: [
			{ in: "query", name: "id", description: "This claim.", schema: ownClaimsQuerySchema.entries.id },
			{ in: "query", name: "state", description: `One of ${CLAIM_STATES.join(", ")}.`, schema: ownClaimsQuerySchema.entries.state },
			...PAGING,
		],
		answers: limited({
			200: { description: "A page of claims.", content: { schema: named("Claims", claimsSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: faultsAnswer,
		}),
	},
	{
		...OWN,
		method: "post",
		path: "/api/claims",
		id: "openClaim",
		summary: "Claim a sale that is missing or wrong",
		description: `Its click is looked up first: what is known already is answered, and no claim is opened. ${SUSPENDED}`,
		body: {
			required: true,
			contents: [
				{ schema: claimRequestSchema, example: { kind: "missing", id: "my-click-1", amount: "12.50", text: "Order 77 of 18 November." } },
			],
		},
		answers: limited({
			200: { description: "What is known, and the claim.", content: { schema: named("Claimed", claimedSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			413: largerThan(MAX_CLAIM_BYTES),
			422: faultsAnswer,
		}),
	},
	{
		...OWN,
		method: "post",
		path: "/api/claims/{id}/reply",
		id: "replyToClaim",
		summary: "Write more to a claim",
		description: `It waits for the network again. ${SUSPENDED}`,
		parameters: [ID],
		body: words("Here is the receipt's number: 77-1."),
		answers: limited({
			200: { description: "The claim.", content: { schema: named("Claim", claimSchema) } },
			401: UNAUTHORIZED,
			404: NO_CLAIM,
			405: OTHER_METHOD,
			412: ENDED,
			413: largerThan(MAX_CLAIM_BYTES),
			422: faultsAnswer,
		}),
	},
	{
		...OWN,
		method: "post",
		path: "/api/claims/{id}/withdraw",
		id: "withdrawClaim",
		summary: "Withdraw a claim",
		description: SUSPENDED,
		parameters: [ID],
		answers: limited({
			200: { description: "The claim.", content: { schema: named("Claim", claimSchema) } },
			401: UNAUTHORIZED,
			404: NO_CLAIM,
			405: OTHER_METHOD,
			412: ENDED,
			413: largerThan(MAX_CLAIM_BYTES),
			422: faultsAnswer,
		}),
	},
];

const settling = {
	200: {
		description: "The claim.",
		headers: { "cache-control": "Always no-store." },
		content: { schema: named("SettledClaim", settledClaimSchema) },
	},
	401: UNAUTHORIZED,
	404: NO_CLAIM,
	412: ENDED,
	413: largerThan(MAX_SMALL_BYTES),
	422: faultsAnswer,
	503: BEING_MOVED,
} as const;

export const OPERATOR_CLAIM_OPERATIONS: readonly Operation[] = [
	{
		...STAFF,
		method: "get",
		path: "/operator/claims",
		id: "listClaims",
		role: "viewer",
		summary: "Claims of publishers",
		description: "The newest first.",
		parameters: [
			{ in: "query", name: "id", description: "This claim.", schema: claimsQuerySchema.entries.id },
			{ in: "query", name: "state", description: `One of ${CLAIM_STATES.join(", ")}.`, schema: claimsQuerySchema.entries.state },
			{ in: "query", name: "publisher", description: "Of this publisher.", schema: claimsQuerySchema.entries.publisher },
			{ in: "query", name: "from", description: "Made at this moment or later.", schema: claimsQuerySchema.entries.from },
			{ in: "query", name: "to", description: "Made before this moment; a date is included.", schema: claimsQuerySchema.entries.to },
			...PAGING,
		],
		answers: {
			200: {
				description: "A page of claims.",
				headers: { "cache-control": "Always no-store." },
				content: { schema: named("OperatorClaims", operatorClaimsSchema) },
			},
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...STAFF,
		method: "post",
		path: "/operator/claims/{id}/answer",
		id: "answerClaim",
		role: "finance",
		summary: "Answer a claim",
		description: "It waits for the publisher then, who reads the text.",
		parameters: [ID, DRY_RUN],
		body: words("Which address was the parcel sent to?"),
		answers: settling,
	},
	{
		...STAFF,
		method: "post",
		path: "/operator/claims/{id}/decline",
		id: "declineClaim",
		role: "finance",
		summary: "Decline a claim",
		description: "The publisher reads the text.",
		parameters: [ID, DRY_RUN],
		body: words("The shop has cancelled the order."),
		answers: settling,
	},
	{
		...STAFF,
		method: "post",
		path: "/operator/claims/{id}/grant",
		id: "grantClaim",
		role: "finance",
		summary: "Grant a claim",
		description:
			"By an adjustment of the claim's publisher, made under an id of the claim's: an amount on a day, a conversion restored or released, or an unmatched one given its click. Asked again after a failure, it is not made twice.",
		parameters: [ID, DRY_RUN],
		body: {
			required: true,
			contents: [
				{
					schema: grantSchema,
					example: { text: "The shop has confirmed it.", by: { kind: "amount", date: "2026-11-18", amount: "12.50" } },
				},
			],
		},
		answers: settling,
	},
];
