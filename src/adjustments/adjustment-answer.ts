/** Answers of POST and GET /operator/adjustments. */
import * as v from "valibot";
import { ADJUSTMENT_KINDS } from "../lib/enums.ts";
import { count, time, usd } from "../lib/shapes.ts";

const text = v.string();

const changes = {
	kind: v.picklist(ADJUSTMENT_KINDS),
	clicks: v.pipe(count, v.description("Clicks that changed.")),
	conversions: v.pipe(count, v.description("Conversions that changed.")),
	publisher_revenue: v.pipe(usd, v.description("What the publishers' revenue grew by; below zero what was taken.")),
	gross_revenue: v.pipe(usd, v.description("What the gross of conversions grew by.")),
	complete: v.pipe(v.boolean(), v.description("False where there is more to do: ask again with the same id.")),
};

export const adjustedSchema = v.strictObject({
	id: v.pipe(v.nullable(text), v.description("Undoes it. Null of a dry run.")),
	...changes,
	alike: v.pipe(
		v.nullable(text),
		v.description("Of an `amount`: the latest other adjustment by the same amount on the same day of the publisher that is not undone."),
	),
	dry_run: v.boolean(),
});

const listedSchema = v.strictObject({
	id: text,
	...changes,
	actor: text,
	at: time,
	text: v.pipe(text, v.description("Why, in the operator's words.")),
	request: v.pipe(v.record(text, v.unknown()), v.description("What was asked for.")),
	undone_by: v.pipe(v.nullable(text), v.description("The adjustment that undid it.")),
});

export const adjustmentPageSchema = v.strictObject({ data: v.array(listedSchema), limit: count, next_cursor: v.nullable(text) });

export type Adjusted = v.InferOutput<typeof adjustedSchema>;
export type ListedAdjustment = v.InferOutput<typeof listedSchema>;
export type AdjustmentPage = v.InferOutput<typeof adjustmentPageSchema>;
