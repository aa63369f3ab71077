/** Clicks of the network. The schemas are the ones that read the query, and that the answer is typed by. */
import type * as v from "valibot";
import { clickPageSchema, listedClickSchema } from "../../operator/clicks/clicks-answer.ts";
import { clicksQuerySchema } from "../../operator/clicks/clicks-request.ts";
import type { Operation, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { faultsAnswer, LIMIT, UNAUTHORIZED } from "./shapes.ts";

named("ListedClick", listedClickSchema);

const { entries } = clicksQuerySchema;
const query = (name: keyof typeof entries, description: string, schema: v.GenericSchema = entries[name]): Parameter => ({
	in: "query",
	name,
	description,
	schema,
});

export const OPERATOR_CLICK_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/operator/clicks",
		id: "listNetworkClicks",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "viewer",
		summary: "List clicks",
		description:
			"Paid or not, the newest first. A page looks at a bounded number of clicks: name the publisher, or a time, where few are meant. Of an address, clicks past 600 unpaid ones an hour are only counted.",
		parameters: [
			query("id", "A click's id, its hash, or the publisher's click id: whoever's."),
			query("publisher", "The publisher's id in the network file."),
			query("source", "`subi`, else `psorc`."),
			query("brand", "The brand's domain."),
			query("campaign", "The campaign's id."),
			query("platform", "Its campaign's platform when it was clicked: the id in the network file."),
			query("country", "Of the campaign that the link led to."),
			query("kind", "Where the link came from."),
			query("reason", "`paid`, `unpaid`, or why it is not paid."),
			query("from", "Clicked at this moment or later."),
			query("to", "Clicked before this moment; a date is included."),
			LIMIT,
			query("cursor", "`next_cursor` of the page before."),
		],
		answers: {
			200: {
				description: "A page of clicks.",
				headers: { "cache-control": "Always no-store." },
				content: { schema: named("NetworkClicks", clickPageSchema) },
			},
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
];
