import * as v from "valibot";
import { REPORT_TYPES } from "../../reports/read-report-query.ts";
import type { Answers, Content, Operation } from "../operation.ts";
import { count, dateSchema, errorSchema, messagesAnswer, OTHER_METHOD, UNAUTHORIZED, usd } from "./shapes.ts";

const paging = { page: count, limit: count, total_records: count, total_pages: count };
const pageField = v.optional(v.pipe(v.union([v.number(), v.string()]), v.description("From 1; default 1.")));
const limitField = v.optional(v.pipe(v.union([v.number(), v.string()]), v.description("Records a page; default 1000, at most 5000.")));

const revenueShareFields = v.object({
	report_type: v.picklist(REPORT_TYPES),
	start_date: dateSchema,
	end_date: v.pipe(v.string(), v.isoDate(), v.description("Included; at most 31 days in all.")),
	page: pageField,
	limit: limitField,
});

const clickLevelFields = v.object({
	start_date: dateSchema,
	end_date: v.pipe(v.string(), v.isoDate(), v.description("Included; at most 2 days after start_date.")),
	page: pageField,
	limit: limitField,
});

const text = v.string();

const revenueShareRecord = v.strictObject({
	transaction_id: v.optional(v.pipe(text, v.description("clickid_level only, as all down to subid5 that say so."))),
	click_id: v.optional(v.pipe(text, v.description("Your click id; clickid_level only."))),
	publisher_revenue: usd,
	gross_revenue: v.optional(v.pipe(usd, v.description("Absent for CPC publishers."))),
	user_id: v.optional(v.pipe(v.nullable(text), v.description("Clicks of OpenRTB bids."))),
	date: v.optional(dateSchema),
	brand_name: v.optional(v.pipe(text, v.description("Brand domain; clickid_level only."))),
	source_id: v.optional(text),
	sub_id: v.optional(v.pipe(text, v.description("The same as source_id; clickid_level only."))),
	offer_id: v.optional(v.pipe(text, v.description("As in the Brand List; clickid_level only."))),
	atag: v.optional(v.pipe(text, v.description("Marketplace tag, where there is one; clickid_level only."))),
	rev_type: v.optional(v.picklist(["CPC", "CPA"])),
	conversion_count: v.optional(v.picklist([0, 1])),
	sales_amount: v.optional(v.pipe(usd, v.description("Where sales data is enabled for you."))),
	campaign_id: v.optional(v.pipe(text, v.description("Where enabled for you; clickid_level only."))),
	click_count: v.optional(count),
	...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`subid${n}`, v.optional(text)])),
});

export const revenueShareSchema = v.strictObject({ data: v.array(revenueShareRecord), ...paging });

export const clickLevelSchema = v.strictObject({
	data: v.array(v.strictObject({ click_id: text, revenue: usd, click_date: dateSchema })),
	...paging,
});

const CSV: Content = { schema: null, type: "text/csv", description: "The same rows." };

function bodies(schema: v.GenericSchema, example: unknown): readonly Content[] {
	return [
		{ schema, type: "application/x-www-form-urlencoded", example },
		{ schema, example },
	];
}

const FAILURES: Answers = {
	401: UNAUTHORIZED,
	405: OTHER_METHOD,
	413: { description: "The body is too large.", content: { schema: errorSchema } },
	415: { description: "The body is of another type.", content: { schema: errorSchema } },
	422: messagesAnswer,
};

export const REPORT_OPERATIONS: readonly Operation[] = [
	{
		method: "post",
		path: "/api/reporting/revenue-share",
		id: "reportRevenueShare",
		tag: "Reports",
		host: "base",
		credential: "AccessKey",
		summary: "Revenue Share Report",
		description: "Approved and pending conversions count, cancelled ones do not. `Accept: text/csv` gives the same rows as CSV.",
		body: {
			required: true,
			contents: bodies(revenueShareFields, { report_type: "daywise", start_date: "2026-11-01", end_date: "2026-11-30" }),
		},
		answers: { 200: { description: "A page of records.", content: [{ schema: revenueShareSchema }, CSV] }, ...FAILURES },
	},
	{
		method: "post",
		path: "/api/reporting/clicklevel",
		id: "reportClickLevel",
		tag: "Reports",
		host: "base",
		credential: "AccessKey",
		summary: "Click-Level Conversion Report",
		description: "Clicks with revenue or a conversion, by the day of the click.",
		body: { required: true, contents: bodies(clickLevelFields, { start_date: "2026-11-20", end_date: "2026-11-21" }) },
		answers: { 200: { description: "A page of records.", content: [{ schema: clickLevelSchema }, CSV] }, ...FAILURES },
	},
];
