/** How the network is doing. */
import { statusSchema } from "../../operator/status/status-answer.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { faultsAnswer, UNAUTHORIZED } from "./shapes.ts";

export const OPERATOR_STATUS_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/operator/status",
		id: "readStatus",
		role: "viewer",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		summary: "How the network is doing",
		description: "Nothing is counted beyond 10,000: that figure means as many or more.",
		answers: {
			200: { description: "The figures.", content: { schema: named("Status", statusSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
];
