/** Answers of /operator/callbacks: the list, a replay and a test. */
import * as v from "valibot";
import { CALLBACK_HOLDS, CALLBACK_STATES, CALLBACK_STATUSES } from "../lib/enums.ts";
import { attemptSchema, count, time, usd } from "../lib/shapes.ts";

const text = v.string();

const callbackSchema = v.strictObject({
	id: v.pipe(text, v.description("The Idempotency-Key of its calls.")),
	platform: text,
	txnid: text,
	seq: v.pipe(count, v.description("Its place among the callbacks of its transaction, from 1.")),
	publisher: text,
	status: v.picklist(CALLBACK_STATUSES),
	cid: text,
	payout: usd,
	edate: time,
	state: v.picklist(CALLBACK_STATES),
	held_for: v.pipe(v.nullable(v.picklist(CALLBACK_HOLDS)), v.description("Why a due one waits.")),
	attempt_count: count,
	created_at: time,
	next_attempt_at: v.nullable(time),
	delivered_at: v.nullable(time),
	attempts: v.pipe(v.array(attemptSchema), v.description("The latest first, at most 20.")),
});

export const callbackPageSchema = v.strictObject({ data: v.array(callbackSchema), limit: count, next_cursor: v.nullable(text) });

/** The most conversions that one replay takes, each counted for each of its publishers. */
export const MAX_REPLAYED = 5_000;

export const replayReportSchema = v.strictObject({ replayed: count, dry_run: v.boolean() });

export const testReportSchema = v.strictObject({
	called: v.pipe(text, v.description("The whole address.")),
	http_status: v.nullable(count),
	confirmed: v.boolean(),
	latency_ms: count,
	answer: v.pipe(text, v.description("First bytes of the answer, or what went wrong.")),
});

export type ListedCallback = v.InferOutput<typeof callbackSchema>;
export type CallbackPage = v.InferOutput<typeof callbackPageSchema>;
export type ReplayReport = v.InferOutput<typeof replayReportSchema>;
export type TestReport = v.InferOutput<typeof testReportSchema>;
