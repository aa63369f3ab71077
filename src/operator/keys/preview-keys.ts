/** What issuing, rotating or revoking would do: read by the same lists, refused for the same reasons. */
import { sql } from "drizzle-orm";
import { invalidInput } from "../../http/errors.ts";
import type { CredentialKind } from "../../lib/access-enums.ts";
import { HOUR_MS, isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { type CredentialState, isName, isSigning, type KeysPreview } from "./keys-answers.ts";
import { listSecrets } from "./manage-callback-secrets.ts";
import { type KeysDeps, listKeys, requireOwner } from "./manage-keys.ts";
import { listNames } from "./manage-names.ts";
import type { Grant } from "./operator-grant.ts";

type Wanted = {
	kind: CredentialKind;
	owner: string;
	grant?: Grant | undefined;
	/** The new name; absent where it is made up. */
	value?: string | undefined;
};

/**
 * What a new credential would be, and which others it would end.
 * @param overlapHours after which those end that it replaces; null where it replaces none
 * @throws HttpError 422 where there is no such owner, or the name is or was another's
 */
export async function previewNew(deps: KeysDeps, { kind, owner, grant, value }: Wanted, overlapHours: number | null): Promise<KeysPreview> {
	await requireOwner(deps.db, kind, owner);
	if (value !== undefined) await requireOwnName(deps, kind, owner, value);
	const endsAt = overlapHours === null ? null : isoTime(deps.now() + Math.round(overlapHours * HOUR_MS));
	const present = endsAt === null ? [] : await listOf(deps, kind, owner);
	const replaced = present.filter(
		({ id, state, ends_at }) => state !== "ended" && id !== value && (ends_at === null || ends_at > (endsAt ?? "")),
	);
	const grants = grant === undefined ? {} : { role: grant.role, ends_at: isoTimeOrNull(grant.expiresAt) };
	return {
		dry_run: true,
		issued: { owner, kind, ...grants, ...(value !== undefined && { value }) },
		ending: replaced.map(({ id }) => ({ id, ends_at: endsAt ?? "" })),
	};
}

/** What a revocation would end. @throws HttpError 422 where that is nothing */
export async function previewRevocation(deps: KeysDeps, kind: CredentialKind, owner: string, id: string | undefined): Promise<KeysPreview> {
	await requireOwner(deps.db, kind, owner);
	const now = isoTime(deps.now());
	const present = await listOf(deps, kind, owner);
	// The present name is only replaced.
	const ended = present.filter(
		(one) => (isName(kind) ? one.state === "ending" : one.state !== "ended") && (id === undefined || one.id === id),
	);
	if (ended.length === 0) throw invalidInput([{ path: id === undefined ? "owner" : "id", message: "has none that could be ended" }]);
	return { dry_run: true, issued: null, ending: ended.map((one) => ({ id: one.id, ends_at: now })) };
}

async function listOf(deps: KeysDeps, kind: CredentialKind, owner: string): Promise<CredentialState[]> {
	if (isName(kind)) return listNames(deps, { kind, owner });
	return isSigning(kind) ? listSecrets(deps, owner) : listKeys(deps, { kind, owner });
}

async function requireOwnName({ db }: KeysDeps, kind: CredentialKind, owner: string, value: string): Promise<void> {
	const [taken] = await db.all(
		sql`SELECT publisher_id FROM publisher_names WHERE kind = ${kind} AND value = ${value} AND publisher_id <> ${owner}`,
	);
	if (taken !== undefined) throw invalidInput([{ path: "value", message: "is or was another publisher's" }]);
}
