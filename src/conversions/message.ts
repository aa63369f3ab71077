/**
 * What the `postbacks` queue carries: a contract between versions of the code, hence `format`. Every request goes through it: its row
 * for the intake ledger, and, where it was accepted, what it says. Requests that came at the same time share a message. Another kind
 * asks for a conversion to be looked at again. A third comes while the database that has the keys is away.
 */
import * as v from "valibot";
import { POSTBACK_OUTCOMES } from "../lib/enums.ts";

export const MESSAGE_FORMAT = 1;

/** The method of what nobody called for: it is made of a platform's own statement. */
export const STATEMENT = "STATEMENT";

const amount = v.pipe(v.number(), v.safeInteger());
const time = v.pipe(v.number(), v.safeInteger());

const postbackSchema = v.object({
	txnid: v.string(),
	cid: v.string(),
	/** Unix milliseconds. */
	eventAt: time,
	/** Millionths of `currency`. */
	payoutMicros: amount,
	salesMicros: v.nullable(amount),
	/** Upper case; null where the postback named none. */
	currency: v.nullable(v.string()),
	/** The network's own word; null where it named none. */
	status: v.nullable(v.string()),
	s2: v.nullable(v.string()),
	s3: v.nullable(v.string()),
	surl: v.nullable(v.string()),
});

const intakeSchema = v.object({
	/** Time-ordered: the order in which postbacks came in, whatever the queue makes of it. */
	id: v.string(),
	receivedAt: time,
	platform: v.nullable(v.string()),
	method: v.string(),
	query: v.string(),
	txnid: v.nullable(v.string()),
	cid: v.nullable(v.string()),
	outcome: v.picklist(POSTBACK_OUTCOMES),
	answer: v.string(),
});

const receivedSchema = v.object({
	format: v.literal(MESSAGE_FORMAT),
	kind: v.literal("postback"),
	intake: intakeSchema,
	postback: v.nullable(postbackSchema),
});
const lookAgainSchema = v.object({
	format: v.literal(MESSAGE_FORMAT),
	kind: v.literal("look_again"),
	platform: v.string(),
	txnid: v.string(),
});
const togetherSchema = v.object({ format: v.literal(MESSAGE_FORMAT), kind: v.literal("together"), items: v.array(receivedSchema) });

/** A postback whose key could not be looked up: whose it is, and whether it is the platform's, is found out before it is settled. */
const unclaimedSchema = v.object({
	format: v.literal(MESSAGE_FORMAT),
	kind: v.literal("unclaimed"),
	/** SHA-256 of the key, lower-case hex. */
	keyHash: v.string(),
	/** What was signed; empty where there is no signature. */
	sent: v.string(),
	signature: v.nullable(v.string()),
	address: v.nullable(v.string()),
	intake: intakeSchema,
	postback: postbackSchema,
});

const messageSchema = v.variant("kind", [receivedSchema, lookAgainSchema, togetherSchema, unclaimedSchema]);

type PostbackMessageOf = v.InferOutput<typeof postbackSchema>;
/** `asCame`: how it came, where what is of an erased user was taken out of it. No message has it. */
export type Postback = PostbackMessageOf & { asCame?: PostbackMessageOf };
export type Intake = v.InferOutput<typeof intakeSchema>;

/** Characters kept of a request that is not known to be a platform's: enough to see who sends it. */
const MAX_UNKNOWN_TEXT = 1_000;

/** What is kept of such a request. */
export function inBrief<Request extends Pick<Intake, "query">>(request: Request): Request {
	return { ...request, query: request.query.slice(0, MAX_UNKNOWN_TEXT).toWellFormed() };
}

export type ReceivedPostback = v.InferOutput<typeof receivedSchema>;
export type UnclaimedPostback = v.InferOutput<typeof unclaimedSchema>;
/** What is settled one by one. */
export type PostbackItem = ReceivedPostback | v.InferOutput<typeof lookAgainSchema>;
export type PostbackMessage = v.InferOutput<typeof messageSchema>;

/** What a message of the queue holds; null where it is of no format this version knows. */
export function readMessage(body: unknown): (PostbackItem | UnclaimedPostback)[] | null {
	const result = v.safeParse(messageSchema, body);
	if (!result.success) return null;
	return result.output.kind === "together" ? result.output.items : [result.output];
}
