/** Answers of POST /operator/network, of a PATCH of an entry and of an undo. */
import * as v from "valibot";
import { CREDENTIAL_KINDS } from "../../lib/access-enums.ts";
import { count, findings, time } from "../../lib/shapes.ts";
import { differenceSchema } from "./difference-answer.ts";

export const importReportSchema = v.strictObject({
	id: v.pipe(v.nullable(v.string()), v.description("Of the import, to undo it by; null where nothing changed, and of a dry run.")),
	version: v.pipe(count, v.description("The network's version, as If-Match names it.")),
	dry_run: v.boolean(),
	needs_confirmation: v.pipe(
		v.boolean(),
		v.description(
			"Whether it needs `yes=1`: it stops more than half of the campaigns that bid, of the publishers that are bid for, or of the pairs of them, or more than doubles the prices of most campaigns or the shares of most publishers, or it is an undo that overwrites what came later.",
		),
	),
	/** Entries of the file, by section. */
	counts: v.strictObject({
		platforms: count,
		publishers: count,
		brands: count,
		campaigns: count,
		exchange_rates: count,
		products: count,
		seller_products: count,
	}),
	difference: differenceSchema,
	book: v.strictObject({
		version: v.pipe(v.nullable(count), v.description("Null where the book could not be published; that is tried again every minute.")),
		complete: v.boolean(),
		shards_written: count,
	}),
	issued: v.pipe(
		v.array(v.strictObject({ owner: v.string(), kind: v.picklist(CREDENTIAL_KINDS), value: v.string() })),
		v.description("Credentials that were issued; shown here and never again."),
	),
	/** The first of them. */
	warnings: findings,
	warning_count: count,
});

export type ImportReport = v.InferOutput<typeof importReportSchema>;

const changedEntrySchema = v.strictObject({
	section: v.string(),
	id: v.string(),
	import: v.pipe(v.string(), v.description("The import that changed it last.")),
	at: time,
	actor: v.string(),
});
export type ChangedEntry = v.InferOutput<typeof changedEntrySchema>;

/** 412: somebody else was faster. */
export const importConflictSchema = v.strictObject({
	error: v.literal("Conflict"),
	message: v.string(),
	version: v.pipe(count, v.description("The network's version.")),
	changed: v.pipe(v.array(changedEntrySchema), v.description("What was changed meanwhile: the first of it.")),
	changed_count: count,
});

/** 409 of an undo: it would overwrite what came later. */
export const overwrittenSchema = v.strictObject({
	error: v.literal("Changed since"),
	message: v.string(),
	overwritten: v.pipe(
		v.array(
			v.strictObject({ section: v.string(), id: v.string(), field: v.pipe(v.string(), v.description("Empty for the entry as a whole.")) }),
		),
		v.description("The first of it."),
	),
	overwritten_count: count,
});

/** 409: it would stop most of the campaigns that bid, the publishers that are bid for, or the pairs of them, or more than double most prices or shares. */
export const confirmationSchema = v.strictObject({
	error: v.literal("Confirmation needed"),
	message: v.string(),
	stops: v.pipe(count, v.description("Campaigns that would bid no more.")),
	of: v.pipe(count, v.description("Campaigns that bid now.")),
	publishers: v.strictObject({
		stops: v.pipe(count, v.description("Publishers that would be bid for no more.")),
		of: v.pipe(count, v.description("Publishers that are bid for now.")),
	}),
	blocked: v.strictObject({
		stops: v.pipe(count, v.description("Pairs of a publisher and a campaign that bids for it, which would be blocked.")),
		of: v.pipe(count, v.description("Those that no block parts now.")),
	}),
	raised: v.strictObject({
		campaigns: v.pipe(count, v.description("Active campaigns of which a price would rise by more than a factor of 2.")),
		publishers: v.pipe(count, v.description("Publishers of which the share would.")),
	}),
	difference: differenceSchema,
});
