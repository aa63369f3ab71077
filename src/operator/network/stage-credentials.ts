/** Credentials of an import: those it names are stored as hashes; those a new owner lacks are issued, and shown once. */
import type { Database } from "../../db/client.ts";
import { accessKeys, publisherNames, publishers } from "../../db/schema/publishers.ts";
import type { Fault } from "../../http/errors.ts";
import { NAME_KINDS, type NameKind } from "../../lib/access-enums.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import { newKey } from "../../lib/key-format.ts";
import { newName } from "../keys/new-credentials.ts";
import type { ImportReport } from "./import-answer.ts";
import type { PlatformEntry, PublisherEntry } from "./network-file.ts";
import type { RowStage } from "./stage-rows.ts";

type Issued = ImportReport["issued"][number];
export type Placed<Entry> = { entry: Entry; path: string };

export type Identified = PublisherEntry & { publisher_id: string; publisher_identity: string };

/** Keys are an admin's, as in POST /operator/keys; a manager's file may hold those of new owners, and those that there are. */
export const NEEDS_ADMIN = "is another than the stored one: to replace it takes the role admin";

/** What an import does about credentials: it never gives one to two owners, and never makes a replaced or revoked one valid again. */
type Credentials<Extra = unknown> = { issued: Issued[]; faults: Fault[]; warnings: Fault[] } & Extra;

/** What is stored of names and keys. */
export type StoredCredentials = {
	publishers: { id: string; publisher_id: string; publisher_identity: string }[];
	names: (typeof publisherNames.$inferSelect)[];
	keys: (typeof accessKeys.$inferSelect)[];
};

/** Reads it once the file has been read, which may take minutes: keys and names are replaced by others than imports, too. */
export async function readStoredCredentials(db: Database): Promise<StoredCredentials> {
	const [stored, names, keys] = await db.batch([
		db
			.select({ id: publishers.id, publisher_id: publishers.publisherId, publisher_identity: publishers.publisherIdentity })
			.from(publishers),
		db.select().from(publisherNames),
		db.select().from(accessKeys),
	]);
	return { publishers: stored, names, keys };
}

/**
 * Gives every publisher a publisher id and identity: its own in the file, the stored one, or a new one. One that was replaced by
 * a rotation since is not taken back from a file that still names it. Faults name those that are or were another publisher's.
 * @param mayReplace whether whoever imports may give stored publishers other ones
 */
export function identifyPublishers(
	stored: StoredCredentials,
	placed: readonly Placed<PublisherEntry>[],
	mayReplace: boolean,
): Credentials<{ publishers: Placed<Identified>[] }> {
	const present = new Map(stored.publishers.map((row) => [row.id, row]));
	const owners = new Map(stored.names.map((row) => [`${row.kind} ${row.value}`, row.publisherId]));
	const issued: Issued[] = [];
	const faults: Fault[] = [];
	const warnings: Fault[] = [];

	function nameOf(kind: NameKind, { id, [kind]: given }: PublisherEntry, path: string): string {
		const known = present.get(id)?.[kind];
		const formerly = given !== null && given !== known && known !== undefined && owners.get(`${kind} ${given}`) === id;
		if (formerly) warnings.push({ path, message: "was replaced since and is not taken back; the present one stays" });
		if (!mayReplace && !formerly && given !== null && known !== undefined && given !== known) faults.push({ path, message: NEEDS_ADMIN });
		const value = (formerly ? null : given) ?? known ?? newName(kind);
		if (given === null && known === undefined) issued.push({ owner: ownerOf(id), kind, value });
		faults.push(...claim(owners, `${kind} ${value}`, id, path));
		return value;
	}

	const identified = placed.map(({ entry, path }) => ({
		entry: {
			...entry,
			publisher_id: nameOf("publisher_id", entry, `${path}.publisher_id`),
			publisher_identity: nameOf("publisher_identity", entry, `${path}.publisher_identity`),
		},
		path,
	}));
	return { publishers: identified, issued, faults, warnings };
}

/**
 * Stages the keys of publishers and platforms: those that the file names and nobody knows yet, and new ones for owners that never
 * had one. A key that is stored already stays as it is. Faults name keys that belong to someone else. `fresh`: whose keys are new, by
 * kind and owner, and whether they had one of the kind.
 * @param mayReplace whether whoever imports may give stored owners other ones
 */
