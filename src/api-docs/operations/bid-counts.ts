/** How often publishers were bid for, and why not: for the operator, and for each publisher its own. */
import * as v from "valibot";
import { bidsPageSchema, bidsRowSchema } from "../../bid-counts/bids-answer.ts";
import { bidsQuerySchema } from "../../bid-counts/bids-request.ts";
import { BID_COUNTS_DAYS } from "../../bid-counts/kept-for.ts";
import { noBidsQuerySchema, noBidsSchema } from "../../publisher-api/no-bids.ts";
import type { Operation, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { dayBefore, faultsAnswer, OTHER_METHOD, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("BidsRow", bidsRowSchema);

const ABOUT =
	"Hours are whole: a period has those that it touches. What was counted arrives a minute or two later; an isolate that ends takes with it what it had not sent.";

const PERIOD = (from: v.GenericSchema, to: v.GenericSchema): readonly Parameter[] => [
	{ in: "query", name: "from", description: "The first moment; without it a day before `to`.", schema: from, example: dayBefore(1) },
	{
		in: "query",
		name: "to",
		description: `The first moment that is left out, or a date that is included; without it now. At most ${BID_COUNTS_DAYS} days after \`from\`: counts are kept as long.`,
		schema: to,
	},
];

export const OPERATOR_BIDS_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/operator/bids",
		id: "readBids",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "viewer",
		summary: "How often publishers were bid for, and why not",
		description: ABOUT,
		parameters: [
			{
				in: "query",
				name: "group",
				description: "Some of hour, day, publisher, endpoint, reason, with commas between them: rows are in their order.",
				schema: v.optional(v.string(), "hour,publisher,reason"),
			},
			...PERIOD(bidsQuerySchema.entries.from, bidsQuerySchema.entries.to),
			{ in: "query", name: "publisher", description: "Of this one.", schema: bidsQuerySchema.entries.publisher },
			...PAGING,
		],
		answers: {
			200: { description: "A page.", content: { schema: named("BidsPage", bidsPageSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
];

export const PUBLISHER_NO_BIDS_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/api/no-bids",
		id: "listNoBids",
		tag: "Reports",
		host: "base",
		credential: "AccessKey",
		summary: "How often you were bid for, hour by hour, and why not",
		description: `${ABOUT} Hours without a request are left out.`,
		parameters: [
			...PERIOD(noBidsQuerySchema.entries.from, noBidsQuerySchema.entries.to),
			{
				in: "query",
				name: "order",
				description: "Which come first, by time: the `oldest` by default, or the `newest`.",
				schema: noBidsQuerySchema.entries.order,
			},
			...PAGING,
		],
		answers: limited({
			200: { description: "A page of hours.", content: { schema: named("NoBids", noBidsSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: faultsAnswer,
		}),
	},
];
