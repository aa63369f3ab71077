/** Query of GET /operator/audit. Pure. */
import * as v from "valibot";
import { inOrder, times } from "../http/datetime.ts";
import { cursorOf } from "../http/pages.ts";
import { nameOfAtMost } from "../http/texts.ts";
import { pageLimit } from "../lib/page-cursor.ts";

const text = nameOfAtMost(2_000);

export const auditQuerySchema = v.pipe(
	v.strictObject({
		actor: v.optional(v.pipe(text, v.description("Name of an operator key; `operator` for OPERATOR_KEY."))),
		subject: v.optional(
			v.pipe(text, v.description("Id of what was changed, or of an adjustment; of a conversion the transaction id will do.")),
		),
		subject_kind: v.optional(v.pipe(text, v.description("What kind of thing it is, such as `access_key`."))),
		verb: v.optional(v.pipe(text, v.description("Id of an operation of this description, such as `issueKeys`."))),
		...times,
		limit: pageLimit,
		cursor: cursorOf(v.strictTuple([v.pipe(v.string(), v.maxLength(64))])),
	}),
	inOrder(),
);

export type AuditQuery = v.InferOutput<typeof auditQuerySchema>;
