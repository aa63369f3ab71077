/** Answers of /api/callbacks: the list, a replay and a test. */
import * as v from "valibot";
import { CALLBACK_HOLDS, CALLBACK_STATES, CALLBACK_STATUSES } from "../lib/enums.ts";
import { attemptSchema, count, time, usd } from "../lib/shapes.ts";

const text = v.string();

export const publisherCallbackSchema = v.strictObject({
	id: v.pipe(text, v.description("The Idempotency-Key of its calls.")),
	txnid: text,
	status: v.picklist(CALLBACK_STATUSES),
	cid: v.pipe(text, v.description("Your click id; empty where the click had none.")),
	payout: usd,
	edate: time,
	state: v.picklist(CALLBACK_STATES),
	held_for: v.pipe(
		v.nullable(v.picklist(CALLBACK_HOLDS)),
		v.description("Why a due one waits: for an earlier one of its conversion (`order`), or for your address to answer again (`pause`)."),
	),
	attempt_count: count,
	created_at: time,
	next_attempt_at: v.nullable(time),
	delivered_at: v.nullable(time),
	attempts: v.pipe(v.array(attemptSchema), v.description("The latest first, at most 20.")),
});

export const publisherCallbacksSchema = v.strictObject({
	data: v.array(publisherCallbackSchema),
	limit: count,
	next_cursor: v.pipe(v.nullable(text), v.description("Ask again with it; null where there are no more.")),
});

export const publisherReplaySchema = v.strictObject({
	replayed: v.pipe(count, v.description("This one and later ones of its conversion; 0 where it is being called right now.")),
});

export const publisherReplaysSchema = v.strictObject({
	replayed: v.pipe(count, v.description("Callbacks, later ones of their conversions included; not those that are being called right now.")),
	dry_run: v.pipe(v.boolean(), v.description("Whether they were only counted.")),
});

export const publisherTestSchema = v.strictObject({
	called: v.pipe(text, v.description("The address; what may be a secret in it is `***`.")),
	http_status: v.nullable(count),
	confirmed: v.pipe(v.boolean(), v.description("Whether the answer was a 2xx.")),
	latency_ms: count,
	answer: v.pipe(text, v.description("First bytes of the answer, or what went wrong.")),
});

export type PublisherCallbacks = v.InferOutput<typeof publisherCallbacksSchema>;
export type PublisherReplay = v.InferOutput<typeof publisherReplaySchema>;
export type PublisherReplays = v.InferOutput<typeof publisherReplaysSchema>;
export type PublisherTest = v.InferOutput<typeof publisherTestSchema>;
