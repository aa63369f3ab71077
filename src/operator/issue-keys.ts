/** Credentials of an import: those it names are stored as hashes; those a new owner lacks are issued, and shown once. */
import type { Database } from "../db/client.ts";
import type { KeyKind } from "../db/key-owners.ts";
import { accessKeys, publishers } from "../db/schema/publishers.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { newSecret } from "../lib/ids.ts";
import type { PlatformEntry, PublisherEntry } from "./network-file.ts";
import type { Fault } from "./read-entry.ts";
import type { RowStage } from "./stage-rows.ts";

export type Issued = { owner: string; kind: KeyKind | "publisher_id" | "publisher_identity"; value: string };
export type Placed<Entry> = { entry: Entry; path: string };

type Identified = PublisherEntry & { publisher_id: string; publisher_identity: string };

const PREFIX: Record<KeyKind, string> = { access_key: "ak", publisher_key: "pk", platform_key: "plk" };

/**
 * Gives every publisher a publisher id and identity: its own in the file, the stored one, or a new one.
 * Faults name ids that belong to another publisher.
 */
export async function identifyPublishers(
	db: Database,
	placed: readonly Placed<PublisherEntry>[],
): Promise<{ publishers: Placed<Identified>[]; issued: Issued[]; faults: Fault[] }> {
	const stored = await db
		.select({ id: publishers.id, publisherId: publishers.publisherId, identity: publishers.publisherIdentity })
		.from(publishers);
	const byId = new Map(stored.map((row) => [row.id, row]));
	const inFile = new Set(placed.map(({ entry }) => entry.id));
	const others = stored.filter(({ id }) => !inFile.has(id));
	const idOwners = new Map(others.map((row) => [row.publisherId, row.id]));
	const identityOwners = new Map(others.map((row) => [row.identity, row.id]));
	const issued: Issued[] = [];
	const faults: Fault[] = [];
	const identified = placed.map(({ entry, path }) => {
		const known = byId.get(entry.id);
		const publisherId = entry.publisher_id ?? known?.publisherId ?? newPublisherId();
		const identity = entry.publisher_identity ?? known?.identity ?? newSecret("pub");
		if (entry.publisher_id === null && known === undefined)
			issued.push({ owner: ownerOf(entry.id), kind: "publisher_id", value: publisherId });
		if (entry.publisher_identity === null && known === undefined)
			issued.push({ owner: ownerOf(entry.id), kind: "publisher_identity", value: identity });
		faults.push(...claim(idOwners, publisherId, entry.id, `${path}.publisher_id`));
		faults.push(...claim(identityOwners, identity, entry.id, `${path}.publisher_identity`));
		return { entry: { ...entry, publisher_id: publisherId, publisher_identity: identity }, path };
	});
	return { publishers: identified, issued, faults };
}

/** Stages the keys of publishers and platforms. Faults name keys that belong to someone else. */
export async function stageKeys(
	db: Database,
	stage: RowStage,
	publisherEntries: readonly Placed<PublisherEntry>[],
	platformEntries: readonly Placed<PlatformEntry>[],
	now: number,
): Promise<{ issued: Issued[]; faults: Fault[] }> {
	const stored = await db.select().from(accessKeys);
	const owners = new Map(stored.map((row) => [row.hash, `${row.kind} ${row.ownerId}`]));
	const valid = new Set(stored.filter((row) => row.expiresAt === null || row.expiresAt > now).map((row) => `${row.kind} ${row.ownerId}`));
	const issued: Issued[] = [];
	const faults: Fault[] = [];
	const wanted = [
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
	for (const { kind, id, owner, given, path } of wanted) {
		if (given === null && valid.has(`${kind} ${id}`)) continue;
		const value = given ?? newSecret(PREFIX[kind]);
		const hash = await sha256Hex(value);
		faults.push(...claim(owners, hash, `${kind} ${id}`, path));
		if (given === null) issued.push({ owner, kind, value });
		await stage.add("access_keys", { hash, kind, ownerId: id, createdAt: now });
	}
	return { issued, faults };
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

/** A publisher id as account managers hand them out: ten digits, not in a row anyone can count. */
function newPublisherId(): string {
	const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
	return String(1_000_000_000 + ((high * 2 ** 20 + (low >>> 12)) % 9_000_000_000));
}
