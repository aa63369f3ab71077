import * as v from "valibot";
import { REVENUE_TYPES } from "../../reports/clickid-level.ts";
import {
	DEFAULT_LIMIT,
	MAX_CLICK_LEVEL_DAYS,
	MAX_LIMIT,
	MAX_PAGE,
	MAX_REVENUE_SHARE_DAYS,
	REPORT_TYPES,
} from "../../reports/read-report-query.ts";
import { type Answer, type Answers, type Content, type Example, FORM_TYPES, type Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { count, dateSchema, dayBefore, errorSchema, messagesAnswer, OTHER_METHOD, TOO_LARGE, UNAUTHORIZED, usd } from "./shapes.ts";

const paging = { page: count, limit: count, total_records: count, total_pages: count };
const whole = v.pipe(v.number(), v.integer(), v.minValue(1));
const pageField = v.optional(v.pipe(whole, v.maxValue(MAX_PAGE), v.description("Page of the records.")), 1);
const asOfField = v.optional(
	v.pipe(
		v.number(),
		v.integer(),
		v.minValue(0),
		v.description(
			"`as_of` of the first page's answer: this page is then of the same moment. Kept for a day at least, then 410. Not for daywise and source_level.",
		),
	),
);
const detailField = v.optional(
	v.pipe(
		v.picklist([0, 1]),
		v.description("1 adds approved_revenue and pending_revenue to each record, credited_revenue to those of clickid_level and clicklevel."),
	),
	0,
);
const limitField = v.optional(v.pipe(whole, v.maxValue(MAX_LIMIT), v.description("Records a page.")), DEFAULT_LIMIT);

const revenueShareFields = v.object({
	report_type: v.picklist(REPORT_TYPES),
	start_date: dateSchema,
	end_date: v.pipe(v.string(), v.isoDate(), v.description(`Included; at most ${MAX_REVENUE_SHARE_DAYS} days in all.`)),
	page: pageField,
	limit: limitField,
	as_of: asOfField,
	detail: detailField,
});

const clickLevelFields = v.object({
	start_date: dateSchema,
	end_date: v.pipe(v.string(), v.isoDate(), v.description(`Included; at most ${MAX_CLICK_LEVEL_DAYS - 1} days after start_date.`)),
	page: pageField,
	limit: limitField,
	as_of: asOfField,
	detail: detailField,
});

const text = v.string();
const asOf = v.pipe(count, v.description("The moment of which the page is: send it with the request for the next page."));
const details = {
	approved_revenue: v.optional(v.pipe(usd, v.description("With detail=1: what is not pending."))),
	pending_revenue: v.optional(v.pipe(usd, v.description("With detail=1: of conversions that are pending."))),
	credited_revenue: v.optional(
		v.pipe(
			usd,
			v.description(
				"With detail=1 of clickid_level and clicklevel: what the callbacks of its conversions come to, sent or not; credits less cancellations.",
			),
		),
	),
};

const revenueShareRecord = named(
	"RevenueShareRecord",
	v.strictObject({
		transaction_id: v.optional(v.pipe(text, v.description("clickid_level only, as all down to subid5 that say so."))),
		click_id: v.optional(v.pipe(text, v.description("Your click id; clickid_level only."))),
		publisher_revenue: usd,
		...details,
		gross_revenue: v.optional(v.pipe(usd, v.description("Absent for CPC publishers."))),
		user_id: v.optional(v.pipe(v.nullable(text), v.description("Clicks of OpenRTB bids."))),
		date: v.optional(dateSchema),
		brand_name: v.optional(v.pipe(text, v.description("Brand domain; clickid_level only."))),
		source_id: v.optional(text),
		sub_id: v.optional(v.pipe(text, v.description("The same as source_id; clickid_level only."))),
		offer_id: v.optional(v.pipe(text, v.description("As in the Brand List; clickid_level only."))),
		atag: v.optional(v.pipe(text, v.description("Marketplace tag, where there is one; clickid_level only."))),
		rev_type: v.optional(
			v.pipe(
				v.picklist(REVENUE_TYPES),
				v.description("VOID: a click that was taken back. ADJUSTMENT: an amount that the network added or took."),
			),
		),
		conversion_count: v.optional(v.picklist([0, 1])),
		sales_amount: v.optional(v.pipe(usd, v.description("Where sales data is enabled for you."))),
		campaign_id: v.optional(v.pipe(text, v.description("Where enabled for you; clickid_level only."))),
		click_count: v.optional(count),
		...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`subid${n}`, v.optional(text)])),
	}),
);

