/** Keys, publisher ids and identities. The bodies' schemas are the ones that read them. */
import * as v from "valibot";
import { CREDENTIAL_KINDS, type KeyVerb, keyRequestSchemas } from "../../operator/keys/keys-request.ts";
import type { Example, Operation } from "../operation.ts";
import { count, faultsAnswer, TOO_LARGE, time, UNAUTHORIZED } from "./shapes.ts";

const text = v.string();
const kind = v.picklist(CREDENTIAL_KINDS);
const id = v.pipe(text, v.description("Of a key, the first 12 characters of its hash; of a publisher id or identity, the value."));
const published = v.pipe(v.boolean(), v.description("False where the edge hears of it by the next cron only, within a minute."));

const issuedSchema = v.strictObject({
	issued: v.strictObject({
		owner: text,
		kind,
		id,
		value: v.pipe(text, v.description("A key is shown here and never again.")),
	}),
	published,
});

const listedSchema = v.strictObject({
	keys: v.array(
		v.strictObject({
			owner: text,
			kind,
			id,
			state: v.picklist(["valid", "ending", "ended"]),
			ends_at: v.nullable(time),
			created_at: v.optional(v.pipe(time, v.description("Keys only."))),
			last_used_on: v.optional(v.pipe(v.nullable(text), v.description("Day, UTC; keys only."))),
		}),
	),
});

function operation(verb: KeyVerb, summary: string, description: string, answer: v.GenericSchema, example: Example): Operation {
	return {
		method: "post",
		path: `/operator/keys/${verb}`,
		id: `${verb}Keys`,
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		summary,
		description,
		body: { required: true, contents: [{ schema: keyRequestSchemas[verb], example }] },
		answers: {
			200: { description: "Done.", headers: { "cache-control": "Always no-store." }, content: { schema: answer } },
			401: UNAUTHORIZED,
			413: TOO_LARGE,
			422: faultsAnswer,
		},
	};
}

export const OPERATOR_KEY_OPERATIONS: readonly Operation[] = [
	operation("issue", "Issue a key", "A further key; the owner's others stay valid.", issuedSchema, {
		kind: "access_key",
		owner: "acme-media",
	}),
	operation(
		"rotate",
		"Rotate a key or a name",
		"A new key, publisher id or identity. What it replaces ends after `overlap_hours`, 24 by default, at once with 0.",
		issuedSchema,
		{ kind: "access_key", owner: "acme-media", overlap_hours: 48 },
	),
	operation(
		"revoke",
		"Revoke keys",
		"Ends one valid key, or all of the kind; of publisher ids and identities only former ones. It holds everywhere within 30 seconds.",
		v.strictObject({ revoked: count, published }),
		{ kind: "access_key", owner: "acme-media", id: "6df1ac465a23" },
	),
	operation("list", "List keys and names", "Never a key itself.", listedSchema, { owner: "acme-media" }),
];
