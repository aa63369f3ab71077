/** What GET /operator/problems/postbacks and POST …/replay take. */
import * as v from "valibot";
import { datetime, endOf, startOf } from "../../http/datetime.ts";
import { cursorOf } from "../../http/pages.ts";
import { readQuery } from "../../http/read-input.ts";
import { nameOfAtMost } from "../../http/texts.ts";
import { pageLimit } from "../../lib/page-cursor.ts";
import { count, notAList } from "../../lib/shapes.ts";
import { DAY_MS } from "../../lib/time.ts";
import { POSTBACK_FIELDS } from "./network-macros.ts";
import type { ProblemsQuery } from "./read-problems.ts";

/** How far back is looked where nobody says. */
const DEFAULT_DAYS = 30;

const platform = nameOfAtMost(255);
const fromAt = (from: string | undefined, now: number) => (from === undefined ? now - DEFAULT_DAYS * DAY_MS : startOf(from));

export const problemsQuerySchema = v.strictObject({
	platform: v.optional(platform),
	from: v.optional(datetime),
	limit: pageLimit,
	cursor: cursorOf(v.tuple([count, v.string(), v.string()])),
});

/** @throws HttpError 422 that names every parameter at fault */
export function readProblemsQuery(query: Record<string, string>, now: number): ProblemsQuery {
	const { platform, from, limit, cursor } = readQuery(problemsQuerySchema, query);
	return { platform, fromAt: fromAt(from, now), limit, after: cursor ?? null };
}

/** Stands for the time at which a postback came, for a date that cannot be read. */
export const RECEIVED_AT = "@received_at";

/** The last that was looked at: a refused postback, else a conversion without a click, with when it was first reported. */
const position = v.union([
	v.tuple([v.literal("refused"), v.string()]),
	v.tuple([v.literal("clickless"), v.pipe(v.number(), v.safeInteger()), v.string()]),
]);
export type ReplayPosition = { of: "refused"; id: string } | { of: "clickless"; at: number; txnid: string };

const name = nameOfAtMost(100);

export const replaySchema = v.strictObject({
	/** platforms.id. */
	platform,
	/** Our fields, and the parameters that they came in; `@received_at` stands for the time at which the postback came, where its date cannot be read. */
	mapping: v.optional(
		v.pipe(
			notAList(v.strictObject(v.entriesFromList(POSTBACK_FIELDS, v.optional(name)))),
			v.check(
				(mapping) => Object.entries(mapping).every(([field, from]) => from !== RECEIVED_AT || field === "edate"),
				`${RECEIVED_AT} is a date: it can stand for edate alone`,
			),
		),
		{},
	),
	/** Received then or later; otherwise in the last 30 days. */
	from: v.optional(datetime),
	/** Received before. */
	until: v.optional(v.pipe(datetime, v.description("Excluded; a date is included."))),
	/** `next_cursor` of the answer before. */
	cursor: cursorOf(position),
});

export type Mapping = Partial<Record<(typeof POSTBACK_FIELDS)[number], string | undefined>>;
export type ReplayRequest = { platform: string; mapping: Mapping; fromAt: number; untilAt: number; after: ReplayPosition | null };

/** @param request that was read */
export function toReplayRequest(request: v.InferOutput<typeof replaySchema>, now: number): ReplayRequest {
	const { platform, mapping, from, until, cursor } = request;
	return { platform, mapping, fromAt: fromAt(from, now), untilAt: until === undefined ? now : endOf(until), after: positionOf(cursor) };
}

function positionOf(cursor: v.InferOutput<typeof position> | undefined): ReplayPosition | null {
	if (cursor === undefined) return null;
	return cursor[0] === "refused" ? { of: "refused", id: cursor[1] } : { of: "clickless", at: cursor[1], txnid: cursor[2] };
}