const revenueShareSchema = named(
	"RevenueShareReport",
	v.strictObject({ data: v.array(revenueShareRecord), ...paging, as_of: v.optional(v.pipe(asOf, v.description("Of clickid_level."))) }),
);

const clickLevelRecord = named("ClickLevelRecord", v.strictObject({ click_id: text, revenue: usd, ...details, click_date: dateSchema }));

const clickLevelSchema = named("ClickLevelReport", v.strictObject({ data: v.array(clickLevelRecord), ...paging, as_of: asOf }));

/**
 * The 200 of a report. CSV is told in words: as a second media type it would make the body of every generated client "JSON or text",
 * though nobody gets CSV who does not ask for it.
 */
function pageOf(schema: v.GenericSchema): Answer {
	return {
		description: "A page of records, as JSON, unless `Accept` prefers `text/csv`.",
		content: { schema },
		headers: {
			vary: "Always AccessKey, Accept.",
			"content-disposition": "Of CSV only: a file name.",
			"x-page": "Of CSV only: `page`.",
			"x-limit": "Of CSV only: `limit`.",
			"x-total-records": "Of CSV only: `total_records`.",
			"x-total-pages": "Of CSV only: `total_pages`.",
			"x-as-of": "Of CSV only: `as_of`, where the report has it.",
		},
	};
}

const CSV =
	"`Accept: text/csv` gives the same records as CSV (`text/csv; charset=utf-8; header=present`): a header line with the fields' names, then a line a record, with an apostrophe before text that a spreadsheet would run as a formula; what stands beside `data` in JSON is in the headers `x-page`, `x-limit`, `x-total-records`, `x-total-pages` and `x-as-of`.";

function bodies(schema: v.GenericSchema, example: Example): readonly Content[] {
	return [...FORM_TYPES.map((type) => ({ schema, type, example })), { schema, example }];
}

/** A period of this many days that ends today. */
function lastDays(days: number, now: number) {
	return { start_date: dayBefore(days - 1)(now), end_date: dayBefore(0)(now) };
}

const FAILURES: Answers = {
	401: UNAUTHORIZED,
	405: OTHER_METHOD,
	410: {
		description: "`as_of` is of a moment too long ago.",
		content: {
			schema: errorSchema,
			example: { error: "Gone", message: "The as_of field is of a moment too long ago: read the report again from page 1." },
		},
	},
	413: TOO_LARGE,
	415: {
		description: "The body is of another type, or compressed.",
		content: {
			schema: errorSchema,
			example: {
				error: "Unsupported media type",
				message: "Send the fields as application/x-www-form-urlencoded, multipart/form-data or application/json.",
			},
		},
	},
	422: messagesAnswer("start_date", "The start_date field is required."),
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
		description: `Approved and pending conversions count, cancelled ones do not. ${CSV}`,
		body: {
			required: true,
			contents: bodies(revenueShareFields, (now) => ({
				report_type: "daywise",
				...lastDays(7, now),
			})),
		},
		answers: { 200: pageOf(revenueShareSchema), ...FAILURES },
	},
	{
		method: "post",
		path: "/api/reporting/clicklevel",
		id: "reportClickLevel",
		tag: "Reports",
		host: "base",
		credential: "AccessKey",
		summary: "Click-Level Conversion Report",
		description: `Clicks with revenue or a conversion, by the day of the click. ${CSV}`,
		body: { required: true, contents: bodies(clickLevelFields, (now) => lastDays(MAX_CLICK_LEVEL_DAYS, now)) },
		answers: { 200: pageOf(clickLevelSchema), ...FAILURES },
	},
];
