/** What /operator/learning takes. */
import * as v from "valibot";
import { CURSOR_FAULT, cursorOf } from "../../http/pages.ts";
import { pageLimit } from "../../lib/page-cursor.ts";
import { count } from "../../lib/shapes.ts";
import { isUtcDay } from "../../lib/time.ts";

/** Campaigns whose advice is accepted at once. */
export const MAX_ACCEPTED = 1_000;

const ID = "must be a campaign's id";
const campaign = v.pipe(v.string(ID), v.regex(/^\d{1,15}$/, ID), v.transform(Number));
const campaignNumber = v.pipe(v.number(ID), v.safeInteger(ID), v.minValue(0, ID));

export const pricesQuerySchema = v.strictObject({
	campaign,
	limit: pageLimit,
	cursor: cursorOf(v.tuple([count, v.string()])),
});
export type PricesQuery = v.InferOutput<typeof pricesQuerySchema>;

/** The advice of a page ends with is told by what it is worth, and its campaign. */
export const adviceQuerySchema = v.strictObject({
	campaign: v.optional(campaign),
	limit: pageLimit,
	cursor: cursorOf(v.tuple([count, count])),
});
export type AdviceQuery = v.InferOutput<typeof adviceQuerySchema>;

/** Where the request before has ended. */
export const rebuildSchema = v.strictObject({
	cursor: v.optional(v.pipe(v.string("must be a cursor"), v.isoDate(CURSOR_FAULT), v.check(isUtcDay, CURSOR_FAULT))),
});
export type RebuildRequest = v.InferOutput<typeof rebuildSchema>;

const NAMES = `must be "all", or a list of campaigns: at most ${MAX_ACCEPTED}`;

/** Which advice is accepted. */
export const acceptSchema = v.strictObject({
	campaigns: v.union(
		[v.literal("all"), v.pipe(v.array(campaignNumber, NAMES), v.minLength(1, NAMES), v.maxLength(MAX_ACCEPTED, NAMES))],
		NAMES,
	),
});
export type AcceptRequest = v.InferOutput<typeof acceptSchema>;
