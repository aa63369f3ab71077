/** Learned prices: how they stand, over time, and what is advised. */
import { adviceSchema, learningStateSchema, pricesSchema, rebuiltSchema } from "../../operator/learning/learning-answers.ts";
import {
	acceptSchema,
	adviceQuerySchema,
	MAX_ACCEPTED,
	pricesQuerySchema,
	rebuildSchema,
} from "../../operator/learning/learning-requests.ts";
import { importReportSchema } from "../../operator/network/import-answer.ts";
import { MAX_SMALL_BYTES } from "../../operator/routes.ts";
import type { Operation, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { CHANGE_QUERY, CONFIRMATION, CONFLICT, IF_MATCH } from "./operator-network.ts";
import { BEING_MOVED, faultsAnswer, largerThan, PAGING, UNAUTHORIZED } from "./shapes.ts";

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey" } as const;
const PAGE: readonly Parameter[] = [...PAGING];

export const OPERATOR_LEARNING_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		role: "viewer",
		method: "get",
		path: "/operator/learning",
		id: "readLearning",
		summary: "How prices are learned",
		description: "Mode and settings of the network, the last night, delays by platform, and campaigns whose worth has changed at once.",
		answers: {
			200: { description: "How learning stands.", content: { schema: named("LearningState", learningStateSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		role: "viewer",
		method: "get",
		path: "/operator/learning/prices",
		id: "readLearnedPrices",
		summary: "A campaign's prices over time",
		description: "Its numbers as they are now with what they were learned from, and whatever was published of them, the newest first.",
		parameters: [
			{
				in: "query",
				name: "campaign",
				required: true,
				description: "Its id.",
				schema: pricesQuerySchema.entries.campaign,
				example: "9001",
			},
			...PAGE,
		],
		answers: {
			200: { description: "Numbers, and a page of changes.", content: { schema: named("LearnedPrices", pricesSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		role: "viewer",
		method: "get",
		path: "/operator/learning/advice",
		id: "listAdvice",
		summary: "What learned prices would change",
		description:
			"Of campaigns in the mode `advise`, and pinned ones: numbers that are off by a publishing step or more, the costliest first. A page may be short, and the next one goes on.",
		parameters: [{ in: "query", name: "campaign", description: "Of this one alone.", schema: adviceQuerySchema.entries.campaign }, ...PAGE],
		answers: {
			200: { description: "A page of campaigns.", content: { schema: named("LearningAdvice", adviceSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		role: "manager",
		method: "post",
		path: "/operator/learning/advice/accept",
		id: "acceptAdvice",
		summary: "Accept advice",
		description:
			"Makes learned numbers the operator's, as a change of those campaigns would: with a difference, in the audit, and undone by its id.",
		parameters: [...CHANGE_QUERY, IF_MATCH],
		body: { required: true, contents: [{ schema: acceptSchema, example: { campaigns: [9001] } }] },
		answers: {
			200: {
				description: `What changed, or would. At most ${MAX_ACCEPTED} campaigns are named at once; "all" takes the 10,000 that cost most.`,
				content: { schema: importReportSchema },
			},
			401: UNAUTHORIZED,
			409: CONFIRMATION,
			412: CONFLICT,
			413: largerThan(MAX_SMALL_BYTES),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
	{
		...SHARED,
		role: "manager",
		method: "post",
		path: "/operator/learning/rebuild",
		id: "rebuildLearning",
		summary: "Rebuild what prices are learned from",
		description:
			"Makes the sums of the last 120 days again from clicks, conversions and their events, each week in one transaction: what is counted meanwhile is counted once. Weeks of which clicks have been removed since (`CLICK_RETENTION_DAYS`) stay as they were summed up. Prices follow with the next night. A request does some weeks: ask again with `next_cursor` until it is null.",
		body: { required: true, contents: [{ schema: rebuildSchema, example: {} }] },
		answers: {
			200: { description: "What was rebuilt.", content: { schema: named("LearningRebuilt", rebuiltSchema) } },
			401: UNAUTHORIZED,
			413: largerThan(MAX_SMALL_BYTES),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
];
