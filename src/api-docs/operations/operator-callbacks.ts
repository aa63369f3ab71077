/** The operator's callbacks. The schemas are the ones that read the bodies, and that the verbs' answers are typed by. */
import { callbackPageSchema, replayReportSchema, testReportSchema } from "../../callbacks/operator-answers.ts";
import { replaySchema, testSchema } from "../../callbacks/requests.ts";
import { selectionEntries } from "../../callbacks/select-callbacks.ts";
import { CALLBACK_STATES } from "../../lib/enums.ts";
import { MAX_SMALL_BYTES } from "../../operator/routes.ts";
import type { Operation, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, faultsAnswer, largerThan, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("Callback", callbackPageSchema.entries.data.item);

const SELECTION: Record<keyof typeof selectionEntries, string> = {
	id: "This callback.",
	publisher: "Of this publisher, by its id in the network file.",
	platform: "Reported by this platform.",
	txnid: "Of this transaction.",
	state: `One of ${CALLBACK_STATES.join(", ")}.`,
	from: "Created at or after this date or datetime, UTC.",
	to: "Created before this datetime, UTC; a date is included.",
};

const parameters: readonly Parameter[] = [
	...Object.entries(SELECTION).map(([name, description]) => ({
		in: "query" as const,
		name,
		description,
		schema: selectionEntries[name as keyof typeof selectionEntries],
	})),
	...PAGING,
];

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey" } as const;

export const OPERATOR_CALLBACK_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "get",
		path: "/operator/callbacks",
		id: "listCallbacks",
		role: "viewer",
		summary: "List callbacks",
		description:
			"What publishers were told, and what they answered; the newest first. A page looks at up to 20,000 callbacks where it asks for a platform, or for a state of a publisher: it may hold fewer than its limit, even none, and still be followed by another.",
		parameters,
		answers: {
			200: {
				description: "A page.",
				content: { schema: named("CallbackPage", callbackPageSchema) },
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
		role: "manager",
		summary: "Send callbacks again",
		description:
			"Delivered ones too, under the same Idempotency-Key, with all later ones of the same transactions that the same publisher is owed. At least one of id, publisher, platform, txnid, from and to is needed; at most 5,000 transactions at a time: of `exhausted` ones the oldest, and asked again the next; of any other selection with more, none.",
		parameters: [DRY_RUN],
		body: { required: true, contents: [{ schema: replaySchema, example: { publisher: "acme-media", state: "exhausted" } }] },
		answers: {
			200: {
				description: "How many are sent again, or would be.",
				content: { schema: named("CallbacksReplayed", replayReportSchema) },
			},
			401: UNAUTHORIZED,
			413: largerThan(MAX_SMALL_BYTES),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
	{
		...SHARED,
		method: "post",
		path: "/operator/callbacks/test",
		id: "testCallback",
		role: "manager",
		summary: "Test an address",
		description: "Sends one callback that nobody can book (its txnid begins with test-, its payout is 0) and reports what came of it.",
		body: { required: true, contents: [{ schema: testSchema, example: { publisher: "acme-media" } }] },
		answers: {
			200: {
				description: "What came of it.",
				content: { schema: named("CallbackTest", testReportSchema) },
			},
			401: UNAUTHORIZED,
			413: largerThan(MAX_SMALL_BYTES),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
];
