/** Postbacks that need a person. The schemas are the ones that read the requests, and that the answers are typed by. */
import * as v from "valibot";
import { DEFAULT_ROWS, MAX_ROWS } from "../../lib/page-cursor.ts";
import { postbackUrlSchema as postbackUrlRequest } from "../../operator/postback-problems/give-postback-url.ts";
import {
	postbackUrlSchema,
	problemSchema,
	problemsSchema,
	replayedPostbacksSchema,
} from "../../operator/postback-problems/problems-answers.ts";
import { problemsQuerySchema, replaySchema } from "../../operator/postback-problems/replay-request.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, faultsAnswer, TOO_LARGE, UNAUTHORIZED } from "./shapes.ts";

named("PostbackProblem", problemSchema);

const { entries: problems } = problemsQuerySchema;

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey" } as const;

export const OPERATOR_PROBLEM_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "get",
		role: "viewer",
		path: "/operator/problems/postbacks",
		id: "listPostbackProblems",
		summary: "List postbacks that need a person",
		description:
			"What was refused, and what was accepted and is not settled, by platform and cause, with examples and what mends it. The newest 500 refused postbacks of each platform, 5,000 of all, and the newest 1,000 conversions of each kind are looked at. A refused postback that was replayed, or sent again in order, is left out.",
		parameters: [
			{ in: "query", name: "platform", description: "Of this platform alone: its id in the network file.", schema: problems.platform },
			{ in: "query", name: "from", description: "Received then or later; otherwise in the last 30 days.", schema: problems.from },
			{
				in: "query",
				name: "limit",
				description: "Problems a page: 1 to 1,000.",
				schema: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_ROWS)), DEFAULT_ROWS),
			},
			{ in: "query", name: "cursor", description: "`next_cursor` of the page before.", schema: v.optional(v.string()) },
		],
		answers: {
			200: { description: "The problems.", content: { schema: named("PostbackProblems", problemsSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "post",
		role: "finance",
		path: "/operator/problems/postbacks/replay",
		id: "replayPostbacks",
		summary: "Send postbacks through settling again",
		description:
			"Refused postbacks of a platform are read again, with `mapping` naming the parameters that our fields came in; those that are in order now are settled as if they had come so, in the place at which they came. Then the conversions without a click are looked at again. A request looks at 500: ask again with `next_cursor` until it is null. A postback is replayed once with the same content. What was refused for its signature must have a valid one; what was refused for its address or key is never replayed.",
		parameters: [DRY_RUN],
		body: { required: true, contents: [{ schema: replaySchema, example: { platform: "northwind", mapping: { txnid: "order_id" } } }] },
		answers: {
			200: { description: "What was done, or would be.", content: { schema: named("PostbacksReplayed", replayedPostbacksSchema) } },
			401: UNAUTHORIZED,
			413: TOO_LARGE,
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
	{
		...SHARED,
		method: "get",
		role: "viewer",
		path: "/operator/postback-url",
		id: "showPostbackUrl",
		summary: "Show the address that a platform is to call",
		description: "With the macros of its network in it. Keys are stored as hashes: the address has a place for one.",
		parameters: [
			{
				in: "query",
				name: "platform",
				required: true,
				description: "Its id in the network file.",
				schema: postbackUrlRequest.entries.platform,
				example: "northwind",
			},
			{
				in: "query",
				name: "network",
				description: "Whose macros; otherwise those of the network that the platform's id or name tells.",
				schema: postbackUrlRequest.entries.network,
			},
		],
		answers: {
			200: { description: "The address.", content: { schema: named("PostbackUrl", postbackUrlSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "post",
		role: "admin",
		path: "/operator/postback-url",
		id: "issuePostbackUrl",
		summary: "Issue the address that a platform is to call",
		description: "With a new key in it, which is shown this once. Keys that there are stay valid. A dry run shows the address as GET does.",
		parameters: [DRY_RUN],
		body: { required: true, contents: [{ schema: postbackUrlRequest, example: { platform: "northwind" } }] },
		answers: {
			200: { description: "The address.", content: { schema: named("PostbackUrl", postbackUrlSchema) } },
			401: UNAUTHORIZED,
			413: TOO_LARGE,
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
];
