/**
 * What became of a sale, and of messages that no consumer could take. The schemas are the ones that read the bodies, and that the
 * verbs' answers are typed by.
 */
import * as v from "valibot";
import { traceAnswerSchema } from "../../conversions/trace-answer.ts";
import { traceSchema } from "../../conversions/trace-route.ts";
import { deadLettersSchema, replayedSchema } from "../../operator/dead-letters/replay-answers.ts";
import { queueSchema, replaySchema } from "../../operator/dead-letters/replay-routes.ts";
import { MAX_SMALL_BYTES } from "../../operator/routes.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, faultsAnswer, from1, largerThan, UNAUTHORIZED } from "./shapes.ts";

named("TracedClick", traceAnswerSchema.entries.clicks.item);
named("TracedPostback", traceAnswerSchema.entries.postbacks.item);
named("TracedConversion", traceAnswerSchema.entries.conversions.item);

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey" } as const;

export const OPERATOR_TRACE_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "post",
		path: "/operator/trace",
		id: "traceConversion",
		role: "viewer",
		summary: "Where is my sale?",
		description:
			"Everything that is known of a click hash, a publisher's click id, a transaction id or a postback's request id, from the click to the last callback attempt; the newest hundred of each kind.",
		body: { required: true, contents: [{ schema: traceSchema, example: { id: "T-1001" } }] },
		answers: {
			200: {
				description: "What is known; empty lists where nothing is.",
				content: { schema: named("Trace", traceAnswerSchema) },
			},
			401: UNAUTHORIZED,
			413: largerThan(MAX_SMALL_BYTES),
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "get",
		path: "/operator/replay",
		id: "listDeadLetters",
		role: "viewer",
		summary: "List dead letters",
		description:
			"Messages that a consumer refused to the end; the newest first, and of those that were replayed the ten thousand replayed last.",
		parameters: [
			{ in: "query", name: "queue", description: "Of this queue only.", schema: queueSchema },
			{
				in: "query",
				name: "limit",
				description: "1 to 1,000; fewer are shown where they are more than 5 MB.",
				schema: v.optional(from1(1_000), 20),
			},
		],
		answers: {
			200: {
				description: "How many wait, and the newest.",
				content: { schema: named("DeadLetters", deadLettersSchema) },
			},
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "post",
		path: "/operator/replay",
		id: "replayDeadLetters",
		role: "finance",
		summary: "Send dead letters to their queues again",
		description:
			"At most 10,000 a request. Where some remain, ask again with the `until` of the answer: what fails again meanwhile is left out.",
		parameters: [DRY_RUN],
		body: { required: true, contents: [{ schema: replaySchema, example: { queue: "clicks" } }] },
		answers: {
			200: {
				description: "How many were sent, or would be.",
				content: { schema: named("DeadLettersReplayed", replayedSchema) },
			},
			401: UNAUTHORIZED,
			413: largerThan(MAX_SMALL_BYTES),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
];
