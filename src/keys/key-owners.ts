/**
 * Whose key a request presents: the one look-up behind the `AccessKey`, `PublisherKey` and `OperatorKey` headers and the platform key
 * in the path of a postback. Keys are stored as SHA-256 hashes.
 */
import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { platforms } from "../db/schema/platforms.ts";
import { accessKeys, publishers } from "../db/schema/publishers.ts";
import type { KeyKind, OperatorRole } from "../lib/access-enums.ts";
import type { WaitUntil } from "../lib/async.ts";
import { putBounded } from "../lib/bounded-map.ts";
import { equalTexts, sha256 } from "../lib/bytes.ts";
import { hasWrongChecksum } from "../lib/key-format.ts";
import { logError } from "../lib/log.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, utcDay } from "../lib/time.ts";
import { KeyIndex } from "./key-index.ts";

export type Publisher = typeof publishers.$inferSelect;

/** A platform, and what it asks of its postbacks beside the key. */
export type PlatformSender = {
	id: string;
	/** Secret of the signature over a postback; null where the platform signs none. */
	postbackSecret: string | null;
	/** Addresses and ranges that postbacks come from; null for any. */
	sourceRanges: readonly string[] | null;
	postbacksPerMinute: number | null;
};

/** Whoever holds an operator key. */
export type Operator = { name: string; role: OperatorRole };

/** How far behind the last use of an operator key may be. */
const USE_NOTED_MS = 5 * MINUTE_MS;
/** How long an isolate takes a key for valid without asking again: what a revocation takes to hold everywhere. */
export const KEY_KEPT_MS = 15 * SECOND_MS;
/** How long an unknown key stays unknown: a key that was tried before it was issued is refused for this long. */
export const UNKNOWN_KEY_KEPT_MS = 5 * SECOND_MS;
const MAX_KEPT = 5_000;
const MAX_UNKNOWN_KEPT = 1_000;
const MAX_RECENT = 16;

/** What an issued key can look like. Anything else, such as a header that came twice, is an unknown key and asks no database. */
const POSSIBLE_KEY = /^[\x21-\x7e]{8,256}$/;

type Found = {
	hash: string;
	kind: KeyKind;
	ownerId: string;
	/** Of a platform key. */
	sender: PlatformSender;
	expiresAt: number | null;
	lastUsedOn: string | null;
	/** Of an operator key. */
	role: OperatorRole | null;
	lastUsedAt: number | null;
	readAt: number;
	confirmedAt: number;
};

/** How long a platform's key is trusted while the database cannot be read. */
const PLATFORM_KEY_TRUSTED_MS = HOUR_MS;

export type KeyOwnersDeps = { db: Database; now: () => number };

/** The keys that an isolate has seen recently. All parts share one instance. */
export class KeyOwners {
	readonly #db: Database;
	readonly #now: () => number;
	readonly #found = new Map<string, Found>();
	readonly #unknown = new Map<string, number>();
	readonly #index: KeyIndex;
	/** The latest valid keys as they were presented, newest first: these few need not be hashed again. */
	#recent: readonly { key: string; hash: string }[] = [];

	constructor({ db, now }: KeyOwnersDeps) {
		this.#db = db;
		this.#now = now;
		this.#index = new KeyIndex(db, UNKNOWN_KEY_KEPT_MS);
	}

