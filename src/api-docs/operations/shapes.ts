/** Answers and values that several endpoints share. */
import * as v from "valibot";
import { FLAGS } from "../../lib/enums.ts";
import { DEFAULT_ROWS, MAX_ROWS } from "../../lib/page-cursor.ts";
import { count, faultsSchema, findingSchema, time, usd } from "../../lib/shapes.ts";
import { DAY_MS, utcDay } from "../../lib/time.ts";
import type { Answer, Example, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";

export { count, time, usd };

export const errorSchema = named("Error", v.looseObject({ error: v.string() }));
export const dateSchema = v.pipe(v.string(), v.isoDate(), v.description("YYYY-MM-DD, UTC."));

export const UNAUTHORIZED: Answer = {
	description: "The key is missing or unknown.",
	content: { schema: errorSchema, example: { error: "Unauthorized" } },
};

/** Of every operation of the operator's. */
export const FORBIDDEN: Answer = {
	description: "The operator key's role is another than the operation takes; nothing was changed.",
	content: {
		schema: errorSchema,
		example: { error: "Forbidden", message: "The key of ada has the role viewer; this takes the role manager." },
	},
};

/** What a path names by its id is not there. @param message the answer's, as `notThere` has it */
export function missing(description: string, message: string): Answer {
	return { description, content: { schema: errorSchema, example: { error: "Not found", message } } };
}

export const OTHER_METHOD: Answer = {
	description: "Another method than those that are described.",
	headers: { allow: "The methods that are accepted." },
	content: { schema: errorSchema, example: { error: "Method not allowed" } },
};

export const TOO_LARGE: Answer = {
	description: "The body is too large.",
	content: { schema: errorSchema, example: { error: "Payload too large" } },
};

/** The operator's endpoints say how much they take. */
export function largerThan(maxBytes: number, description = TOO_LARGE.description): Answer {
	return { description, content: { schema: errorSchema, example: { error: `The body may hold at most ${maxBytes} bytes` } } };
}

/** A whole number of at least 1. @param most the largest that is taken, where there is one */
export function from1(most?: number): v.GenericSchema<number> {
	const least = v.pipe(v.number(), v.integer(), v.minValue(1));
	return most === undefined ? least : v.pipe(least, v.maxValue(most));
}

/** A parameter of the query that says yes by 1 or true. */
export function flagParameter(name: string, description: string): Parameter {
	return { in: "query", name, description, schema: v.picklist(FLAGS) };
}

/** Of lists that are read page by page. */
export const LIMIT: Parameter = {
	in: "query",
	name: "limit",
	description: `1 to ${MAX_ROWS}.`,
	schema: v.optional(from1(MAX_ROWS), DEFAULT_ROWS),
};
export const PAGING: readonly Parameter[] = [
	LIMIT,
	{ in: "query", name: "cursor", description: "The `next_cursor` of the page before.", schema: v.optional(v.string()) },
];

/** Of verbs that can say what they would do. */
export const DRY_RUN = flagParameter("dry_run", "1 only says what would change.");

/** Of every operation that takes a key. */
export const TOO_MANY_REQUESTS: Answer = {
	description: "Too many unknown keys came from this address, and this is another one. A valid key is never answered so.",
	headers: {
		"retry-after": "Seconds to wait.",
		ratelimit: "What is left, and seconds to wait, as structured fields have it.",
		"ratelimit-policy": "Unknown keys that an address may send, and in how many seconds.",
	},
	content: { schema: errorSchema, example: { error: "Too many requests" } },
};

const RETRY_AFTER = { "retry-after": "Seconds to wait." };

/** Of every operation that takes a key, but for those whose interface has another answer for it. */
export const UNAVAILABLE: Answer = {
	description: "A database, KV or a queue does not answer just now. What was to be changed may have been: look before you send it again.",
	headers: RETRY_AFTER,
	content: {
		schema: errorSchema,
		example: { error: "Service unavailable", message: "Something this needs does not answer just now. Try again in a few seconds." },
	},
};

/** Of every operation of the operator's that writes. */
export const BEING_MOVED: Answer = {
	description: "The network database is being moved, and takes no writes: nothing was changed. Or something does not answer just now.",
	headers: RETRY_AFTER,
	content: { schema: errorSchema, example: { error: "The network database is being moved" } },
};

/** Of those that take over changes of the network. */
export const NOT_TAKEN_OVER: Answer = {
	description: "The network database is being moved, is away, or did not take it over in its time; nothing of the network was changed.",
	headers: RETRY_AFTER,
	content: { schema: errorSchema, example: { error: "Not taken over", message: "Send it again, and a large file in parts." } },
};

named("Finding", findingSchema);

/** The operator's endpoints: what is wrong, and where. */
export const faultsAnswer: Answer = {
	description: "What is wrong, and where; nothing was changed.",
	content: { schema: named("Faults", faultsSchema) },
};

const validationFailedSchema = named(
	"ValidationFailed",
	v.strictObject({ error: v.literal("Validation failed"), messages: v.record(v.string(), v.array(v.string())) }),
);

/** Reports and searches: what is wrong, by field. @param field,message an example: one that is at fault, and its message */
export function messagesAnswer(field: string, message: string): Answer {
	return {
		description: "What is wrong, by field.",
		content: { schema: validationFailedSchema, example: { error: "Validation failed", messages: { [field]: [message] } } },
	};
}

/** The UTC day so many days before the one on which the description is read. */
export function dayBefore(days: number): (now: number) => Example {
	return (now) => utcDay(now - days * DAY_MS);
}
