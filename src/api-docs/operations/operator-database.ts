/** Another database for the network. */
import { moveAnswerSchema, moveDifferenceSchema, moveSchema } from "../../database-move/move-answers.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { errorSchema, faultsAnswer, TOO_LARGE, UNAUTHORIZED } from "./shapes.ts";

named("MoveDifference", moveDifferenceSchema);

export const OPERATOR_DATABASE_OPERATIONS: readonly Operation[] = [
	{
		method: "post",
		path: "/operator/database/move",
		id: "moveDatabase",
		role: "admin",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		summary: "Move the network database from D1 to PostgreSQL",
		description:
			"Copies every table, compares sums and rows, and says when to switch. From its beginning to the switch neither database takes writes: queues keep clicks and postbacks, bids and redirects go on, and operations that write answer 503. A request takes some seconds: ask again while `outcome` is `unfinished` (with `go_on`, which begins none where somebody has taken it back), and after any failure. `differs` names what is not the same; the next request compares again.",
		body: { required: true, contents: [{ schema: moveSchema, example: {} }] },
		answers: {
			200: { description: "How far it has come.", content: { schema: named("DatabaseMove", moveAnswerSchema) } },
			401: UNAUTHORIZED,
			412: {
				description: "It cannot begin, go on, or be cancelled; nothing was changed.",
				content: {
					schema: errorSchema,
					example: { error: "a move needs both bindings, DB and POSTGRES: see docs/operations/postgresql.md" },
				},
			},
			413: TOO_LARGE,
			422: faultsAnswer,
		},
	},
];
