/** Keys, publisher ids and identities. The schemas are the ones that read the bodies, and that the verbs' answers are typed by. */
import * as v from "valibot";
import { credentialsSchema, issuedSchema, keysPreviewSchema, revokedSchema } from "../../operator/keys/keys-answers.ts";
import { type KeyVerb, keyRequestSchemas } from "../../operator/keys/keys-request.ts";
import { MAX_SMALL_BYTES } from "../../operator/routes.ts";
import type { Example, Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, faultsAnswer, largerThan, UNAUTHORIZED } from "./shapes.ts";

const PREVIEW = named("KeysPreview", keysPreviewSchema);

function operation(verb: KeyVerb, summary: string, description: string, answer: v.GenericSchema, example: Example): Operation {
	return {
		method: "post",
		path: `/operator/keys/${verb}`,
		id: `${verb}Keys`,
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: verb === "list" ? "viewer" : "admin",
		summary,
		description,
		...(verb !== "list" && { parameters: [DRY_RUN] }),
		body: { required: true, contents: [{ schema: keyRequestSchemas[verb], example }] },
		answers: {
			200: { description: "Done.", headers: { "cache-control": "Always no-store." }, content: { schema: answer } },
			401: UNAUTHORIZED,
			413: largerThan(MAX_SMALL_BYTES),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	};
}

export const OPERATOR_KEY_OPERATIONS: readonly Operation[] = [
	operation(
		"issue",
		"Issue a key",
		"A further key; the owner's others stay valid. The owner of an `operator_key` is the name of whoever is to hold it, and it has a `role`. A `callback_secret` signs the publisher's callbacks from now on, beside others that are valid.",
		v.union([named("KeyIssued", issuedSchema), PREVIEW]),
		{
			kind: "access_key",
			owner: "acme-media",
		},
	),
	operation(
		"rotate",
		"Rotate a key or a name",
		"A new key, publisher id or identity. What it replaces ends after `overlap_hours`, 24 by default, at once with 0.",
		v.union([named("KeyIssued", issuedSchema), PREVIEW]),
		{ kind: "access_key", owner: "acme-media", overlap_hours: 48 },
	),
	operation(
		"revoke",
		"Revoke keys",
		"Ends one valid key, or all of the kind; of publisher ids and identities only former ones. It holds everywhere within 30 seconds.",
		v.union([named("KeysRevoked", revokedSchema), PREVIEW]),
		{ kind: "access_key", owner: "acme-media", id: "6df1ac465a23" },
	),
	operation("list", "List keys and names", "Never a key itself.", named("Keys", credentialsSchema), { owner: "acme-media" }),
];
