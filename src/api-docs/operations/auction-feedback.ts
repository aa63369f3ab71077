/** What publishers tell of auctions, and what the operator sees of it. */
import * as v from "valibot";
import { feedbackPageSchema, feedbackRowSchema } from "../../auction-feedback/feedback-answer.ts";
import { feedbackQuerySchema } from "../../auction-feedback/read-feedback.ts";
import { feedbackRequestSchema, feedbackTakenSchema, MAX_AUCTIONS, MAX_FEEDBACK_BYTES } from "../../auction-feedback/take-feedback.ts";
import { AUCTION_KNOWN_DAYS, FEEDBACK_DAYS } from "../../bid-counts/kept-for.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { faultsAnswer, largerThan, OTHER_METHOD, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("FeedbackRow", feedbackRowSchema);

export const PUBLISHER_FEEDBACK_OPERATIONS: readonly Operation[] = [
	{
		method: "post",
		path: "/api/auction-feedback",
		id: "tellAuctions",
		tag: "Bids",
		host: "base",
		credential: "AccessKey",
		summary: "Tell what became of auctions",
		description: `At most ${MAX_AUCTIONS} auctions. Each is counted once, by its id, which is known for ${AUCTION_KNOWN_DAYS} days: send a request again where its answer was lost. Nothing is paid by it. A suspended publisher is answered 401.`,
		body: {
			required: true,
			contents: [
				{
					schema: feedbackRequestSchema,
					example: {
						auctions: [
							{ id: "auction-1", loss: 102, price: "0.4200" },
							{ id: "auction-2", loss: 0 },
						],
					},
				},
			],
		},
		answers: limited({
			200: { description: "What was counted.", content: { schema: named("FeedbackTaken", feedbackTakenSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			413: largerThan(MAX_FEEDBACK_BYTES),
			422: faultsAnswer,
		}),
	},
];

export const OPERATOR_FEEDBACK_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/operator/auction-feedback",
		id: "readAuctionFeedback",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "viewer",
		summary: "How often bids won, and what they had to beat",
		description: `What publishers tell by POST /api/auction-feedback, by the UTC day on which they tell it; kept for ${FEEDBACK_DAYS} days.`,
		parameters: [
			{
				in: "query",
				name: "group",
				description: "Some of day, publisher, loss, with commas between them: rows are in their order.",
				schema: v.optional(v.string(), "day,publisher"),
			},
			{ in: "query", name: "from", description: "First day; without it six days before `to`.", schema: feedbackQuerySchema.entries.from },
			{ in: "query", name: "to", description: "Last day; without it today.", schema: feedbackQuerySchema.entries.to },
			{ in: "query", name: "publisher", description: "Of this one.", schema: feedbackQuerySchema.entries.publisher },
			...PAGING,
		],
		answers: {
			200: { description: "A page.", content: { schema: named("FeedbackPage", feedbackPageSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
];
