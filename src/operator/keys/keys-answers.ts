/** Answers of POST /operator/keys/issue, rotate, revoke and list. */
import * as v from "valibot";
import { CREDENTIAL_KINDS, type CredentialKind, type NameKind, OPERATOR_ROLES, type SigningKind } from "../../lib/access-enums.ts";
import { count, time } from "../../lib/shapes.ts";

const kind = v.picklist(CREDENTIAL_KINDS);
const id = v.pipe(v.string(), v.description("Of a key, the first 12 characters of its hash; of a publisher id or identity, the value."));
const published = v.pipe(v.boolean(), v.description("False where the edge hears of it by the next cron only, within a minute."));

const role = v.pipe(v.picklist(OPERATOR_ROLES), v.description("Operator keys only."));

const newCredentialSchema = v.strictObject({
	owner: v.string(),
	kind,
	id,
	role: v.optional(role),
	ends_at: v.optional(v.pipe(v.nullable(time), v.description("Operator keys only; null where it has no end."))),
	value: v.pipe(v.string(), v.description("A key is shown here and never again.")),
});

/** A credential as the operator sees it: never a key itself. */
const credentialStateSchema = v.strictObject({
	owner: v.string(),
	kind,
	id,
	state: v.picklist(["valid", "ending", "ended"]),
	/** Null where it has no end. */
	ends_at: v.nullable(time),
	created_at: v.optional(v.pipe(time, v.description("Keys only."))),
	/** Null where it was never used. */
	last_used_on: v.optional(v.pipe(v.nullable(v.string()), v.description("Day, UTC; keys only."))),
	role: v.optional(role),
	/** Some minutes behind; null where it was never used. */
	last_used_at: v.optional(v.pipe(v.nullable(time), v.description("Operator keys only."))),
});

export const issuedSchema = v.strictObject({ issued: newCredentialSchema, published });
export const revokedSchema = v.strictObject({ revoked: count, published });
export const credentialsSchema = v.strictObject({ keys: v.array(credentialStateSchema) });

/** What a dry run of issuing, rotating or revoking answers. */
export const keysPreviewSchema = v.strictObject({
	dry_run: v.literal(true),
	issued: v.pipe(
		v.nullable(
			v.strictObject({
				owner: v.string(),
				kind,
				role: v.optional(role),
				ends_at: v.optional(v.nullable(time)),
				value: v.optional(v.string()),
			}),
		),
		v.description("What would be made; null of a revocation. `value` is a name that was asked for."),
	),
	ending: v.pipe(v.array(v.strictObject({ id, ends_at: time })), v.description("What would end, and when.")),
});

export type KeysPreview = v.InferOutput<typeof keysPreviewSchema>;
export type NewCredential = v.InferOutput<typeof newCredentialSchema>;
export type CredentialState = v.InferOutput<typeof credentialStateSchema>;
export type Issued = v.InferOutput<typeof issuedSchema>;
export type Revoked = v.InferOutput<typeof revokedSchema>;
export type Credentials = v.InferOutput<typeof credentialsSchema>;

export function isName(kind: CredentialKind): kind is NameKind {
	return kind === "publisher_id" || kind === "publisher_identity";
}

export function isSigning(kind: CredentialKind): kind is SigningKind {
	return kind === "callback_secret";
}
