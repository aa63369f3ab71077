/** Issuing, rotating, revoking and listing credentials of any kind, as the endpoints and the console ask for it. */
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { logError } from "../../lib/log.ts";
import { type CredentialState, type Issued, isName, isSigning, type KeysPreview, type Revoked } from "./keys-answers.ts";
import type { KeyRequest } from "./keys-request.ts";
import { issueSecret, listSecrets, revokeSecrets, type SecretsDeps } from "./manage-callback-secrets.ts";
import { issueKey, type KeysDeps, listKeys, revokeKeys, rotateKey } from "./manage-keys.ts";
import { endNames, listNames, rotateName } from "./manage-names.ts";
import { readNewGrant, readPresentGrant } from "./operator-grant.ts";
import { previewNew, previewRevocation } from "./preview-keys.ts";
import { requireCalm, requireRoom } from "./require-room.ts";

export type KeyVerbDeps = KeysDeps &
	SecretsDeps & {
		/** Lets this isolate see the change at once, and publishes what the edge needs of it. */
		publish: () => Promise<unknown>;
	};

/** A further credential beside the owner's others. @throws HttpError 422 where there is no such owner, the kind is no key's, or it has as many as it may */
export async function issueCredential(deps: KeyVerbDeps, actor: Actor, request: KeyRequest<"issue">): Promise<Issued> {
	const { kind, owner } = request;
	if (isName(kind)) throw invalidInput([{ path: "kind", message: "every publisher has one: rotate it" }]);
	await requireRoom(deps, request, null);
	await requireCalm(deps, actor, request);
	const grant = await readNewGrant(deps.db, request, deps.now());
	if (isSigning(kind)) return published(deps, { issued: await issueSecret(deps, actor, owner) });
	return published(deps, { issued: await issueKey(deps, actor, { kind, owner, grant }) });
}

/** What {@link issueCredential} would do. @throws as it does */
export async function previewIssue(deps: KeyVerbDeps, request: KeyRequest<"issue">): Promise<KeysPreview> {
	const { kind, owner } = request;
	if (isName(kind)) throw invalidInput([{ path: "kind", message: "every publisher has one: rotate it" }]);
	await requireRoom(deps, request, null);
	return previewNew(deps, { kind, owner, grant: await readNewGrant(deps.db, request, deps.now()) }, null);
}

/** A credential in place of the owner's others of the kind, which end after the overlap. @throws HttpError 422 */
export async function rotateCredential(deps: KeyVerbDeps, actor: Actor, request: KeyRequest<"rotate">): Promise<Issued> {
	const { kind, owner, overlap_hours: overlapHours, value } = request;
	const grant = await grantOfRotation(deps, request);
	await requireRoom(deps, request, overlapHours);
	await requireCalm(deps, actor, request);
	if (isName(kind)) return published(deps, { issued: await rotateName(deps, actor, { kind, owner, overlapHours, value }) });
	if (isSigning(kind)) return published(deps, { issued: await issueSecret(deps, actor, owner, overlapHours) });
	return published(deps, { issued: await rotateKey(deps, actor, { kind, owner, grant, overlapHours }) });
}

/** What {@link rotateCredential} would do. @throws as it does */
export async function previewRotation(deps: KeyVerbDeps, request: KeyRequest<"rotate">): Promise<KeysPreview> {
	const { kind, owner, overlap_hours: overlapHours, value } = request;
	const grant = await grantOfRotation(deps, request);
	await requireRoom(deps, request, overlapHours);
	return previewNew(deps, { kind, owner, grant, value }, overlapHours);
}

function grantOfRotation({ db, now }: KeyVerbDeps, { kind, owner, expires, value }: KeyRequest<"rotate">) {
	if (kind !== "operator_key" && expires !== undefined) throw invalidInput([{ path: "expires", message: "is of operator keys alone" }]);
	if (!isName(kind) && value !== undefined) throw invalidInput([{ path: "value", message: "cannot be chosen for a key" }]);
	return kind === "operator_key" ? readPresentGrant(db, owner, expires, now()) : undefined;
}

/** Ends one, or all of the owner's of the kind. @throws HttpError 422 where there is none to end */
export async function revokeCredentials(deps: KeyVerbDeps, actor: Actor, { kind, owner, id }: KeyRequest<"revoke">): Promise<Revoked> {
	if (isSigning(kind)) return published(deps, { revoked: await revokeSecrets(deps, actor, owner, id) });
	const end = isName(kind) ? endNames(deps, actor, { kind, owner, id }) : revokeKeys(deps, actor, { kind, owner, id });
	return published(deps, { revoked: await end });
}

/** What {@link revokeCredentials} would do. @throws as it does */
export function previewRevoking(deps: KeyVerbDeps, { kind, owner, id }: KeyRequest<"revoke">): Promise<KeysPreview> {
	return previewRevocation(deps, kind, owner, id);
}

/** Names, keys and secrets, in this order. */
export async function listCredentials(deps: KeyVerbDeps, wanted: KeyRequest<"list">): Promise<CredentialState[]> {
	const { kind } = wanted;
	const names = kind === undefined || isName(kind) ? await listNames(deps, wanted) : [];
	const keys = kind === undefined || !isName(kind) ? await listKeys(deps, wanted) : [];
	const secrets = kind === undefined || isSigning(kind) ? await listSecrets(deps, wanted.owner) : [];
	return [...names, ...keys, ...secrets];
}

/** The change is done: where the book cannot be published now, the cron publishes it within a minute. */
async function published<Done extends object>({ publish }: KeyVerbDeps, done: Done): Promise<Done & { published: boolean }> {
	try {
		await publish();
		return { ...done, published: true };
	} catch (error) {
		logError("keys.publish_failed", error);
		return { ...done, published: false };
	}
}
