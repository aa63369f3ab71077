/** Answer of GET /operator/audit. */
import * as v from "valibot";
import { AUDIT_ROLES } from "../lib/access-enums.ts";
import { count, time } from "../lib/shapes.ts";

const text = v.string();
const json = v.pipe(v.unknown(), v.description("JSON without secrets; null where there is nothing to say."));

export const auditedSchema = v.strictObject({
	id: v.pipe(text, v.description("Later ones sort behind earlier ones.")),
	at: time,
	actor: v.pipe(
		text,
		v.description(
			"Name of the operator key, or of the person in the console; `operator` for OPERATOR_KEY; of an Access Key the publisher's id.",
		),
	),
	role: v.pipe(v.picklist(AUDIT_ROLES), v.description("The role that they had; `publisher` of an Access Key.")),
	verb: v.pipe(text, v.description("Id of the operation.")),
	subject: v.strictObject({ kind: text, id: text }),
	before: json,
	after: json,
	counts: v.pipe(v.nullable(v.record(text, v.number())), v.description("How many of what were changed.")),
	request_id: v.pipe(text, v.description("`x-request-id` of the answer.")),
});

export const auditPageSchema = v.strictObject({ data: v.array(auditedSchema), limit: count, next_cursor: v.nullable(text) });

export type Audited = v.InferOutput<typeof auditedSchema>;
export type AuditPage = v.InferOutput<typeof auditPageSchema>;
