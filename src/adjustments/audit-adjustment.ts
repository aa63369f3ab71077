/** What is written beside the row of an adjustment: above all what the audit keeps of it. */
import type { SQL } from "drizzle-orm";
import { type AuditEntry, auditStatement } from "../audit/audit-statement.ts";
import type { AuditSubject, AuditVerb } from "../lib/access-enums.ts";
import type { AdjustmentDeps } from "./deps.ts";
import type { AnyRequest } from "./revalue-request.ts";

/** Adjustments that are an operation of their own. */
const VERBS: Partial<Record<AnyRequest["kind"], AuditVerb>> = { revalue: "revalueRates", attach_conversion: "attachConversion" };

/**
 * The statements that belong into the transaction which adds the row. How many clicks follow in others is told by the row itself.
 * @param changed of a conversion: its verdict before
 */
export function besideAdjustment(
	{ actor, verb = "adjust", beside = [] }: AdjustmentDeps,
	{ id, at }: { id: string; at: number },
	request: AnyRequest,
	changed: Pick<AuditEntry, "before" | "counts"> = {},
): SQL[] {
	const [subjectKind, subjectId] = subjectOf(request, id);
	const entry = { verb: VERBS[request.kind] ?? verb, subjectKind, subjectId, after: { ...request, id }, ...changed };
	return [auditStatement(actor, at, entry), ...beside];
}

function subjectOf(request: AnyRequest, id: string): [kind: AuditSubject, id: string] {
	switch (request.kind) {
		case "void_clicks":
			return request.publisher === undefined ? ["adjustment", id] : ["publisher", request.publisher];
		case "amount":
			return ["publisher", request.publisher];
		case "undo":
			return ["adjustment", request.adjustment];
		case "revalue":
			return ["exchange_rate", request.currency];
		default:
			return ["conversion", `${request.platform} ${request.txnid}`];
	}
}
