/** Statements of platforms. The schemas are the ones that the answers are typed by. */
import * as v from "valibot";
import { DATE_ORDERS, STATEMENT_FIELDS } from "../../lib/enums.ts";
import { MAX_STATEMENT_BYTES } from "../../operator/routes.ts";
import { MAX_STATEMENT_ROWS } from "../../operator/statement/read-statement.ts";
import { reconciledSchema, statementDifferenceSchema, statementsSchema } from "../../operator/statement/statement-answers.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, faultsAnswer, flagParameter, largerThan, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("StatementDifference", statementDifferenceSchema);

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey", path: "/operator/reconcile" } as const;

export const OPERATOR_STATEMENT_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "post",
		role: "finance",
		id: "reconcileStatement",
		summary: "Compare a platform's statement with the ledger",
		description: `The body is the platform's own statement, CSV of ${MAX_STATEMENT_ROWS.toLocaleString("en")} rows at most. Exports of Awin, impact.com, CJ and Rakuten are told by their headers; \`mapping\` names the columns of others. Rows of one transaction are added up. With \`apply=1\` what is missing here, has another amount or another status becomes a postback, and is settled like any other; one sale under two ids, and what is missing there, is only told. A file is applied once: a request applies 1,000 postbacks, so ask again with the same file while \`complete\` is false. Once all of it was applied, the same file changes nothing.`,
		parameters: [
			{
				in: "query",
				name: "platform",
				required: true,
				description: "Its id in the network file.",
				schema: v.string(),
				example: "northwind",
			},
			flagParameter("apply", "1 applies it; otherwise it is only compared."),
			{
				in: "query",
				name: "mapping",
				description: `JSON object: ${STATEMENT_FIELDS.join(", ")}, each with the column that it stands in. It goes before what the header tells.`,
				schema: v.string(),
			},
			{
				in: "query",
				name: "date_order",
				description: "How dates such as 10/11/2026 are written, where the header does not tell.",
				schema: v.picklist(DATE_ORDERS),
			},
		],
		body: {
			required: true,
			contents: [
				{
					schema: null,
					type: "text/csv",
					example:
						"Transaction ID,Click Ref,Transaction Date,Commission Amount,Currency,Status\nT-1001,0123456789abcdef0123456789abcdef,2026-11-10,1.50,USD,approved\n",
				},
			],
		},
		answers: {
			200: {
				description: "What differs, and what was applied, or would be.",
				content: { schema: named("StatementReconciled", reconciledSchema) },
			},
			401: UNAUTHORIZED,
			413: largerThan(MAX_STATEMENT_BYTES),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
	{
		...SHARED,
		method: "get",
		role: "viewer",
		id: "listStatements",
		summary: "List statements that were applied",
		description: "The newest first, each with the hash of its file.",
		parameters: [{ in: "query", name: "platform", description: "Of this platform alone.", schema: v.string() }, ...PAGING],
		answers: {
			200: { description: "A page.", content: { schema: named("Statements", statementsSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
];
