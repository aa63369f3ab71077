/** Answers of /operator/reconcile. */
import * as v from "valibot";
import { CONVERSION_STAGES, CONVERSION_STATUSES } from "../../lib/enums.ts";
import { count, time, usd } from "../../lib/shapes.ts";
import { DIFFERENCE_KINDS } from "./compare-statement.ts";
import { LAYOUTS } from "./layouts.ts";

const text = v.string();
const textOrNull = v.nullable(text);
const amount = v.pipe(text, v.regex(/^-?\d+\.\d{4,6}$/), v.description("Decimal."));

export const statementDifferenceSchema = v.strictObject({
	kind: v.picklist(DIFFERENCE_KINDS),
	txnid: text,
	other_txnid: v.pipe(textOrNull, v.description("Under which the same sale stands here, where it has two ids.")),
	ours: v.nullable(
		v.strictObject({
			stage: v.picklist(CONVERSION_STAGES),
			status: v.picklist(CONVERSION_STATUSES),
			payout: amount,
			currency: text,
			event_at: time,
		}),
	),
	theirs: v.nullable(v.strictObject({ status: textOrNull, payout: amount, currency: textOrNull, at: v.nullable(time), cid: textOrNull })),
	applies: v.pipe(v.boolean(), v.description("Whether `apply` makes a postback of it.")),
});

const counts = v.pipe(v.strictObject(v.entriesFromList(DIFFERENCE_KINDS, count)), v.description("Differences of each kind."));

export const reconciledSchema = v.strictObject({
	platform: text,
	hash: v.pipe(text, v.description("Of the file, and of how it is read.")),
	layout: v.pipe(v.picklist([...LAYOUTS, "mapping"]), v.description("How its columns were told.")),
	rows: count,
	transactions: count,
	faults: v.pipe(
		v.array(v.strictObject({ line: count, message: text })),
		v.description("Rows that cannot be read, and are left out; the first hundred."),
	),
	fault_count: count,
	from: v.pipe(
		v.nullable(time),
		v.description("The first of its dates; null where it has none, and what is missing there cannot be told."),
	),
	to: v.nullable(time),
	counts,
	data: v.pipe(v.array(statementDifferenceSchema), v.description("The first thousand differences.")),
	applied: v.pipe(count, v.description("Postbacks that were made of it so far.")),
	conversions: v.pipe(count, v.description("Conversions that this request changed, or applying would.")),
	publisher_revenue: usd,
	gross_revenue: usd,
	applied_at: v.pipe(v.nullable(time), v.description("When all of it was applied: then the same file changes nothing again.")),
	complete: v.pipe(v.boolean(), v.description("False where there is more to apply, or to tell: ask again with the same file.")),
	dry_run: v.pipe(v.boolean(), v.description("True of a report.")),
});

export const statementsSchema = v.strictObject({
	data: v.array(
		v.strictObject({
			platform: text,
			hash: text,
			at: v.pipe(time, v.description("When it was first applied.")),
			actor: text,
			layout: text,
			rows: count,
			applied: count,
			applied_at: v.nullable(time),
			counts,
		}),
	),
	limit: count,
	next_cursor: textOrNull,
});

export type Reconciled = v.InferOutput<typeof reconciledSchema>;
export type Statements = v.InferOutput<typeof statementsSchema>;
export type DifferenceCounts = Reconciled["counts"];
