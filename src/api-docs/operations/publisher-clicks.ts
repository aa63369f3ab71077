/** What became of each click of a publisher. */
import { publisherClickSchema, publisherClicksSchema } from "../../publisher-api/clicks-answer.ts";
import { clicksQuerySchema, MAX_CLICK_DAYS } from "../../publisher-api/clicks-request.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { dayBefore, faultsAnswer, OTHER_METHOD, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("PublisherClick", publisherClickSchema);

const { id, from, to, reason, brand, source, order } = clicksQuerySchema.entries;

export const PUBLISHER_CLICK_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/api/clicks",
		id: "listClicks",
		tag: "Reports",
		host: "base",
		credential: "AccessKey",
		summary: "Your clicks, paid or not, and why not",
		description:
			"By time, the oldest first unless `order` says otherwise. With a filter a page may hold fewer clicks than `limit`, even none, and still be followed by another: `next_cursor` says.",
		parameters: [
			{
				in: "query",
				name: "id",
				description:
					"Clicks of this id: your click id, `transaction_id` or `id` of a click, or the transaction of its conversion. Without `from` and `to` of all time.",
				schema: id,
			},
			{ in: "query", name: "from", description: "The first moment; without it a day before `to`.", schema: from, example: dayBefore(1) },
			{
				in: "query",
				name: "to",
				description: `The first moment that is left out, or a date that is included; without it now. At most ${MAX_CLICK_DAYS} days after \`from\`.`,
				schema: to,
			},
			{ in: "query", name: "reason", description: "Clicks that are `paid`, `unpaid`, or unpaid for this reason.", schema: reason },
			{ in: "query", name: "brand", description: "Clicks of the brand of this domain.", schema: brand },
			{ in: "query", name: "source", description: "Clicks of this source_id.", schema: source },
			{ in: "query", name: "order", description: "Which come first, by time: the `oldest` by default, or the `newest`.", schema: order },
			...PAGING,
		],
		answers: limited({
			200: { description: "A page of clicks.", content: { schema: named("PublisherClicks", publisherClicksSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: faultsAnswer,
		}),
	},
];
