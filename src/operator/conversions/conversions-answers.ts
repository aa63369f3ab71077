/** Answers of /operator/conversions. */
import * as v from "valibot";
import { adjustedSchema } from "../../adjustments/adjustment-answer.ts";
import { traceAnswerSchema } from "../../conversions/trace-answer.ts";
import { ADJUSTMENT_KINDS, CALLBACK_STATUSES, type NO_MATCH_REASONS } from "../../lib/enums.ts";
import { count, time, usd } from "../../lib/shapes.ts";

const text = v.string();
const textOrNull = v.nullable(text);
const traced = traceAnswerSchema.entries.conversions.item.entries;

export const listedConversionSchema = v.strictObject({
	platform: text,
	txnid: text,
	stage: traced.stage,
	status: traced.status,
	why: traced.why,
	verdict: traced.verdict,
	network_status: traced.network_status,
	status_unknown: traced.status_unknown,
	test: traced.test,
	credited: traced.credited,
	event_at: time,
	payout: traced.payout,
	currency: text,
	gross_usd: traced.gross_usd,
	publisher_revenue: traced.publisher_revenue,
	publisher: textOrNull,
	brand: v.pipe(textOrNull, v.description("Domain.")),
	campaign_id: traced.campaign_id,
	cid: v.pipe(text, v.description("The click id as the platform sent it last.")),
	click_id: textOrNull,
	first_received_at: time,
	updated_at: time,
});

export const conversionPageSchema = v.strictObject({
	data: v.array(listedConversionSchema),
	limit: count,
	next_cursor: v.pipe(
		textOrNull,
		v.description(
			"Ask again with it; null where there are no more. A page with filters may hold fewer than `limit`, or none, and yet have more behind it.",
		),
	),
});

export const shownConversionSchema = v.strictObject({
	conversion: traceAnswerSchema.entries.conversions.item,
	click: v.pipe(v.nullable(traceAnswerSchema.entries.clicks.item), v.description("Null where it has none.")),
	postbacks: v.pipe(traceAnswerSchema.entries.postbacks, v.description("That name its transaction id; the newest hundred.")),
	adjustments: v.pipe(
		v.array(v.strictObject({ id: text, kind: v.picklist(ADJUSTMENT_KINDS), actor: text, at: time, text, undone_by: textOrNull })),
		v.description("What operators did to it."),
	),
});

const WHY_UNFIT = ["other_platform", "no_publisher"] as const satisfies readonly (typeof NO_MATCH_REASONS)[number][];

export const candidateSchema = v.strictObject({
	...traceAnswerSchema.entries.clicks.item.entries,
	unfit: v.pipe(
		v.nullable(v.picklist(WHY_UNFIT)),
		v.description(
			"Why the conversion cannot be attached to it: no campaign of its brand is of this platform, or its publisher is no more.",
		),
	),
	conversions: v.pipe(count, v.description("That it has already.")),
});

export const candidatesSchema = v.strictObject({
	data: v.array(candidateSchema),
	limit: count,
	complete: v.pipe(v.boolean(), v.description("False where there are more: name the click, or a shorter time.")),
});

export const judgedSchema = v.strictObject({
	...adjustedSchema.entries,
	conversion: v.pipe(
		v.strictObject({
			stage: traced.stage,
			status: traced.status,
			why: v.nullable(v.string()),
			verdict: traced.verdict,
			publisher: textOrNull,
			click_id: textOrNull,
			publisher_revenue: v.nullable(usd),
		}),
		v.description("How it stands then."),
	),
	callbacks: v.pipe(
		v.array(v.strictObject({ publisher: text, status: v.picklist(CALLBACK_STATUSES), payout: usd })),
		v.description("What publishers are told of it."),
	),
});

export type ConversionPage = v.InferOutput<typeof conversionPageSchema>;
export type ShownConversionAnswer = v.InferOutput<typeof shownConversionSchema>;
export type Candidates = v.InferOutput<typeof candidatesSchema>;
export type Candidate = v.InferOutput<typeof candidateSchema>;
export type Judged = v.InferOutput<typeof judgedSchema>;
