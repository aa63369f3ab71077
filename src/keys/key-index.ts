/**
 * Beginnings of the hashes of all valid keys, so that many unknown keys cost one query together: what is not among them is no key. It is
 * read only while an address keeps guessing.
 */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { SECOND_MS } from "../lib/time.ts";

/** Characters of a hash: of 20,000 keys, one guess in ten thousand million has the beginning of one, and is looked up then. */
const BEGINNING = 12;
/** How long one request reads while the others take what was read before. */
const READING_MS = SECOND_MS;

export class KeyIndex {
	readonly #db: Database;
	readonly #keptMs: number;
	#beginnings: ReadonlySet<string> | null = null;
	#readAt = Number.NEGATIVE_INFINITY;
	#readingSince = Number.NEGATIVE_INFINITY;

	/** @param keptMs how long a key that was issued meanwhile may be missing */
	constructor(db: Database, keptMs: number) {
		this.#db = db;
		this.#keptMs = keptMs;
	}

	/** Whether a valid key may have this hash. @param hash lower-case hex @throws Error where the database cannot be read */
	async mayHave(hash: string, now: number): Promise<boolean> {
		const isUsable = now - this.#readAt < this.#keptMs || now - this.#readingSince < READING_MS;
		const beginnings = (isUsable ? this.#beginnings : null) ?? (await this.#read(now));
		return beginnings.has(hash.slice(0, BEGINNING));
	}

	/** After a change of keys in this very isolate, which then holds at once. */
	forget(): void {
		this.#beginnings = null;
	}

	async #read(now: number): Promise<ReadonlySet<string>> {
		this.#readingSince = now;
		const rows = await this.#db.all<{ beginning: string }>(
			sql`SELECT substr(hash, 1, ${BEGINNING}) AS beginning FROM access_keys WHERE expires_at IS NULL OR expires_at > ${now}`,
		);
		this.#beginnings = new Set(rows.map(({ beginning }) => beginning));
		this.#readAt = now;
		return this.#beginnings;
	}
}
