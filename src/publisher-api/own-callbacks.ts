/** A publisher's own callbacks: the operator's verbs, held to one publisher. */
import { sql } from "drizzle-orm";
import * as v from "valibot";
import type { AuditActor } from "../audit/audit-statement.ts";
import type { CallbackDeps } from "../callbacks/deliver-callback.ts";
import { listCallbacks } from "../callbacks/list-callbacks.ts";
import { replayCallbacks } from "../callbacks/replay-callbacks.ts";
import { testCallbackFor } from "../callbacks/test-callback.ts";
import { inOrder, moment, publisherTimes, startOf } from "../http/datetime.ts";
import { notThere } from "../http/errors.ts";
import { readQuery } from "../http/read-input.ts";
import { CALLBACK_STATES } from "../lib/enums.ts";
import { maskCallbackUrl } from "../lib/mask-url.ts";
import { OPERATOR_CURSOR, pageLimit } from "../lib/page-cursor.ts";
import type { PublisherCallbacks, PublisherReplay, PublisherReplays, PublisherTest } from "./callbacks-answer.ts";

const text = v.pipe(v.string(), v.maxLength(2_000, "is too long"));

export const ownCallbacksQuerySchema = v.pipe(
	v.strictObject({
		id: v.optional(text),
		txnid: v.optional(text),
		state: v.optional(v.picklist(CALLBACK_STATES, `must be one of ${CALLBACK_STATES.join(", ")}`)),
		...publisherTimes,
		limit: pageLimit,
		cursor: v.optional(v.pipe(v.string(), v.regex(OPERATOR_CURSOR.pattern, "must be the next_cursor of an answer"))),
	}),
	inOrder(),
);

/** Of the body of POST /api/callbacks/replay. */
export const MAX_REPLAY_BYTES = 1_000;

/** Body of POST /api/callbacks/replay. Closed: a mistyped field would send more than was meant. */
export const replayOwnSchema = v.pipe(
	v.strictObject({
		state: v.optional(ownCallbacksQuerySchema.entries.state.wrapped, "exhausted"),
		from: v.pipe(moment, v.transform(startOf)),
		to: publisherTimes.to,
		dry_run: v.optional(v.boolean("must be true or false"), false),
	}),
	inOrder(),
);

/** The newest first. @throws HttpError 422 that names every parameter at fault */
export async function listOwnCallbacks(
	deps: Pick<CallbackDeps, "db">,
	publisher: string,
	query: Record<string, string>,
): Promise<PublisherCallbacks> {
	const { data, ...page } = await listCallbacks(deps, { ...readQuery(ownCallbacksQuerySchema, query), publisher });
	return { data: data.map(({ platform: _, seq: __, publisher: ___, ...callback }) => callback), ...page };
}

/** Whoever holds one of a publisher's Access Keys, as the audit names them. */
export function keyActor(publisher: string, requestId: string): AuditActor {
	return { name: publisher, role: "publisher", requestId };
}

/**
 * Calls again with one callback, and later ones of its conversion.
 * @param actor of the publisher: a person, or its key
 * @throws HttpError 404 where the publisher has none of that id
 */
export async function replayOwnCallback(deps: CallbackDeps, publisher: string, id: string, actor: AuditActor): Promise<PublisherReplay> {
	const found = await deps.db.all(sql`SELECT id FROM callbacks WHERE id = ${id} AND publisher_id = ${publisher}`);
	if (found.length === 0) throw notThere("There is no such callback.");
	const { replayed } = await replayCallbacks(deps, { id, publisher, dry_run: false }, actor);
	return { replayed };
}

/**
 * Calls again with all of a state that came to be in a time, and later ones of their conversions; or counts them.
 * @param request as {@link replayOwnSchema} reads it
 * @throws HttpError 422 where they are too many
 */
export function replayOwnCallbacks(
	deps: CallbackDeps,
	publisher: string,
	request: v.InferOutput<typeof replayOwnSchema>,
	actor: AuditActor,
): Promise<PublisherReplays> {
	return replayCallbacks(deps, { publisher, ...request }, actor);
}

/** Calls the publisher's address once, with nothing that could be taken for money. @throws HttpError 422 where it has none that may be called */
export function testOwnCallback(deps: CallbackDeps, publisher: string, actor: AuditActor): Promise<PublisherTest> {
	return testCallbackFor(deps, actor, { publisher }, maskCallbackUrl);
}
