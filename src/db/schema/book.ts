import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Values of `manifestDirty`: something was changed; a publish is under way, or was cut off. Else it is 0. */
export const MANIFEST_CHANGED = 1;
export const MANIFEST_UNDER_WAY = 2;

/** The one row of the campaign book's state. */
export const bookState = sqliteTable("book_state", {
	id: integer().primaryKey(),
	/** Last published version. */
	version: integer().notNull(),
	/** When that was, Unix milliseconds; 0 where an earlier version of the code published it. */
	publishedAt: integer("published_at").notNull().default(0),
	/** Its format: 1, or 2 for a packed book. */
	format: integer().notNull().default(1),
	/** The published book has 2^bits shards. */
	bits: integer().notNull(),
	/** While the book is being rebuilt with another number of shards or in another format: that, its exponent, and how many are written. */
	nextFormat: integer("next_format"),
	nextBits: integer("next_bits"),
	nextDone: integer("next_done").notNull(),
	/**
	 * Whether the manifest must be written although no slot is dirty. A publish marks it as under way before it reads, so that it can tell
	 * afterwards what was changed meanwhile.
	 */
	manifestDirty: integer("manifest_dirty").notNull(),
	/** Who publishes now, and until when at the latest. */
	leaseToken: text("lease_token"),
	leaseUntil: integer("lease_until").notNull(),
});

/** What each shard holds in KV, by the number of shards it was built for. A shard without entries has an empty version. */
export const bookShards = sqliteTable(
	"book_shards",
	{
		bits: integer().notNull(),
		shard: integer().notNull(),
		version: text().notNull(),
		bytes: integer().notNull(),
		/** When it was written to KV, Unix milliseconds; 0 where KV has lost it: then it is written again, whatever it holds. */
		writtenAt: integer("written_at").notNull().default(0),
	},
	(table) => [primaryKey({ columns: [table.bits, table.shard] })],
);

/** The same of a packed book's chunks: facts `f`, links `l`, publishers `p`, filters `x`. */
export const bookChunks = sqliteTable(
	"book_chunks",
	{
		kind: text({ enum: ["f", "l", "p", "x"] }).notNull(),
		bits: integer().notNull(),
		chunk: integer().notNull(),
		version: text().notNull(),
		bytes: integer().notNull(),
		/** When it was written to KV, Unix milliseconds; 0 where KV has lost it: then it is written again, whatever it holds. */
		writtenAt: integer("written_at").notNull(),
	},
	(table) => [primaryKey({ columns: [table.kind, table.bits, table.chunk] })],
);

/** What a packed book calls a publisher: its number stays with it. */
export const publisherNumbers = sqliteTable("publisher_numbers", {
	/** publishers.id. */
	publisherId: text("publisher_id").primaryKey(),
	number: integer().notNull(),
});

/** Slots whose entries changed since their shard was written. */
export const bookDirtySlots = sqliteTable("book_dirty_slots", {
	slot: integer().primaryKey(),
	/** Changed by every change: a publish clears only the marks it has seen. */
	mark: integer().notNull(),
});

/** KV keys of replaced shards, kept until no reader can still want them. */
export const bookGarbage = sqliteTable(
	"book_garbage",
	{
		key: text().primaryKey(),
		replacedAt: integer("replaced_at").notNull(),
	},
	(table) => [index("book_garbage_by_age").on(table.replacedAt)],
);
