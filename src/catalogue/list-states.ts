/** What decides whether a list has changed: the catalogue's version and the publisher's row. */
import { eq, getTableColumns } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { catalogueState, publishers } from "../db/schema/publishers.ts";
import type { Publisher } from "../keys/key-owners.ts";
import { toBase64Url } from "../lib/base64-url.ts";
import { putBounded } from "../lib/bounded-map.ts";
import { sha256 } from "../lib/bytes.ts";
import type { ListRequest } from "./list-request.ts";

export type ListState = { publisher: Publisher; catalogueVersion: number };

/**
 * How long an isolate answers from a state it has read: what a change takes to show in another isolate than the one that made
 * it. Clients that poll with a validator then cost no query each.
 */
const STATE_KEPT_MS = 250;
const MAX_KEPT = 500;

type Kept = { state: ListState | null; readAt: number };

export class ListStates {
	readonly #db: Database;
	readonly #now: () => number;
	#kept = new Map<string, Kept>();

	constructor(db: Database, now: () => number) {
		this.#db = db;
		this.#now = now;
	}

	/** The state of a publisher's lists, at most {@link STATE_KEPT_MS} old; null where there is no such publisher. */
	async read(publisherId: string): Promise<ListState | null> {
		const now = this.#now();
		const known = this.#kept.get(publisherId);
		if (known !== undefined && now - known.readAt < STATE_KEPT_MS) return known.state;
		const kept = this.#kept;
		const state = await this.readNow(publisherId);
		putBounded(kept, publisherId, { state, readAt: now }, MAX_KEPT);
		return state;
	}

	/** The state as it is stored at this moment. */
	async readNow(publisherId: string): Promise<ListState | null> {
		const [row] = await this.#db
			.select({ publisher: getTableColumns(publishers), catalogueVersion: catalogueState.version })
			.from(publishers)
			.innerJoin(catalogueState, eq(catalogueState.id, 1))
			.where(eq(publishers.id, publisherId));
		return row ?? null;
	}

	/** After a change made by this very isolate: it shows at once, whatever is being read meanwhile. */
	forget(): void {
		this.#kept = new Map();
	}
}

/** Grows with every change of how a list is written: clients ask for it anew, and copies made of changes end. */
export const LIST_FORMAT = 2;

/** Names that were worked out for a state that an isolate holds: a poll costs no hash. */
const named = new WeakMap<ListState, Map<string, string>>();

/** What {@link hashVersion} gives, remembered with the state. */
export async function nameVersion(state: ListState, request: ListRequest, deps: VersionDeps): Promise<string> {
	const names = named.get(state) ?? new Map<string, string>();
	named.set(state, names);
	const key = request.by === "country" ? request.trafficType : "";
	const name = names.get(key) ?? (await hashVersion(state, request, deps));
	names.set(key, name);
	return name;
}

export type VersionDeps = {
	trackerUrl: string;
	/** Names the key that mints the links' tokens. */
	keyFingerprint: string;
};

/**
 * Names a list's content: the same for the same list, another one after any change that may show in it. Base64url.
 */
async function hashVersion({ publisher, catalogueVersion }: ListState, request: ListRequest, deps: VersionDeps): Promise<string> {
	const { id, publisherIdentity, cashbackEnabled, blockedBrands } = publisher;
	const trafficType = request.by === "country" ? request.trafficType : null;
	const parts = [LIST_FORMAT, catalogueVersion, id, publisherIdentity, cashbackEnabled, blockedBrands, trafficType];
	return toBase64Url(await sha256(JSON.stringify([...parts, deps.trackerUrl, deps.keyFingerprint]))).slice(0, 27);
}
