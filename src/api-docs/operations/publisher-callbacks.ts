/** A publisher's own callbacks. */
import * as v from "valibot";
import { CALLBACK_STATES } from "../../lib/enums.ts";
import {
	publisherCallbackSchema,
	publisherCallbacksSchema,
	publisherReplaySchema,
	publisherReplaysSchema,
	publisherTestSchema,
} from "../../publisher-api/callbacks-answer.ts";
import { MAX_REPLAY_BYTES, ownCallbacksQuerySchema, replayOwnSchema } from "../../publisher-api/own-callbacks.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { faultsAnswer, largerThan, missing, OTHER_METHOD, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("PublisherCallback", publisherCallbackSchema);

const { id, txnid, state, from, to } = ownCallbacksQuerySchema.entries;
const NO_CALLBACK = missing("You have no callback of this id.", "There is no such callback.");

const SHARED = { tag: "Callbacks", host: "base", credential: "AccessKey" } as const;

export const PUBLISHER_CALLBACK_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "get",
		path: "/api/callbacks",
		id: "listOwnCallbacks",
		summary: "Your callbacks, each with its calls and what you answered",
		description:
			"The newest first. With `state` a page may hold fewer than `limit`, even none, and still be followed by another: `next_cursor` says.",
		parameters: [
			{ in: "query", name: "id", description: "This callback.", schema: id },
			{ in: "query", name: "txnid", description: "Of this transaction.", schema: txnid },
			{ in: "query", name: "state", description: `One of ${CALLBACK_STATES.join(", ")}.`, schema: state },
			{ in: "query", name: "from", description: "Created from this moment on.", schema: from },
			{ in: "query", name: "to", description: "Created before this moment; a date is included.", schema: to },
			...PAGING,
		],
		answers: limited({
			200: { description: "A page of callbacks.", content: { schema: named("PublisherCallbacks", publisherCallbacksSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: faultsAnswer,
		}),
	},
	{
		...SHARED,
		method: "post",
		path: "/api/callbacks/{id}/replay",
		id: "replayOwnCallback",
		summary: "Have a callback sent again",
		description:
			"With it go later ones of its conversion, so that the last that you hear is how things stand; each has the Idempotency-Key it had. A suspended publisher is answered 401.",
		parameters: [{ in: "path", name: "id", required: true, description: "The callback.", schema: v.string() }],
		answers: limited(
			{
				200: { description: "How many are sent again.", content: { schema: named("OwnReplay", publisherReplaySchema) } },
				401: UNAUTHORIZED,
				404: NO_CALLBACK,
				405: OTHER_METHOD,
				413: largerThan(MAX_REPLAY_BYTES),
				422: faultsAnswer,
			},
			true,
		),
	},
	{
		...SHARED,
		method: "post",
		path: "/api/callbacks/replay",
		id: "replayOwnCallbacks",
		summary: "Have all callbacks of a time sent again that failed",
		description:
			"Those created from `from` on, and before `to` (a date is included), which nobody confirmed (`exhausted`), or of the `state` that you name. With each go later ones of its conversion; each has the Idempotency-Key it had. At most 5,000 conversions: of `exhausted` ones the oldest, and asked again the next; of any other state with more, none. `dry_run` counts alone. A suspended publisher is answered 401.",
		body: { required: true, contents: [{ schema: replayOwnSchema, example: { from: "2026-11-18", dry_run: true } }] },
		answers: limited(
			{
				200: { description: "How many are sent again.", content: { schema: named("OwnReplays", publisherReplaysSchema) } },
				401: UNAUTHORIZED,
				405: OTHER_METHOD,
				413: largerThan(MAX_REPLAY_BYTES),
				422: faultsAnswer,
			},
			true,
		),
	},
	{
		...SHARED,
		method: "post",
		path: "/api/callbacks/test",
		id: "testOwnCallback",
		summary: "Have your callback address called once, as a test",
		description:
			"With a `txnid` that begins with `test-`, the `cid` `test` and a payout of 0. It is not repeated. A suspended publisher is answered 401.",
		answers: limited(
			{
				200: { description: "What the address answered.", content: { schema: named("OwnCallbackTest", publisherTestSchema) } },
				401: UNAUTHORIZED,
				405: OTHER_METHOD,
				413: largerThan(MAX_REPLAY_BYTES),
				422: faultsAnswer,
			},
			true,
		),
	},
];
