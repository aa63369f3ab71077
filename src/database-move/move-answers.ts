/** Request and answer of POST /operator/database/move. */
import * as v from "valibot";
import { MOVE_STEPS } from "../lib/enums.ts";
import { count } from "../lib/shapes.ts";

const textOrNull = v.nullable(v.string());

export const moveSchema = v.strictObject({
	cancel: v.optional(v.pipe(v.boolean("must be true or false"), v.description("Take the move back: D1 takes writes again.")), false),
	go_on: v.optional(
		v.pipe(v.boolean("must be true or false"), v.description("Begin none: 412 where the one that was under way was taken back.")),
		false,
	),
});

export const moveDifferenceSchema = v.strictObject({
	table: v.string(),
	kind: v.pipe(
		v.picklist(["missing", "unknown", "other", "sum"]),
		v.description("A row that PostgreSQL lacks, one that D1 lacks, one that is not the same, or a sum over a range of rows."),
	),
	key: v.pipe(textOrNull, v.description("The row's; of a sum the last of its range, null for the end of the table.")),
	column: textOrNull,
	from: v.pipe(textOrNull, v.description("A sum in D1.")),
	to: v.pipe(textOrNull, v.description("The same in PostgreSQL.")),
});

export const moveAnswerSchema = v.strictObject({
	outcome: v.pipe(
		v.picklist(["unfinished", "moved", "differs", "switched", "cancelled"]),
		v.description("Ask again while it is `unfinished`."),
	),
	step: v.pipe(v.nullable(v.picklist(MOVE_STEPS)), v.description("What is under way, and with which table.")),
	table: textOrNull,
	tables: v.array(
		v.strictObject({
			table: v.string(),
			copied: v.pipe(count, v.description("Rows.")),
			compared: v.pipe(count, v.description("Rows of which every value was compared.")),
			sums: v.pipe(v.record(v.string(), v.string()), v.description("What all rows and every integer column add up to, in both.")),
		}),
	),
	difference_count: count,
	differences: v.pipe(v.array(moveDifferenceSchema), v.description("The first hundred of this request.")),
});

export type MoveDifference = v.InferOutput<typeof moveDifferenceSchema>;
export type MoveAnswer = v.InferOutput<typeof moveAnswerSchema>;
