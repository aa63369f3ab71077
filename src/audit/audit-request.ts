/** Query of GET /operator/audit. Pure. */
import * as v from "valibot";
import { cursorOf } from "../http/pages.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { DAY_MS, utcDay } from "../lib/time.ts";

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

const moment = v.pipe(
	v.string(),
	v.check(isMoment, "must be a UTC date such as 2026-11-18, or a time such as 2026-11-18T15:00:00Z"),
	v.description("UTC date, or ISO 8601 time."),
);
const text = v.pipe(v.string(), v.nonEmpty("must not be blank"), v.maxLength(2_000, "is too long"));

export const auditQuerySchema = v.strictObject({
	actor: v.optional(v.pipe(text, v.description("Name of an operator key; `operator` for OPERATOR_KEY."))),
	subject: v.optional(v.pipe(text, v.description("Id of what was changed."))),
	subject_kind: v.optional(v.pipe(text, v.description("What kind of thing it is, such as `access_key`."))),
	verb: v.optional(v.pipe(text, v.description("Id of an operation of this description, such as `issueKeys`."))),
	from: v.optional(
		v.pipe(
			moment,
			v.transform((given) => Date.parse(given)),
		),
	),
	to: v.optional(
		v.pipe(
			moment,
			v.transform((given) => Date.parse(given) + (DATE.test(given) ? DAY_MS : 0)),
			v.description("Excluded; a date is included."),
		),
	),
	limit: pageLimit,
	cursor: cursorOf(v.strictTuple([v.pipe(v.string(), v.maxLength(64))])),
});

export type AuditQuery = v.InferOutput<typeof auditQuerySchema>;

function isMoment(given: string): boolean {
	const at = Date.parse(given);
	if (Number.isNaN(at)) return false;
	// Date.parse takes 30 February for 2 March, and much that is no ISO 8601.
	return DATE.test(given) ? utcDay(at) === given : TIME.test(given);
}
