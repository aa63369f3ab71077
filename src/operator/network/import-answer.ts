/** Answer of POST /operator/network to a file that was taken over. */
import * as v from "valibot";
import { CREDENTIAL_KINDS } from "../../lib/enums.ts";
import { count, findings } from "../../lib/shapes.ts";

export const importReportSchema = v.strictObject({
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
