/** Answers and values that several endpoints share. */
import * as v from "valibot";
import type { Answer } from "../operation.ts";

export const errorSchema = v.looseObject({ error: v.string() });
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const dateSchema = v.pipe(v.string(), v.isoDate(), v.description("YYYY-MM-DD, UTC."));
export const time = v.pipe(v.string(), v.isoTimestamp(), v.description("ISO 8601, UTC."));
export const usd = v.pipe(v.string(), v.regex(/^-?\d+\.\d{4}$/), v.description("USD, four decimals."));

export const UNAUTHORIZED: Answer = {
	description: "The key is missing or unknown.",
	content: { schema: errorSchema, example: { error: "Unauthorized" } },
};

export const OTHER_METHOD: Answer = {
	description: "Another method than those that are described.",
	headers: { allow: "The methods that are accepted." },
	content: { schema: errorSchema, example: { error: "Method not allowed" } },
};

export const TOO_LARGE: Answer = { description: "The body is too large.", content: { schema: errorSchema } };

const finding = v.strictObject({ path: v.string(), message: v.string() });
export const findings = v.array(finding);

/** The operator's endpoints: what is wrong, and where. */
export const faultsAnswer: Answer = {
	description: "What is wrong, and where; nothing was changed.",
	content: { schema: v.strictObject({ error: v.literal("Validation failed"), faults: findings, fault_count: count }) },
};

/** Reports and searches: what is wrong, by field. */
export const messagesAnswer: Answer = {
	description: "What is wrong, by field.",
	content: {
		schema: v.strictObject({ error: v.literal("Validation failed"), messages: v.record(v.string(), v.array(v.string())) }),
		example: { error: "Validation failed", messages: { start_date: ["The start_date field is required."] } },
	},
};
