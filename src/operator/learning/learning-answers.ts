/** Answers of /operator/learning: how learning stands, a campaign's prices over time, and what would change. */
import * as v from "valibot";
import { LEARNING_MODES } from "../../learning/modes.ts";
import { PRICE_CAUSES } from "../../lib/enums.ts";
import { count, time } from "../../lib/shapes.ts";

const mode = v.picklist(LEARNING_MODES);
const usd = v.pipe(v.string(), v.description("USD."));
const signedUsd = v.pipe(v.string(), v.regex(/^-?\d+\.\d{4,6}$/), v.description("USD."));
const day = v.pipe(v.string(), v.isoDate(), v.description("UTC."));
const keywordClass = v.pipe(
	v.nullable(v.string()),
	v.description(
		"A keyword that the campaign lists, `*` for any other, `*listed` for listed ones of which no click tells, null for clicks without one.",
	),
);

/** What a factor was made of. */
const evidenceSchema = v.strictObject({
	factor: v.number(),
	clicks: v.pipe(v.number(), v.description("Weighted: half after 30 days.")),
	expected: v.pipe(usd, v.description("What those clicks were to have earned by now without this factor, USD.")),
	earned: v.pipe(usd, v.description("What they have earned, as far as it counts, less what of it is yet to be taken back, USD.")),
	expected_conversions: v.pipe(v.number(), v.description("The same as equivalent conversions.")),
	earned_conversions: v.number(),
	weight: v.pipe(v.number(), v.description("Of what was seen against the number that it started from, 0 to 1.")),
	maturity: v.pipe(v.number(), v.description("The part of those clicks' earnings that is known by now.")),
});
export type Evidence = v.InferOutput<typeof evidenceSchema>;

const curve = v.array(v.strictObject({ days: count, part: v.number() }));

const breakSchema = v.strictObject({
	day,
	z: v.pipe(v.number(), v.description("Standard deviations between what came and what was expected; negative where less came.")),
	expected_conversions: v.number(),
	earned_conversions: v.number(),
	forgotten_before: v.pipe(day, v.description("Older clicks together count as 8 conversions at the most.")),
});

export const learningStateSchema = v.strictObject({
	mode: v.pipe(mode, v.description("The network's.")),
	settings: v.pipe(v.record(v.string(), v.unknown()), v.description("Those of the network, as `epc_learning` of its file names them.")),
	night: v.strictObject({
		learned_until: v.pipe(v.nullable(day), v.description("Clicks of days before it are learned from; null before the first night.")),
		finished_at: v.nullable(time),
		age_hours: v.pipe(v.nullable(v.number()), v.description("How old the factors are.")),
		running: v.pipe(v.nullable(v.strictObject({ day, started_at: time })), v.description("A night that is not done.")),
		fault: v.pipe(
			v.nullable(v.strictObject({ day, message: v.string() })),
			v.description("What the last try failed of: prices stay as they are."),
		),
	}),
	publishing: v.strictObject({
		at: v.pipe(v.nullable(time), v.description("The last hour that took prices and guards towards what the nights have learned.")),
		fault: v.pipe(
			v.nullable(v.strictObject({ at: time, message: v.string() })),
			v.description("What the last try of an hour failed of: prices and guards stay as they are."),
		),
	}),
	campaigns: v.strictObject({
		off: count,
		advise: v.pipe(count, v.description("Pinned ones among them.")),
		automatic: count,
		learned: v.pipe(count, v.description("Of which clicks of the last 120 days tell.")),
	}),
	platforms: v.array(
		v.strictObject({
			platform: v.string(),
			conversions: v.pipe(count, v.description("Of clicks of the last 120 days, first approved.")),
			stated: v.pipe(v.boolean(), v.description("Whether the operator has stated a curve.")),
			arrivals: v.pipe(curve, v.description("Of all that arrives, the part that has by the end of each day.")),
			reversals: v.pipe(curve, v.description("Of all that arrives, the part that is taken back by then.")),
		}),
	),
	breaks: v.pipe(
		v.array(v.strictObject({ campaign_id: count, ...breakSchema.entries })),
		v.description("Campaigns whose worth has changed at once within the last 14 days, the newest first."),
	),
});
export type LearningState = v.InferOutput<typeof learningStateSchema>;

