/** What has changed for a publisher. */
import * as v from "valibot";
import { brandChangeSchema, brandChangesSchema } from "../../changes/brand-changes-answer.ts";
import { conversionChangeSchema, conversionChangesSchema, goneSchema } from "../../changes/conversion-changes-answer.ts";
import type { Operation, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { faultsAnswer, LIMIT, OTHER_METHOD, UNAUTHORIZED } from "./shapes.ts";

named("ConversionChange", conversionChangeSchema);
named("BrandChange", brandChangeSchema);

const PARAMETERS: readonly Parameter[] = [
	{
		in: "query",
		name: "after",
		description: "The `next_cursor` that you stored; without it the feed begins with how things stand.",
		schema: v.optional(v.string()),
	},
	LIMIT,
];

const GONE = {
	description: "The cursor leads on no more: drop your copy, and read from the beginning, without `after`.",
	content: { schema: named("Gone", goneSchema) },
};

function answersOf(description: string, schema: v.GenericSchema): Operation["answers"] {
	return limited({ 200: { description, content: { schema } }, 401: UNAUTHORIZED, 405: OTHER_METHOD, 410: GONE, 422: faultsAnswer });
}

export const PUBLISHER_CHANGE_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/api/conversions/changes",
		id: "followConversions",
		tag: "Reports",
		host: "base",
		credential: "AccessKey",
		summary: "Every change of your conversions, in order",
		description:
			"Each time that a record of a conversion, or of an amount that the network added, came, changed or went in reports. In the order of settling: nothing appears behind a cursor. Changes are kept for 30 days.",
		parameters: PARAMETERS,
		answers: answersOf("A page of changes.", named("ConversionChanges", conversionChangesSchema)),
	},
	{
		method: "get",
		path: "/api/brands/changes",
		id: "followBrands",
		tag: "Catalogue",
		host: "base",
		credential: "AccessKey",
		summary: "Which brands have changed for you",
		description:
			"Each changed brand once, as it is now, or without a record where you may not promote it now. A page may hold fewer brands than `limit`, even none, and be followed by another: `more` says. A suspended publisher is answered 401.",
		parameters: PARAMETERS,
		answers: answersOf("A page of brands.", named("BrandChanges", brandChangesSchema)),
	},
];
