/** What says how the service is doing. */
import * as v from "valibot";
import type { Operation } from "../operation.ts";

export const SERVICE_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/health",
		id: "health",
		tag: "Service",
		host: "base",
		summary: "Whether the Worker answers",
		description: "Reads nothing: no database, no campaign book.",
		answers: { 200: { description: "It does.", content: { schema: v.strictObject({ status: v.literal("ok") }) } } },
	},
	{
		method: "get",
		path: "/ready",
		id: "ready",
		tag: "Service",
		host: "rtb",
		summary: "Whether a campaign book is loaded",
		description: "Without one no bid is made.",
		answers: {
			200: {
				description: "It is.",
				content: { schema: v.strictObject({ status: v.literal("ready"), book_version: v.number(), book_age_seconds: v.number() }) },
			},
			503: { description: "Nothing was published yet.", content: { schema: v.strictObject({ status: v.literal("no book") }) } },
		},
	},
];
