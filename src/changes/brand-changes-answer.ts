/** Answer of GET /api/brands/changes. */
import * as v from "valibot";
import { TRAFFIC_TYPES } from "../lib/enums.ts";
import { feedPage } from "./conversion-changes-answer.ts";

/** What has become of a brand since the cursor. */
const BRAND_CHANGES = ["added", "resumed", "unblocked", "rate", "restrictions", "details", "paused", "blocked", "removed"] as const;
export type BrandChangeKind = (typeof BRAND_CHANGES)[number];

const record = v.looseObject({ domain: v.string() });

export const brandChangeSchema = v.strictObject({
	domain: v.pipe(v.string(), v.description("What to keep it by.")),
	changes: v.pipe(v.array(v.picklist(BRAND_CHANGES)), v.description("What is other than at your cursor.")),
	brand: v.pipe(
		v.nullable(record),
		v.description("Its record of the Brand List, as it is now; null where you may not promote it now: drop it."),
	),
	offers: v.pipe(v.array(record), v.description("Its records of the Brand List by Traffic Type, one a country.")),
	traffic_types: v.pipe(v.array(v.picklist(TRAFFIC_TYPES)), v.description("For which types that list has them; `All` stands for each.")),
});

export const brandChangesSchema = v.strictObject({ data: v.array(brandChangeSchema), ...feedPage });

export type BrandChange = v.InferOutput<typeof brandChangeSchema>;
export type BrandChanges = v.InferOutput<typeof brandChangesSchema>;
