/** Answers of GET /operator/network/imports and of one of them. */
import * as v from "valibot";
import { NETWORK_CHANGE_KINDS } from "../../lib/enums.ts";
import { count, time } from "../../lib/shapes.ts";
import { entryChangeSchema } from "./difference-answer.ts";

const text = v.string();

const listedImportSchema = v.strictObject({
	id: text,
	version: v.pipe(count, v.description("The network's, since then.")),
	kind: v.pipe(
		v.picklist(NETWORK_CHANGE_KINDS),
		v.description("`import` of a file or a new entry, `patch` of one entry, `undo` of another, `names`: a rotation."),
	),
	at: time,
	actor: text,
	file_hash: v.pipe(v.nullable(text), v.description("SHA-256 of the file, hex; null where there was none.")),
	undoes: v.pipe(v.nullable(text), v.description("The import that it undid.")),
	undone_by: v.pipe(v.nullable(text), v.description("The import that undid it last.")),
	can_undo: v.pipe(v.boolean(), v.description("Whether it is young enough, and no rotation.")),
});
export type ListedImport = v.InferOutput<typeof listedImportSchema>;

export const importPageSchema = v.strictObject({ data: v.array(listedImportSchema), limit: count, next_cursor: v.nullable(text) });
export type ImportPage = v.InferOutput<typeof importPageSchema>;

export const shownImportSchema = v.strictObject({
	...listedImportSchema.entries,
	added: count,
	changed: count,
	removed: count,
	entries: v.pipe(v.array(entryChangeSchema), v.description("What it changed; of what it added, the names alone.")),
	entries_left_out: v.pipe(count, v.description("Further ones, which are not listed.")),
});
export type ShownImport = v.InferOutput<typeof shownImportSchema>;
