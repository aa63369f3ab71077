/** What a publisher has earned: conversion by conversion, and by groups. */
import * as v from "valibot";
import { publisherConversionSchema, publisherConversionsSchema } from "../../publisher-api/conversions-answer.ts";
import { conversionsQuerySchema, MAX_CONVERSION_DAYS } from "../../publisher-api/conversions-request.ts";
import { EARNINGS_GROUPS, earningsRowSchema, earningsSchema, earningsTotalSchema } from "../../publisher-api/earnings-answer.ts";
import { earningsQuerySchema, MAX_EARNINGS_DAYS } from "../../publisher-api/earnings-request.ts";
import { MAX_SOURCE_ROWS } from "../../publisher-api/source-rows.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { dayBefore, faultsAnswer, OTHER_METHOD, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("PublisherConversion", publisherConversionSchema);
named("EarningsRow", earningsRowSchema);
named("EarningsTotal", earningsTotalSchema);

const conversions = conversionsQuerySchema.entries;
const earnings = earningsQuerySchema.entries;

const SHARED = { tag: "Reports", host: "base", credential: "AccessKey" } as const;

export const PUBLISHER_EARNINGS_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "get",
		path: "/api/conversions",
		id: "listConversions",
		summary: "Your conversions, with the history of each",
		description:
			"By when they happened, the oldest first unless `order` says otherwise: those that count, those that are held or cancelled, and tests. With a filter a page may hold fewer than `limit`, even none, and still be followed by another: `next_cursor` says.",
		parameters: [
			{
				in: "query",
				name: "id",
				description:
					"Conversions of this id: of the transaction, or of their click (yours, its `transaction_id` or its `id`). Without `from` and `to` of all time.",
				schema: conversions.id,
			},
			{
				in: "query",
				name: "from",
				description: "The first moment; without it 31 days before `to`.",
				schema: conversions.from,
				example: dayBefore(7),
			},
			{
				in: "query",
				name: "to",
				description: `The first moment that is left out, or a date that is included; without it now. At most ${MAX_CONVERSION_DAYS} days after \`from\`.`,
				schema: conversions.to,
			},
			{ in: "query", name: "status", description: "Of this status, or `held`.", schema: conversions.status },
			{ in: "query", name: "brand", description: "Of the brand of this domain.", schema: conversions.brand },
			{ in: "query", name: "source", description: "Of this source_id.", schema: conversions.source },
			{
				in: "query",
				name: "order",
				description: "Which come first, by time: the `oldest` by default, or the `newest`.",
				schema: conversions.order,
			},
			...PAGING,
		],
		answers: limited({
			200: { description: "A page of conversions.", content: { schema: named("PublisherConversions", publisherConversionsSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: faultsAnswer,
		}),
	},
	{
		...SHARED,
		method: "get",
		path: "/api/earnings",
		id: "readEarnings",
		summary: "What you have earned, by day, source, brand, campaign or country",
		description: "In the order of the groups. The rows of all pages add up to `total`, and that is what `daywise` gives for the period.",
		parameters: [
			{
				in: "query",
				name: "group",
				description: `Some of ${EARNINGS_GROUPS.join(", ")}, with commas between them; by day without it. \`campaign\` where enabled for you; \`source\` with brand, campaign or country where the period has at most ${MAX_SOURCE_ROWS} clicks, paid or not, and conversions, and its clicks are kept.`,
				schema: v.optional(v.string(), "day"),
				example: "day,brand",
			},
			{
				in: "query",
				name: "from",
				description: "The first UTC day; without it 30 days before `to`.",
				schema: earnings.from,
				example: dayBefore(7),
			},
			{
				in: "query",
				name: "to",
				description: `The last UTC day, included; without it today. At most ${MAX_EARNINGS_DAYS} days.`,
				schema: earnings.to,
			},
			...PAGING,
		],
		answers: limited({
			200: { description: "A page of groups, and the total.", content: { schema: named("Earnings", earningsSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: faultsAnswer,
		}),
	},
];
