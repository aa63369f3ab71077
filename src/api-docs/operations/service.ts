/** What says how the service is doing. */
import * as v from "valibot";
import type { Operation } from "../operation.ts";
import { OTHER_METHOD } from "./shapes.ts";

export const SERVICE_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/health",
		id: "health",
		tag: "Service",
		host: "base",
		summary: "Whether the Worker answers",
		description: "Reads nothing: no database, no campaign book.",
		answers: {
			200: { description: "It does.", content: { schema: v.strictObject({ status: v.literal("ok") }) } },
			405: OTHER_METHOD,
		},
	},
	{
		method: "get",
		path: "/ready",
		id: "ready",
		tag: "Service",
		host: "rtb",
		summary: "Whether a campaign book is loaded, and the database migrated",
		description:
			"Without a book no bid is made. A Worker that has the database asks, too, whether that has the schema of this version, and on PostgreSQL whether it is there; one without the bid path (`edge` and `origin` deployed apart) answers of that alone, with the status.",
		answers: {
			200: {
				description: "It is.",
				content: {
					schema: v.strictObject({
						status: v.literal("ready"),
						book_version: v.exactOptional(v.number()),
						book_age_seconds: v.exactOptional(v.number()),
					}),
				},
			},
			405: OTHER_METHOD,
			503: {
				description: "Nothing was published yet, or the database is not fit for use.",
				content: { schema: v.strictObject({ status: v.picklist(["no book", "database away", "database not migrated"]) }) },
			},
		},
	},
];
