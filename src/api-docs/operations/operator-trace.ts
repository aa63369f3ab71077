/** What became of a sale, and of messages that no consumer could take. The bodies' schemas are the ones that read them. */
import * as v from "valibot";
import { traceSchema } from "../../conversions/trace-route.ts";
import { queueSchema, replaySchema } from "../../operator/dead-letters/replay-routes.ts";
import type { Operation } from "../operation.ts";
import { count, faultsAnswer, TOO_LARGE, time, UNAUTHORIZED } from "./shapes.ts";

const text = v.string();
const textOrNull = v.nullable(text);
const amount = v.nullable(v.pipe(text, v.regex(/^-?\d+\.\d{4,6}$/), v.description("Decimal; null where it is not known.")));

const clickSchema = v.strictObject({
	id: text,
	click_hash: v.pipe(text, v.description("What the platform reports back.")),
	kind: v.picklist(["openrtb", "serving-engine", "link"]),
	billed: v.boolean(),
	reason: v.pipe(textOrNull, v.description("Why it is not billed.")),
	clicked_at: time,
	publisher: textOrNull,
	publisher_click_id: textOrNull,
	brand: textOrNull,
	campaign_id: count,
	platform: textOrNull,
	source_id: textOrNull,
	pricing_model: v.nullable(v.picklist(["CPA", "CPC"])),
	bid: amount,
	revenue: amount,
});

const postbackSchema = v.strictObject({
	id: text,
	received_at: time,
	platform: textOrNull,
	method: text,
	query: v.pipe(text, v.description("As it came, without the key.")),
	outcome: v.picklist(["accepted", "rejected", "unknown_key", "failed"]),
	answer: v.pipe(v.looseObject({ message: text }), v.description("What the platform was answered.")),
});

const eventSchema = v.looseObject({
	seq: count,
	at: time,
	kind: text,
	postback: v.pipe(textOrNull, v.description("The postback that caused it.")),
});

const callbackSchema = v.strictObject({
	id: text,
	seq: count,
	status: v.picklist(["approved", "cancelled"]),
	publisher: text,
	cid: text,
	payout: amount,
	state: v.picklist(["due", "delivered", "exhausted", "no_url"]),
	/** Of the postback behind it; null in rows of earlier versions. */
	request_id: v.nullable(v.string()),
	created_at: time,
	next_attempt_at: v.nullable(time),
	delivered_at: v.nullable(time),
	attempts: v.array(v.strictObject({ at: time, http_status: v.nullable(count), latency_ms: count, answer: text })),
});

const conversionSchema = v.strictObject({
	platform: text,
	txnid: text,
	cid: text,
	stage: v.picklist(["waiting", "unmatched", "quarantined", "settled"]),
	status: v.picklist(["approved", "pending", "cancelled"]),
	network_status: v.pipe(textOrNull, v.description("In the network's own words.")),
	status_unknown: v.boolean(),
	test: v.boolean(),
	event_at: time,
	payout: amount,
	sales: amount,
	currency: text,
	usd_rate: v.nullable(v.number()),
	gross_usd: amount,
	sales_usd: amount,
	revenue_share: v.nullable(v.number()),
	publisher_revenue: amount,
	pricing_model: v.nullable(v.picklist(["CPA", "CPC"])),
	attribution: v.nullable(v.picklist(["click_hash", "publisher_click_id"])),
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
		v.nullable(v.picklist(["no_click", "other_platform", "no_publisher", "ambiguous"])),
		v.description("Why no click is found, as things are now; null where one was, or would be at the next look."),
	),
	events: v.array(eventSchema),
	callbacks: v.array(callbackSchema),
});

const byQueue = v.strictObject({ clicks: count, postbacks: count, callbacks: count });

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey" } as const;

export const OPERATOR_TRACE_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "post",
		path: "/operator/trace",
		id: "traceConversion",
		summary: "Where is my sale?",
		description:
			"Everything that is known of a click hash, a publisher's click id, a transaction id or a postback's request id, from the click to the last callback attempt; the newest hundred of each kind.",
		body: { required: true, contents: [{ schema: traceSchema, example: { id: "T-1001" } }] },
		answers: {
			200: {
				description: "What is known; empty lists where nothing is.",
				content: {
					schema: v.strictObject({
						id: text,
						truncated: v.pipe(v.boolean(), v.description("True where there is more than is shown.")),
						clicks: v.array(clickSchema),
						postbacks: v.array(postbackSchema),
						conversions: v.array(conversionSchema),
					}),
				},
			},
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "get",
		path: "/operator/replay",
		id: "listDeadLetters",
		summary: "List dead letters",
		description: "Messages that a consumer refused to the end; the newest first, replayed ones too.",
		parameters: [
			{ in: "query", name: "queue", description: "Of this queue only.", schema: queueSchema },
			{ in: "query", name: "limit", description: "1 to 1,000; default 20.", schema: count },
		],
		answers: {
			200: {
				description: "How many wait, and the newest.",
				content: {
					schema: v.strictObject({
						waiting: byQueue,
						letters: v.array(
							v.strictObject({
								id: text,
								queue: queueSchema,
								received_at: time,
								replayed_at: v.nullable(time),
								body: v.pipe(v.unknown(), v.description("The message.")),
							}),
						),
					}),
				},
			},
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...SHARED,
		method: "post",
		path: "/operator/replay",
		id: "replayDeadLetters",
		summary: "Send dead letters to their queues again",
		description:
			"At most 10,000 a request. Where some remain, ask again with the `until` of the answer: what fails again meanwhile is left out.",
		body: { required: true, contents: [{ schema: replaySchema, example: { queue: "clicks" } }] },
		answers: {
			200: {
				description: "How many were sent, or would be.",
				content: { schema: v.strictObject({ replayed: byQueue, remaining: byQueue, dry_run: v.boolean(), until: time }) },
			},
			401: UNAUTHORIZED,
			413: TOO_LARGE,
			422: faultsAnswer,
		},
	},
];
