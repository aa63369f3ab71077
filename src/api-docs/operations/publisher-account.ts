/** How a publisher is set up, and what its requests would get. */
import { accountSchema } from "../../publisher-api/account-answer.ts";
import { ownExplanationSchema } from "../../publisher-api/explain-answer.ts";
import { explainRequestSchema, MAX_EXPLAIN_BYTES } from "../../publisher-api/explain-own.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { faultsAnswer, largerThan, OTHER_METHOD, UNAUTHORIZED } from "./shapes.ts";

const SHARED = { host: "base", credential: "AccessKey" } as const;

export const PUBLISHER_ACCOUNT_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		tag: "Account",
		method: "get",
		path: "/api/account",
		id: "readAccount",
		summary: "How you are set up",
		description: "Names and keys that are valid, endpoints and permissions that are enabled, the callback address.",
		answers: limited({
			200: { description: "The account.", content: { schema: named("Account", accountSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: faultsAnswer,
		}),
	},
	{
		...SHARED,
		tag: "Bids",
		method: "post",
		path: "/api/explain",
		id: "explainOwnBid",
		summary: "What a request of yours would get now, and why",
		description:
			"An OpenRTB bid request of your Publisher Identity, or a Serving Engine query of your Publisher Id. Nothing is counted, and no click URL is made. A suspended publisher is answered 401.",
		body: {
			required: true,
			contents: [{ schema: explainRequestSchema, example: { query: "bd=shoes.example&cc=US" } }],
		},
		answers: limited({
			200: {
				description: "The decision, and every campaign that was considered.",
				content: { schema: named("OwnExplanation", ownExplanationSchema) },
			},
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			413: largerThan(MAX_EXPLAIN_BYTES),
			422: faultsAnswer,
		}),
	},
];
