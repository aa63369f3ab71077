/** What a publisher verifies its own copy of its records by. */
import { closedDaySchema, closedDaysSchema } from "../../days/days-answer.ts";
import { daysQuerySchema } from "../../days/days-request.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { dayBefore, faultsAnswer, OTHER_METHOD, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("ClosedDay", closedDaySchema);

const { from, to } = daysQuerySchema.entries;

export const PUBLISHER_DAY_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/api/days",
		id: "listDays",
		tag: "Reports",
		host: "base",
		credential: "AccessKey",
		summary: "Your closed days, each with a digest of its records",
		description:
			"By day, the oldest first: the sums of `daywise`, and a digest that you can compute of your own copy of `clickid_level`. A day without activity has no row, nor has today.",
		parameters: [
			{ in: "query", name: "from", description: "The first UTC day; without it 30 days before `to`.", schema: from, example: dayBefore(7) },
			{ in: "query", name: "to", description: "The last UTC day, included; without it yesterday.", schema: to },
			...PAGING,
		],
		answers: limited({
			200: { description: "A page of days.", content: { schema: named("ClosedDays", closedDaysSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: faultsAnswer,
		}),
	},
];
