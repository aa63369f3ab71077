/** Who may sign in to the console. The schemas are the ones that read the body, and that the answer is typed by. */
import * as v from "valibot";
import { signInLinkPreviewSchema, signInLinkRequestSchema, signInLinkSchema } from "../../console/session/people-answers.ts";
import { MAX_SMALL_BYTES } from "../../operator/routes.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, faultsAnswer, largerThan, UNAUTHORIZED } from "./shapes.ts";

export const OPERATOR_CONSOLE_OPERATIONS: readonly Operation[] = [
	{
		method: "post",
		path: "/operator/sign-in-links",
		id: "issueSignInLink",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "admin",
		summary: "Issue a link into the console",
		description:
			"For someone of a publisher's, or of the operator's staff. Whoever is new is invited: the link lasts 72 hours, otherwise 15 minutes. It signs in once, and ends the person's earlier ones.",
		parameters: [DRY_RUN],
		body: { required: true, contents: [{ schema: signInLinkRequestSchema, example: { publisher: "acme-media", name: "Ada Lovelace" } }] },
		answers: {
			200: {
				description: "Done.",
				headers: { "cache-control": "Always no-store." },
				content: { schema: v.union([named("SignInLink", signInLinkSchema), named("SignInLinkPreview", signInLinkPreviewSchema)]) },
			},
			401: UNAUTHORIZED,
			413: largerThan(MAX_SMALL_BYTES),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
];
