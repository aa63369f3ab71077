/** Whether counters are what their rows give. */
import { checkLedgerSchema, ledgerAnswerSchema, ledgerDifferenceSchema } from "../../ledger-check/ledger-answers.ts";
import { reconcileAnswerSchema, sumDifferenceSchema } from "../../reconcile/reconcile-answers.ts";
import { reconcileSchema } from "../../reconcile/reconcile-routes.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, dayBefore, faultsAnswer, TOO_LARGE, UNAUTHORIZED } from "./shapes.ts";

named("SumDifference", sumDifferenceSchema);
named("LedgerDifference", ledgerDifferenceSchema);

export const OPERATOR_RECONCILE_OPERATIONS: readonly Operation[] = [
	{
		method: "post",
		path: "/operator/reconcile-sums",
		id: "reconcileSums",
		role: "finance",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		summary: "Compare counters with their rows",
		description:
			"Compares the sums that reports, caps and budgets read with the clicks, conversions and adjustments they were made of. A request compares some days: ask again with `next_cursor` until it is null. `repair` writes what differs right; what is counted meanwhile is not lost.",
		body: {
			required: true,
			contents: [{ schema: reconcileSchema, example: (now) => ({ from: dayBefore(1)(now), to: dayBefore(0)(now) }) }],
		},
		answers: {
			200: { description: "What was compared, and what differs.", content: { schema: named("SumsReconciled", reconcileAnswerSchema) } },
			401: UNAUTHORIZED,
			413: TOO_LARGE,
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
	{
		method: "post",
		path: "/operator/check-ledger",
		id: "checkLedger",
		role: "viewer",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		summary: "Check conversions against their history and their callbacks",
		description:
			"Every field of a conversion is what its events set, one after the other; and what its publisher was credited with, less what was taken back, is what reports show, or there is one of the `reasons`. Every night the cron does the same, and `status` shows what it found. A request checks some conversions: ask again with `next_cursor` until it is null.",
		body: { required: true, contents: [{ schema: checkLedgerSchema, example: {} }] },
		answers: {
			200: { description: "What was checked, and what differs.", content: { schema: named("LedgerChecked", ledgerAnswerSchema) } },
			401: UNAUTHORIZED,
			413: TOO_LARGE,
			422: faultsAnswer,
		},
	},
];
