/** Erasing what is known of a user. The schemas are the ones that read the body, and that the answer is typed by. */
import { erasedSchema } from "../../operator/erase/erase-answer.ts";
import { eraseSchema } from "../../operator/erase/erase-request.ts";
import { MAX_SMALL_BYTES } from "../../operator/routes.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, faultsAnswer, largerThan, UNAUTHORIZED } from "./shapes.ts";

export const OPERATOR_ERASE_OPERATIONS: readonly Operation[] = [
	{
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		method: "post",
		path: "/operator/erase",
		id: "eraseUser",
		role: "admin",
		summary: "Erase what is known of a user",
		description:
			"Of all clicks of a `uid`, or of one click: ids, values of the publisher but for its sources, network, hashes, keyword; in conversions, postbacks, callbacks, claims, dead letters, what KV keeps and the archive likewise. Amounts, days and our own click hashes stay. The answer is a receipt; the audit has its id and its counts, and nothing of the user. Where it is not complete ask again with its `next_cursor` as `cursor`. What a queue still carries is erased by asking again the next day.",
		parameters: [DRY_RUN],
		body: { required: true, contents: [{ schema: eraseSchema, example: { uid: "buyer-51cc" } }] },
		answers: {
			200: { description: "What was erased, or would be.", content: { schema: named("Erased", erasedSchema) } },
			401: UNAUTHORIZED,
			413: largerThan(MAX_SMALL_BYTES),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
];
