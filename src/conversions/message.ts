/**
 * What the `postbacks` queue carries: a contract between versions of the code, hence `format`. Every request goes through it: its row
 * for the intake ledger, and, where it was accepted, what it says. The other kind asks for a conversion to be looked at again.
 */
import * as v from "valibot";
import { postbackIntake } from "../db/schema/conversions.ts";

export const MESSAGE_FORMAT = 1;

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
	outcome: v.picklist(postbackIntake.outcome.enumValues),
	answer: v.string(),
});

const messageSchema = v.variant("kind", [
	v.object({ format: v.literal(MESSAGE_FORMAT), kind: v.literal("postback"), intake: intakeSchema, postback: v.nullable(postbackSchema) }),
	v.object({ format: v.literal(MESSAGE_FORMAT), kind: v.literal("look_again"), platform: v.string(), txnid: v.string() }),
]);

export type Postback = v.InferOutput<typeof postbackSchema>;
export type Intake = v.InferOutput<typeof intakeSchema>;
export type PostbackMessage = v.InferOutput<typeof messageSchema>;

/** A message of the queue; null where it is of no format this version knows. */
export function readMessage(body: unknown): PostbackMessage | null {
	const result = v.safeParse(messageSchema, body);
	return result.success ? result.output : null;
}
