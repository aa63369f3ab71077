/** The answer to POST /operator/trace, as far as the CLI reads it. */
import * as v from "valibot";

const text = v.nullable(v.string());
const amount = v.nullable(v.string());

export const traceSchema = v.object({
	truncated: v.boolean(),
	clicks: v.array(
		v.looseObject({
			click_hash: v.string(),
			reason: text,
			clicked_at: v.string(),
			publisher: text,
			publisher_click_id: text,
			brand: text,
			campaign_id: v.number(),
			platform: text,
			pricing_model: text,
		}),
	),
	postbacks: v.array(
		v.looseObject({
			received_at: v.string(),
			platform: text,
			method: v.string(),
			query: v.string(),
			outcome: v.string(),
			answer: v.unknown(),
		}),
	),
	conversions: v.array(
		v.looseObject({
			platform: v.string(),
			txnid: v.string(),
			stage: v.string(),
			status: v.string(),
			test: v.boolean(),
			payout: amount,
			currency: v.string(),
			publisher_revenue: amount,
			publisher: text,
			attribution: text,
			why: v.optional(text, null),
			gross_usd: v.optional(amount, null),
			revenue_share: v.optional(v.nullable(v.number()), null),
			retry_at: v.optional(text, null),
			events: v.array(
				v.looseObject({ at: v.string(), kind: v.string(), set: v.record(v.string(), v.unknown()), why: v.optional(v.string()) }),
			),
			callbacks: v.array(
				v.looseObject({
					status: v.string(),
					payout: amount,
					state: v.string(),
					created_at: v.string(),
					next_attempt_at: text,
					attempts: v.array(
						v.looseObject({ at: v.string(), http_status: v.nullable(v.number()), latency_ms: v.number(), answer: v.string() }),
					),
				}),
			),
		}),
	),
});

export type Trace = v.InferOutput<typeof traceSchema>;
