/** The operator's callbacks and status. The replay's and the test's schemas are the ones that read their bodies. */
import * as v from "valibot";
import { replaySchema, testSchema } from "../../callbacks/requests.ts";
import type { selectionEntries } from "../../callbacks/select-callbacks.ts";
import type { Operation, Parameter } from "../operation.ts";
import { count, faultsAnswer, TOO_LARGE, time, UNAUTHORIZED, usd } from "./shapes.ts";

const text = v.string();

const attemptSchema = v.strictObject({
	at: time,
	http_status: v.pipe(v.nullable(count), v.description("Null where there was no answer.")),
	latency_ms: count,
	answer: v.pipe(text, v.description("First bytes of the answer, or what went wrong.")),
});

const callbackSchema = v.strictObject({
	id: v.pipe(text, v.description("The Idempotency-Key of its calls.")),
	platform: text,
	txnid: text,
	seq: v.pipe(count, v.description("Its place among the callbacks of its transaction, from 1.")),
	publisher: text,
	status: v.picklist(["approved", "cancelled"]),
	cid: text,
	payout: usd,
	edate: time,
	state: v.picklist(["due", "delivered", "exhausted", "no_url"]),
	held_for: v.pipe(v.nullable(v.picklist(["order", "pause"])), v.description("Why a due one waits.")),
	attempt_count: count,
	created_at: time,
	next_attempt_at: v.nullable(time),
	delivered_at: v.nullable(time),
	attempts: v.pipe(v.array(attemptSchema), v.description("The latest first, at most 20.")),
});

const SELECTION: Record<keyof typeof selectionEntries, string> = {
	id: "This callback.",
	publisher: "Of this publisher, by its id in the network file.",
	platform: "Reported by this platform.",
	txnid: "Of this transaction.",
	state: "due, delivered, exhausted or no_url.",
	from: "Created at or after this date or datetime, UTC.",
	to: "Created before this date or datetime, UTC.",
};

const parameters: readonly Parameter[] = [
	...Object.entries(SELECTION).map(([name, description]) => ({ in: "query" as const, name, description, schema: text })),
	{ in: "query", name: "limit", description: "At most 200; default 50.", schema: count },
	{ in: "query", name: "cursor", description: "`next` of the page before.", schema: text },
];

const backlog = v.nullable(v.strictObject({ messages: count, oldest_at: v.nullable(time) }));

const statusSchema = v.strictObject({
	at: time,
	book: v.nullable(v.strictObject({ version: count, published_at: time, age_seconds: count })),
	book_changes_waiting: count,
	queues: v.pipe(
		v.strictObject({ clicks: backlog, postbacks: backlog, callbacks: backlog }),
		v.description("Null where the platform does not tell."),
	),
	callbacks: v.strictObject({
		undelivered: v.strictObject({ count, oldest_at: v.nullable(time), oldest_age_seconds: v.nullable(count) }),
		overdue: count,
		exhausted: count,
		paused: v.array(v.strictObject({ publisher: text, since: time, failures_in_a_row: count, next_probe_at: v.nullable(time) })),
	}),
	conversions: v.strictObject({ waiting: count, unmatched: count, quarantined: count }),
	dead_letters: v.strictObject({ clicks: count, postbacks: count, callbacks: count }),
	database_bytes: v.pipe(v.nullable(count), v.description("Size of the network's database; D1 holds 10 GB.")),
	paused_campaigns: v.strictObject({ count, campaigns: v.array(count) }),
});

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey" } as const;

export const OPERATOR_CALLBACK_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "get",
		path: "/operator/status",
		id: "readStatus",
		summary: "How the network is doing",
		description: "Nothing is counted beyond 10,000: that figure means as many or more.",
		answers: { 200: { description: "The figures.", content: { schema: statusSchema } }, 401: UNAUTHORIZED },
	},
	{
		...SHARED,
		method: "get",
		path: "/operator/callbacks",
		id: "listCallbacks",
		summary: "List callbacks",
		description: "What publishers were told, and what they answered; the newest first.",
		parameters,
		answers: {
			200: {
				description: "A page.",
				content: { schema: v.strictObject({ data: v.array(callbackSchema), next: v.nullable(text) }) },
			},
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "post",
		path: "/operator/callbacks/replay",
		id: "replayCallbacks",
		summary: "Send callbacks again",
		description:
			"Delivered ones too, under the same Idempotency-Key, with all later ones of the same transactions. At least one of id, publisher, platform, txnid, from and to is needed; at most 5,000 transactions at a time.",
		body: { required: true, contents: [{ schema: replaySchema, example: { publisher: "acme-media", state: "exhausted" } }] },
		answers: {
			200: {
				description: "How many are sent again, or would be.",
				content: { schema: v.strictObject({ replayed: count, dry_run: v.boolean() }) },
			},
			401: UNAUTHORIZED,
			413: TOO_LARGE,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "post",
		path: "/operator/callbacks/test",
		id: "testCallback",
		summary: "Test an address",
		description: "Sends one callback that nobody can book (its txnid begins with test-, its payout is 0) and reports what came of it.",
		body: { required: true, contents: [{ schema: testSchema, example: { publisher: "acme-media" } }] },
		answers: {
			200: {
				description: "What came of it.",
				content: {
					schema: v.strictObject({
						called: text,
						http_status: v.nullable(count),
						confirmed: v.boolean(),
						latency_ms: count,
						answer: text,
					}),
				},
			},
			401: UNAUTHORIZED,
			413: TOO_LARGE,
			422: faultsAnswer,
		},
	},
];
