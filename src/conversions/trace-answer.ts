/** Answer of POST /operator/trace. */
import * as v from "valibot";
import {
	ATTRIBUTIONS,
	CALLBACK_STATES,
	CALLBACK_STATUSES,
	CONVERSION_EVENT_KINDS,
	CONVERSION_HOLDS,
	CONVERSION_STAGES,
	CONVERSION_STATUSES,
	NO_MATCH_REASONS,
	POSTBACK_OUTCOMES,
	PRICING_MODELS,
	TOKEN_KINDS,
	VERDICTS,
} from "../lib/enums.ts";
import { attemptSchema, count, time } from "../lib/shapes.ts";
import { CLICK_REASONS, TRAFFIC_RULES } from "../lib/traffic-rules.ts";

const text = v.string();
const textOrNull = v.nullable(text);
const decimal = v.pipe(text, v.regex(/^-?\d+\.\d{4,6}$/));
const amount = v.pipe(decimal, v.description("Decimal."));
const amountOrNull = v.nullable(v.pipe(decimal, v.description("Decimal; null where it is not known.")));

export const tracedClickSchema = v.strictObject({
	id: text,
	click_hash: v.pipe(text, v.description("What the platform reports back.")),
	kind: v.picklist(TOKEN_KINDS),
	billed: v.boolean(),
	reason: v.pipe(v.nullable(v.picklist(CLICK_REASONS)), v.description("Why it is not billed.")),
	flags: v.pipe(v.array(v.picklist(TRAFFIC_RULES)), v.description("Rules that hold for it and do not decide.")),
	clicked_at: time,
	publisher: textOrNull,
	publisher_click_id: textOrNull,
	brand: textOrNull,
	campaign_id: count,
	platform: textOrNull,
	source_id: textOrNull,
	pricing_model: v.nullable(v.picklist(PRICING_MODELS)),
	bid: amount,
	revenue: amount,
});

const postbackSchema = v.strictObject({
	id: text,
	received_at: time,
	platform: textOrNull,
	method: text,
	query: v.pipe(text, v.description("As it came, without the key.")),
	outcome: v.picklist(POSTBACK_OUTCOMES),
	answer: v.pipe(v.looseObject({ message: text }), v.description("What the platform was answered.")),
});

const eventSchema = v.strictObject({
	seq: count,
	at: time,
	kind: v.picklist(CONVERSION_EVENT_KINDS),
	postback: v.pipe(textOrNull, v.description("The postback that caused it.")),
	set: v.pipe(
		v.record(text, v.union([text, v.number(), v.boolean(), v.null()])),
		v.description("What it changed: fields of the conversion, by its names and in its forms, and some that are seen here alone."),
	),
	why: v.optional(v.pipe(text, v.description("Where the kind does not say it all."))),
	adjustment: v.optional(v.pipe(text, v.description("The operator's adjustment that caused it."))),
});

const callbackSchema = v.strictObject({
	id: text,
	seq: count,
	status: v.picklist(CALLBACK_STATUSES),
	publisher: text,
	cid: text,
	payout: amount,
	state: v.picklist(CALLBACK_STATES),
	request_id: v.pipe(textOrNull, v.description("Of the postback behind it; null in rows of earlier versions.")),
	created_at: time,
	next_attempt_at: v.nullable(time),
	delivered_at: v.nullable(time),
	attempts: v.array(attemptSchema),
});

const conversionSchema = v.strictObject({
	platform: text,
	txnid: text,
	cid: text,
	stage: v.picklist(CONVERSION_STAGES),
	status: v.picklist(CONVERSION_STATUSES),
	verdict: v.pipe(
		v.nullable(v.picklist(VERDICTS)),
		v.description("An operator's word: `voided` counts as cancelled, `released` passes a ceiling or a review."),
	),
	network_status: v.pipe(textOrNull, v.description("In the network's own words.")),
	status_unknown: v.boolean(),
	credited: v.pipe(v.boolean(), v.description("True while the publisher is owed, or was sent, a credit that was not taken back.")),
	test: v.boolean(),
	event_at: time,
	payout: amount,
	sales: amountOrNull,
	currency: text,
	usd_rate: v.nullable(v.number()),
	gross_usd: amountOrNull,
	sales_usd: amountOrNull,
	revenue_share: v.nullable(v.number()),
	publisher_revenue: amountOrNull,
	pricing_model: v.nullable(v.picklist(PRICING_MODELS)),
	attribution: v.nullable(v.picklist(ATTRIBUTIONS)),
	click_id: textOrNull,
	publisher: textOrNull,
	publisher_click_id: textOrNull,
	source_id: textOrNull,
	campaign_id: v.nullable(count),
	s2: textOrNull,
	s3: textOrNull,
	surl: textOrNull,
	first_received_at: time,
	updated_at: time,
	retry_at: v.nullable(time),
	why: v.pipe(
		v.nullable(v.picklist([...NO_MATCH_REASONS, ...CONVERSION_HOLDS])),
		v.description(
			"Why no click is found, as things are now, or what a conversion with a click is quarantined for: no exchange rate (`no_rate`), an amount above its ceiling (`amount`), a click that nobody saw (`review`), a suspended publisher (`publisher_suspended`). Null where nothing is in its way, or will be at the next look.",
		),
	),
	events: v.array(eventSchema),
	callbacks: v.array(callbackSchema),
});

export const traceAnswerSchema = v.strictObject({
	id: text,
	truncated: v.pipe(v.boolean(), v.description("True where there is more than is shown.")),
	clicks: v.array(tracedClickSchema),
	postbacks: v.array(postbackSchema),
	conversions: v.array(conversionSchema),
});

export type Trace = v.InferOutput<typeof traceAnswerSchema>;
