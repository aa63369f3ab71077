/** What the network earns. */
import * as v from "valibot";
import { networkReportSchema, REPORT_GROUPS, reportRowSchema, reportTotalSchema } from "../../network-reports/report-answer.ts";
import { MAX_REPORT_DAYS, networkReportQuerySchema } from "../../network-reports/report-request.ts";
import { MAX_SOURCE_ROWS } from "../../network-reports/source-rows.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { dayBefore, faultsAnswer, flagParameter, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("NetworkReportRow", reportRowSchema);
named("NetworkReportTotal", reportTotalSchema);

const { from, to, publisher } = networkReportQuerySchema.entries;

export const OPERATOR_REPORT_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/operator/reports",
		id: "readNetworkReport",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "viewer",
		summary: "What the network earns",
		description:
			"Gross revenue, what publishers earn of it, and what stays; clicks paid and unpaid, conversions by status. Clicks count on the UTC day of the click, conversions on that of the conversion. Rows of any group add up to `total`.",
		parameters: [
			{
				in: "query",
				name: "group",
				description: `Some of ${REPORT_GROUPS.join(", ")}, with commas between them: rows are in their order. source with more than day and publisher is added up of single clicks and conversions, of at most ${MAX_SOURCE_ROWS} in the period.`,
				schema: v.optional(v.string(), "day"),
			},
			flagParameter(
				"detail",
				"1: source alone, or with day and publisher, has all figures too, of at most as many; else rows have those that sums of sources are kept of.",
			),
			{ in: "query", name: "from", description: "The first day; without it a month before `to`.", schema: from, example: dayBefore(1) },
			{ in: "query", name: "to", description: `The last day; without it today. At most ${MAX_REPORT_DAYS} days in all.`, schema: to },
			{ in: "query", name: "publisher", description: "Of this one.", schema: publisher },
			...PAGING,
		],
		answers: {
			200: {
				description: "A page of rows, as JSON, unless `Accept` prefers `text/csv`.",
				content: { schema: named("NetworkReport", networkReportSchema) },
				headers: {
					vary: "Always OperatorKey, Accept.",
					"content-disposition": "Of CSV only: a file name.",
					"x-limit": "Of CSV only: `limit`.",
					"x-data-through": "Of CSV only: `data_through`.",
					"x-next-cursor": "Of CSV only: `next_cursor`.",
				},
			},
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
];