const numberSchema = v.strictObject({
	keyword: keywordClass,
	operator_epc: v.nullable(usd),
	epc: v.pipe(
		v.nullable(usd),
		v.description(
			"The operator's number × the factor in force, as near to that number as `released_at` holds it, before traffic and guards.",
		),
	),
	learned_epc: v.pipe(v.nullable(usd), v.description("Where it is going.")),
	evidence: v.nullable(evidenceSchema),
});

const causeSchema = v.strictObject({
	why: v.pipe(v.picklist(PRICE_CAUSES), v.description("A step towards what a night has learned; or the operator has changed its number.")),
	before: v.pipe(v.number(), v.description("The factor in force until then.")),
	factor: v.number(),
	target: v.pipe(v.number(), v.description("Where it was going.")),
	evidence: v.pipe(evidenceSchema, v.description("Of the campaign's own factor, as it was then.")),
});

const priceChangeSchema = v.strictObject({
	at: time,
	keyword: keywordClass,
	operator_epc: usd,
	epc: usd,
	cause: causeSchema,
});

export const pricesSchema = v.strictObject({
	campaign_id: count,
	brand: v.string(),
	mode: v.pipe(mode, v.description("As bids to publishers who set none have it.")),
	pinned: v.boolean(),
	learned_until: v.nullable(day),
	released_at: v.pipe(
		v.nullable(time),
		v.description("Since when it is no longer bid by the operator's numbers: what is in force leaves those by a day's movement a day."),
	),
	numbers: v.pipe(v.array(numberSchema), v.description("As they are now: without a keyword, with any, and up to 100 that are listed.")),
	campaign: v.pipe(v.nullable(evidenceSchema), v.description("The campaign's own factor.")),
	guards: v.nullable(v.strictObject({ caution: v.number(), overpaid: v.number(), creep: v.number() })),
	paid: v.pipe(v.nullable(usd), v.description("Promised for the clicks of 28 days that are paid as such.")),
	projected: v.pipe(v.nullable(usd), v.description("What those have earned, and will.")),
	last_break: v.nullable(breakSchema),
	data: v.pipe(v.array(priceChangeSchema), v.description("What was published, the newest first.")),
	limit: count,
	next_cursor: v.nullable(v.string()),
});
export type Prices = v.InferOutput<typeof pricesSchema>;

const advisedNumberSchema = v.strictObject({
	field: v.pipe(v.string(), v.description("Of the network file: `epc`, `default_keyword_epc`, `keyword_epc.<keyword>`.")),
	operator: usd,
	learned: usd,
	factor: v.number(),
});

const adviceItemSchema = v.strictObject({
	campaign_id: count,
	brand: v.string(),
	platform: v.string(),
	numbers: v.pipe(v.array(advisedNumberSchema), v.description("What would change: whatever is off by a publishing step or more.")),
	worth_a_week: v.pipe(
		signedUsd,
		v.description("How much more (or less) the clicks of last week are believed to be worth than the operator's number says."),
	),
	paid: v.pipe(usd, v.description("Promised for the clicks of 28 days that are paid as such.")),
	projected: v.pipe(usd, v.description("What those have earned, and will.")),
	evidence: evidenceSchema,
});
export type AdviceItem = v.InferOutput<typeof adviceItemSchema>;

export const adviceSchema = v.strictObject({
	learned_until: v.nullable(day),
	version: v.pipe(count, v.description("Of the network: If-Match of accepting.")),
	data: v.pipe(v.array(adviceItemSchema), v.description("The costliest first.")),
	limit: count,
	next_cursor: v.nullable(v.string()),
});
export type Advice = v.InferOutput<typeof adviceSchema>;

/** What a request has rebuilt. */
export const rebuiltSchema = v.strictObject({
	weeks: count,
	weeks_left: v.pipe(count, v.description("Left as they are: clicks of theirs have been removed since.")),
	from: v.pipe(day, v.description("The first day of the first of them, UTC.")),
	next_cursor: v.pipe(v.nullable(v.string()), v.description("Ask again with it; null where all is rebuilt.")),
});
export type LearningRebuilt = v.InferOutput<typeof rebuiltSchema>;
