/** Who did what. The schemas are the ones that read the query, and that the answer is typed by. */
import { auditedSchema, auditPageSchema } from "../../audit/audit-answer.ts";
import { auditQuerySchema } from "../../audit/audit-request.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { faultsAnswer, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("AuditedChange", auditedSchema);

const { actor, subject, subject_kind, verb, from, to } = auditQuerySchema.entries;

export const OPERATOR_AUDIT_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/operator/audit",
		id: "readAudit",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "viewer",
		summary: "Who did what",
		description:
			"Every change that was made with an operator key or OPERATOR_KEY, by people of the console, or with an Access Key, and every sign-in to the console, the newest first. It is written with the change, in one transaction, and never changed or removed. A page of several filters looks at up to 5,000 changes that one of them finds: it may hold fewer than its limit, even none, and still be followed by another.",
		parameters: [
			{ in: "query", name: "actor", description: "By this one.", schema: actor },
			{ in: "query", name: "subject", description: "Of what has this id.", schema: subject },
			{ in: "query", name: "subject_kind", description: "Of this kind.", schema: subject_kind },
			{ in: "query", name: "verb", description: "By this operation.", schema: verb },
			{ in: "query", name: "from", description: "The first moment.", schema: from },
			{ in: "query", name: "to", description: "The first moment that is left out, or a date that is included.", schema: to },
			...PAGING,
		],
		answers: {
			200: { description: "A page.", content: { schema: named("AuditPage", auditPageSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
];
