/** The operator's adjustments. The schemas are the ones that read the bodies, and that the answers are typed by. */
import { MAX_CLICKS_MOVED } from "../../adjustments/adjust-clicks.ts";
import { adjustedSchema, adjustmentPageSchema } from "../../adjustments/adjustment-answer.ts";
import { adjustmentSchema, listSchema } from "../../adjustments/adjustment-request.ts";
import { MAX_REVALUED_DAYS, revalueSchema } from "../../adjustments/revalue-request.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, errorSchema, faultsAnswer, PAGING, TOO_LARGE, UNAUTHORIZED } from "./shapes.ts";

named("Adjustment", adjustmentPageSchema.entries.data.item);

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey", path: "/operator/adjustments" } as const;

export const OPERATOR_ADJUSTMENT_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "post",
		id: "adjust",
		role: "finance",
		summary: "Take back, give back, add or take",
		description: `\`void_clicks\` takes paid clicks back, by at least one of the fields that select them; \`void_conversion\` takes a conversion back, \`release_conversion\` lets one count that is kept back, and \`restore_conversion\` lets it be what its platform says; \`amount\` adds to what a publisher has earned on a day, or takes; \`undo\` undoes any of these once. Sums, reports, caps and callbacks follow in the same transaction. A request does ${MAX_CLICKS_MOVED.toLocaleString("en")} clicks at most: while \`complete\` is false, ask again with the same \`id\`. Under an \`id\` that was done, nothing is done again.`,
		parameters: [DRY_RUN],
		body: {
			required: true,
			contents: [
				{
					schema: adjustmentSchema,
					example: {
						kind: "void_clicks",
						publisher: "acme-media",
						source: "site-7",
						from: "2026-11-20",
						to: "2026-11-20",
						text: "clicks of a farm",
					},
				},
			],
		},
		answers: {
			200: { description: "What changed, or would.", content: { schema: named("Adjusted", adjustedSchema) } },
			401: UNAUTHORIZED,
			412: {
				description: "The id is of another adjustment.",
				content: { schema: errorSchema, example: { error: "Conflict", message: "The id void-2026-11 is of another adjustment." } },
			},
			413: TOO_LARGE,
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
	{
		...SHARED,
		method: "post",
		path: "/operator/rates/revalue",
		id: "revalueRates",
		role: "finance",
		summary: "Value conversions by corrected exchange rates",
		description: `Conversions of a currency that are settled, or held for their amount, and whose events are of these days (${MAX_REVALUED_DAYS} at most) get the exchange rates that are stored now, as an adjustment of the kind \`revalue\`. Sums, reports and callbacks follow in the same transaction. Those that have the stored rate already do not change, so that a second one changes nothing. A request does 3,000 conversions at most: while \`complete\` is false, ask again with the same \`id\`. It is not undone by an \`undo\`: import the rates of before, and revalue again.`,
		parameters: [DRY_RUN],
		body: {
			required: true,
			contents: [
				{ schema: revalueSchema, example: { currency: "EUR", from: "2026-11-01", to: "2026-11-07", text: "the bank corrected its rates" } },
			],
		},
		answers: {
			200: { description: "What changed, or would.", content: { schema: named("Adjusted", adjustedSchema) } },
			401: UNAUTHORIZED,
			412: {
				description: "The id is of another adjustment.",
				content: { schema: errorSchema, example: { error: "Conflict", message: "The id revalue-2026-11 is of another adjustment." } },
			},
			413: TOO_LARGE,
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
	{
		...SHARED,
		method: "get",
		id: "listAdjustments",
		role: "viewer",
		summary: "List adjustments",
		description: "The newest first.",
		parameters: [
			{ in: "query", name: "kind", description: "Of this kind.", schema: listSchema.entries.kind },
			{ in: "query", name: "from", description: "Made at this moment or later.", schema: listSchema.entries.from },
			{ in: "query", name: "to", description: "Made before this moment; a date is included.", schema: listSchema.entries.to },
			...PAGING,
		],
		answers: {
			200: { description: "A page.", content: { schema: named("AdjustmentPage", adjustmentPageSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
];