	/**
	 * The owner of a valid key of this kind: publishers.id, or platforms.id for a platform key; null where the key is missing,
	 * malformed, unknown, of another kind, expired or revoked. The day of its use is written in the background.
	 */
	async find(kind: KeyKind, presented: string | null | undefined, waitUntil: WaitUntil): Promise<string | null> {
		return (await this.#find(kind, presented, waitUntil))?.ownerId ?? null;
	}

	/** The platform whose key this is, as it was stored within {@link KEY_KEPT_MS}; null as for {@link find}. */
	async findPlatform(presented: string, waitUntil: WaitUntil): Promise<PlatformSender | null> {
		return (await this.#find("platform_key", presented, waitUntil))?.sender ?? null;
	}

	/**
	 * The platform whose key this was within the hour: for when the database does not answer {@link findPlatform}, which then asks it no
	 * sooner than of a key that was read just now.
	 * @throws Error where none is known
	 */
	async trustPlatform(presented: string): Promise<PlatformSender | null> {
		const now = this.#now();
		const found = this.#trusted((await sha256(presented)).toHex(), now, new Error("the database did not answer in time"));
		if (found === null || found.kind !== "platform_key") return null;
		return found.expiresAt === null || found.expiresAt > now ? found.sender : null;
	}

	/**
	 * The platform whose key this was, where it is one that has ended: to be told of, and never to be trusted.
	 * @throws Error where the database cannot be read
	 */
	async findFormerPlatform(presented: string): Promise<string | null> {
		if (!POSSIBLE_KEY.test(presented) || hasWrongChecksum(presented)) return null;
		const now = this.#now();
		const found = await this.#read((await sha256(presented)).toHex(), now);
		if (found === null || found.kind !== "platform_key") return null;
		return found.expiresAt !== null && found.expiresAt <= now ? found.ownerId : null;
	}

	/** Who holds this operator key; null as for {@link find}. */
	async findOperator(presented: string, waitUntil: WaitUntil): Promise<Operator | null> {
		const found = await this.#find("operator_key", presented, waitUntil);
		return found === null || found.role === null ? null : { name: found.ownerId, role: found.role };
	}

	/**
	 * The platform whose key has this hash, by what is stored now, if the key was good at `at`; null as for {@link find}.
	 * @param hash lower-case hex
	 * @throws Error where the database cannot be read
	 */
	async findPlatformByHash(hash: string, at: number): Promise<PlatformSender | null> {
		const found = await this.#read(hash, this.#now());
		if (found === null || found.kind !== "platform_key") return null;
		return found.expiresAt === null || found.expiresAt > at ? found.sender : null;
	}

	/**
	 * Whether this may be a valid key, of whatever kind; false only where it is none. However many keys are asked for, that takes one query
	 * in {@link UNKNOWN_KEY_KEPT_MS}.
	 */
	async mayBeValid(presented: string): Promise<boolean> {
		if (!POSSIBLE_KEY.test(presented) || hasWrongChecksum(presented)) return false;
		const hash = (await sha256(presented)).toHex();
		const now = this.#now();
		if (this.#keptOf(hash, now) !== undefined) return true;
		try {
			return await this.#index.mayHave(hash, now);
		} catch (error) {
			logError("keys.index_unread", error);
			return true;
		}
	}

	async #find(kind: KeyKind, presented: string | null | undefined, waitUntil: WaitUntil): Promise<Found | null> {
		if (presented === null || presented === undefined || !POSSIBLE_KEY.test(presented)) return null;
		const recent = this.#recent.find(({ key }) => equalTexts(key, presented));
		let found = recent === undefined ? undefined : this.#keptOf(recent.hash, this.#now());
		if (found === undefined) {
			if (hasWrongChecksum(presented)) return null;
			const hash = await sha256(presented);
			const read = await this.#read(hash.toHex(), this.#now());
			if (read === null || !crypto.subtle.timingSafeEqual(Uint8Array.fromHex(read.hash), hash)) return null;
			const others = this.#recent.filter(({ hash }) => hash !== read.hash);
			this.#recent = [{ key: presented, hash: read.hash }, ...others.slice(0, MAX_RECENT - 1)];
			found = read;
		}
		const now = this.#now();
		if (found.kind !== kind || (found.expiresAt !== null && found.expiresAt <= now)) return null;
		const today = utcDay(now);
		const isOperators = kind === "operator_key" && now - (found.lastUsedAt ?? 0) >= USE_NOTED_MS;
		if (isOperators || found.lastUsedOn === null || found.lastUsedOn < today) {
			found.lastUsedOn = today;
			if (isOperators) found.lastUsedAt = now;
			waitUntil(isOperators ? this.#recordOperatorsUse(found.hash, today, now) : this.#recordUse(found.hash, today));
		}
		return found;
	}

	/** The publisher whose key this is, as it is stored now; null as for {@link find}. */
	async findPublisher(
		kind: Exclude<KeyKind, "platform_key" | "operator_key">,
		presented: string | null | undefined,
		waitUntil: WaitUntil,
	): Promise<Publisher | null> {
		const id = await this.find(kind, presented, waitUntil);
		return id === null ? null : this.publisherOf(id);
	}

	/** As it is stored now; null where there is none. */
	async publisherOf(id: string): Promise<Publisher | null> {
		const [publisher] = await this.#db.select().from(publishers).where(eq(publishers.id, id));
		return publisher ?? null;
	}

	/** Forgets everything: after a change of keys in this very isolate, which then holds at once. */
	forget(): void {
		this.#found.clear();
		this.#recent = [];
		this.#unknown.clear();
		this.#index.forget();
	}

	/** A key that was read so lately that it is not read again. */
	#keptOf(hash: string, now: number): Found | undefined {
		const known = this.#found.get(hash);
		return known !== undefined && now - known.readAt < KEY_KEPT_MS ? known : undefined;
	}

	async #read(hash: string, now: number): Promise<Found | null> {
		const kept = this.#keptOf(hash, now);
		if (kept !== undefined) return kept;
		const unknownSince = this.#unknown.get(hash);
		if (unknownSince !== undefined && now - unknownSince < UNKNOWN_KEY_KEPT_MS) return null;
		let found: Found | null;
		try {
			found = await this.#fetch(hash, now);
		} catch (error) {
			return this.#trusted(hash, now, error);
		}
		// What was asked later and is here already is the newer answer.
		const latest = this.#found.get(hash);
		if (latest !== undefined && latest.confirmedAt > now) return latest;
		if ((this.#unknown.get(hash) ?? now) > now) return null;
		this.#found.delete(hash);
		this.#unknown.delete(hash);
		if (found === null) {
			putBounded(this.#unknown, hash, now, MAX_UNKNOWN_KEPT);
			return null;
		}
		return putBounded(this.#found, hash, found, MAX_KEPT);
	}

	/** The key as it is stored. */
	async #fetch(hash: string, now: number): Promise<Found | null> {
		const [row] = await this.#db
			.select({ key: accessKeys, platform: platforms })
			.from(accessKeys)
			.leftJoin(platforms, and(eq(accessKeys.kind, "platform_key"), eq(platforms.id, accessKeys.ownerId)))
			.where(eq(accessKeys.hash, hash));
		return row === undefined ? null : { ...row.key, sender: toSender(row.key.ownerId, row.platform), readAt: now, confirmedAt: now };
	}

	/**
	 * The key by what other reads have found, where the one of `askedAt` failed. A platform's key that was good within the hour stays good:
	 * no conversion is refused for it.
	 * @throws the error where nothing is known
	 */
	#trusted(hash: string, askedAt: number, error: unknown): Found | null {
		// From now on, not from when it was asked: a database that does not answer takes longer to fail than a key is kept.
		const now = this.#now();
		const latest = this.#found.get(hash);
		const kept = this.#keptOf(hash, now);
		if (kept !== undefined) return kept;
		if (latest === undefined && (this.#unknown.get(hash) ?? askedAt) > askedAt) return null;
		if (latest?.kind !== "platform_key" || now - latest.confirmedAt > PLATFORM_KEY_TRUSTED_MS) throw error;
		logError("keys.unread", error);
		return putBounded(this.#found, hash, { ...latest, readAt: now }, MAX_KEPT);
	}

	async #recordUse(hash: string, day: string): Promise<void> {
		try {
			await this.#db
				.update(accessKeys)
				.set({ lastUsedOn: day })
				.where(and(eq(accessKeys.hash, hash), or(isNull(accessKeys.lastUsedOn), lt(accessKeys.lastUsedOn, day))));
		} catch (error) {
			logError("keys.use_not_recorded", error);
		}
	}

	async #recordOperatorsUse(hash: string, day: string, at: number): Promise<void> {
		try {
			await this.#db
				.update(accessKeys)
				.set({ lastUsedOn: day, lastUsedAt: at })
				.where(and(eq(accessKeys.hash, hash), or(isNull(accessKeys.lastUsedAt), lt(accessKeys.lastUsedAt, at))));
		} catch (error) {
			logError("keys.use_not_recorded", error);
		}
	}
}

function toSender(id: string, platform: typeof platforms.$inferSelect | null): PlatformSender {
	const { postbackSecret = null, sourceRanges = null, postbacksPerMinute = null } = platform ?? {};
	return { id, postbackSecret, sourceRanges: sourceRanges === null ? null : (JSON.parse(sourceRanges) as string[]), postbacksPerMinute };
}