export async function stageKeys(
	stored: StoredCredentials,
	stage: RowStage,
	publisherEntries: readonly Placed<PublisherEntry>[],
	platformEntries: readonly Placed<PlatformEntry>[],
	now: number,
	mayReplace: boolean,
): Promise<Credentials<{ fresh: Map<string, "first" | "another"> }>> {
	const byHash = new Map(stored.keys.map((row) => [row.hash, row]));
	const owners = new Map(stored.keys.map((row) => [row.hash, `${row.kind} ${row.ownerId}`]));
	const had = new Set(owners.values());
	const issued: Issued[] = [];
	const faults: Fault[] = [];
	const warnings: Fault[] = [];
	const fresh = new Map<string, "first" | "another">();
	for (const { kind, id, owner, given, path } of keysOf(publisherEntries, platformEntries)) {
		if (given === null && had.has(`${kind} ${id}`)) continue;
		const value = given ?? newKey(kind);
		const hash = await sha256Hex(value);
		const claimed = claim(owners, hash, `${kind} ${id}`, path);
		faults.push(...claimed);
		const known = byHash.get(hash);
		if (known === undefined) {
			const isAnother = had.has(`${kind} ${id}`);
			if (isAnother && !mayReplace) faults.push({ path, message: NEEDS_ADMIN });
			fresh.set(`${kind} ${id}`, isAnother ? "another" : "first");
			await stage.add("access_keys", { hash, kind, ownerId: id, createdAt: now });
		} else if (claimed.length === 0 && known.expiresAt !== null) {
			warnings.push({ path, message: "was rotated out or revoked, and is not made valid again; the other keys stay as they are" });
		}
		if (given === null) issued.push({ owner, kind, value });
	}
	return { issued, faults, warnings, fresh };
}

/** Names and keys of the file that others have taken since they were compared with what is stored: its rows would not stand beside those. */
export async function findTaken(
	db: Database,
	publisherEntries: readonly Placed<PublisherEntry>[],
	platformEntries: readonly Placed<PlatformEntry>[],
): Promise<Fault[]> {
	if (publisherEntries.length + platformEntries.length === 0) return [];
	const stored = await readStoredCredentials(db);
	const names = new Map(stored.names.map((row) => [`${row.kind} ${row.value}`, row.publisherId]));
	const keys = new Map(stored.keys.map((row) => [row.hash, `${row.kind} ${row.ownerId}`]));
	const faults: Fault[] = [];
	for (const { entry, path } of publisherEntries) {
		for (const kind of NAME_KINDS) {
			const given = entry[kind];
			if (given !== null) faults.push(...claim(names, `${kind} ${given}`, entry.id, `${path}.${kind}`));
		}
	}
	for (const { kind, id, given, path } of keysOf(publisherEntries, platformEntries)) {
		if (given !== null) faults.push(...claim(keys, await sha256Hex(given), `${kind} ${id}`, path));
	}
	return faults;
}

/** Every key that entries have: the file's, or null where it names none. */
function keysOf(publisherEntries: readonly Placed<PublisherEntry>[], platformEntries: readonly Placed<PlatformEntry>[]) {
	return [
		...publisherEntries.flatMap(({ entry, path }) => [
			{ kind: "access_key" as const, id: entry.id, owner: ownerOf(entry.id), given: entry.access_key, path: `${path}.access_key` },
			{ kind: "publisher_key" as const, id: entry.id, owner: ownerOf(entry.id), given: entry.publisher_key, path: `${path}.publisher_key` },
		]),
		...platformEntries.map(({ entry, path }) => ({
			kind: "platform_key" as const,
			id: entry.id,
			owner: `platform ${entry.id}`,
			given: entry.access_key,
			path: `${path}.access_key`,
		})),
	];
}

/** Notes that `value` is `owner`'s, or says that it is another's. */
function claim(owners: Map<string, string>, value: string, owner: string, path: string): Fault[] {
	const present = owners.get(value);
	owners.set(value, present ?? owner);
	return present === undefined || present === owner ? [] : [{ path, message: "already belongs to another" }];
}

function ownerOf(id: string): string {
	return `publisher ${id}`;
}
