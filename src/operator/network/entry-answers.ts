/** Answers of the lists of entries, and of single ones. */
import * as v from "valibot";
import { count } from "../../lib/shapes.ts";

/** Sections whose entries are shown and changed one by one. */
export const ENTRY_SECTIONS = ["platforms", "publishers", "brands", "campaigns"] as const;
export type EntrySection = (typeof ENTRY_SECTIONS)[number];

/** An entry with all its fields, but for keys and secrets. */
export const fileEntrySchema = v.looseObject({});

export const entryPageSchema = v.strictObject({ data: v.array(fileEntrySchema), limit: count, next_cursor: v.nullable(v.string()) });
export type EntryPage = v.InferOutput<typeof entryPageSchema>;

/** 412 of a PATCH: the entry is another than the one that was read. */
export const entryConflictSchema = v.strictObject({
	error: v.literal("Conflict"),
	message: v.string(),
	etag: v.string(),
	entry: v.pipe(fileEntrySchema, v.description("As it is now.")),
});
