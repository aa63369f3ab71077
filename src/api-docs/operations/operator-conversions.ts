/** Conversions that need a person. The schemas are the ones that read the requests, and that the answers are typed by. */
import * as v from "valibot";
import {
	candidateSchema,
	candidatesSchema,
	conversionPageSchema,
	judgedSchema,
	listedConversionSchema,
	shownConversionSchema,
} from "../../operator/conversions/conversions-answers.ts";
import { attachSchema, clicksSchema, judgeSchema, releaseSchema } from "../../operator/conversions/judge-request.ts";
import { listSchema } from "../../operator/conversions/list-request.ts";
import type { Operation, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, errorSchema, faultsAnswer, LIMIT, missing, TOO_LARGE, UNAUTHORIZED } from "./shapes.ts";

named("ListedConversion", listedConversionSchema);
named("CandidateClick", candidateSchema);

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey" } as const;
const ONE = "/operator/conversions/{platform}/{txnid}";
const query = (name: string, description: string, schema: v.GenericSchema): Parameter => ({
	in: "query",
	name,
	description,
	schema,
});
const OF_ONE: readonly Parameter[] = [
	{
		in: "path",
		name: "platform",
		required: true,
		description: "Its id in the network file; `.` and `..`, which no path keeps, with `%20` behind them.",
		schema: v.string(),
		example: "northwind",
	},
	{
		in: "path",
		name: "txnid",
		required: true,
		description: "The platform's transaction id; `.` and `..`, which no path keeps, with `%20` behind them.",
		schema: v.string(),
		example: "T-1001",
	},
];
const { entries: list } = listSchema;
const { entries: wanted } = clicksSchema;
const NAMES_CLICK: readonly Parameter[] = [
	query("click", "A click's id, its hash, or the publisher's click id.", wanted.click),
	query("brand", "Else a brand's domain, with `from` and `to`, 72 hours apart at most.", wanted.brand),
	query("from", "When the click was made.", wanted.from),
	query("to", "Before when; a date is included.", wanted.to),
];

const VERBS = {
	release: "Let a conversion that is kept back count",
	void: "Take a conversion back",
	restore: "Let a conversion be what its platform says",
} as const;

const NO_CONVERSION = missing("There is none of this platform and transaction id.", "There is no such conversion.");

const judgedAnswers: Operation["answers"] = {
	200: { description: "What changed, or would.", content: { schema: named("ConversionJudged", judgedSchema) } },
	401: UNAUTHORIZED,
	404: NO_CONVERSION,
	412: {
		description: "The id is of another adjustment.",
		content: { schema: errorSchema, example: { error: "Conflict", message: "The id release-2026-11 is of another adjustment." } },
	},
	413: TOO_LARGE,
	422: faultsAnswer,
	503: BEING_MOVED,
};

export const OPERATOR_CONVERSION_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "get",
		role: "viewer",
		path: "/operator/conversions",
		id: "listNetworkConversions",
		summary: "List conversions",
		description:
			"The newest first, by when they were first reported. With a filter a page may hold fewer than its limit, even none, and still be followed by another.",
		parameters: [
			query("stage", "Where it stands.", list.stage),
			query("status", "How its platform says that it stands.", list.status),
			query("platform", "The platform's id in the network file.", list.platform),
			query("publisher", "The publisher's id in the network file.", list.publisher),
			query("brand", "The brand's domain.", list.brand),
			query("reason", "Why it is quarantined, or has no click.", list.reason),
			query("by", "What `from` and `to` are of: when it was first reported, or its event, by which reports count.", list.by),
			query("from", "Then or later.", list.from),
			query("to", "Before; a date is included.", list.to),
			query("min_amount", "Least payout, USD; in its own currency where its worth is not known yet.", list.min_amount),
			LIMIT,
			query("cursor", "`next_cursor` of the page before.", v.string()),
		],
		answers: {
			200: { description: "A page.", content: { schema: named("ConversionPage", conversionPageSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "get",
		role: "viewer",
		path: ONE,
		id: "showConversion",
		summary: "Show a conversion",
		description: "With its history, its click, the postbacks that named it, and what operators did to it.",
		parameters: OF_ONE,
		answers: {
			200: { description: "What is known of it.", content: { schema: named("ShownConversion", shownConversionSchema) } },
			401: UNAUTHORIZED,
			404: NO_CONVERSION,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "get",
		role: "viewer",
		path: `${ONE}/clicks`,
		id: "listCandidateClicks",
		summary: "List clicks that a conversion may be attached to",
		description: "By `click`, or by `brand`, `from` and `to`; a hundred at most, in the order of time.",
		parameters: [...OF_ONE, ...NAMES_CLICK],
		answers: {
			200: { description: "The clicks.", content: { schema: named("CandidateClicks", candidatesSchema) } },
			401: UNAUTHORIZED,
			404: NO_CONVERSION,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "post",
		role: "finance",
		path: `${ONE}/attach`,
		id: "attachConversion",
		summary: "Attach a conversion to a click",
		description:
			"A conversion that has no click gets the one that is named, and is settled as if the postback had named it. The click must be of a brand that has a campaign of this platform, or was of this platform when it was made: what a platform pays for is never booked on another's campaign. A conversion keeps its click: `undo` of the adjustment takes it away again.",
		parameters: [...OF_ONE, DRY_RUN],
		body: {
			required: true,
			contents: [{ schema: attachSchema, example: { click: "0123456789abcdef0123456789abcdef", text: "order mail of 21 November" } }],
		},
		answers: judgedAnswers,
	},
	...Object.entries(VERBS).map(
		([verb, summary]): Operation => ({
			...SHARED,
			method: "post",
			role: "finance",
			path: `${ONE}/${verb}`,
			id: `${verb}Conversion`,
			summary,
			description: `The adjustment \`${verb}_conversion\`, of the conversion that the path names: sums, reports and callbacks follow in the same transaction.`,
			parameters: [...OF_ONE, DRY_RUN],
			body: {
				required: true,
				contents: [
					verb === "release"
						? { schema: releaseSchema, example: { text: "the advertiser confirmed it", up_to: "12000.0000" } }
						: { schema: judgeSchema, example: { text: "the advertiser confirmed it" } },
				],
			},
			answers: judgedAnswers,
		}),
	),
];
