/** Whether the network database has the schema that this code needs: a deployment does not see to that. */
import { type SQL, sql } from "drizzle-orm";
import { within } from "../lib/async.ts";
import { isAwayError } from "../lib/away.ts";
import { logError } from "../lib/log.ts";
import { SECOND_MS } from "../lib/time.ts";
import { type Database, isPostgres } from "./client.ts";
import { NEWEST_D1_MIGRATION, NEWEST_MIGRATION } from "./newest-migration.ts";

/** How long an answer holds. */
const KEPT_MS = 5 * SECOND_MS;
const TIMEOUT_MS = 2 * SECOND_MS;

/** Why the origin is not ready, as `/ready` says it. */
export type DatabaseFault = "database away" | "database not migrated";

/** Asks once in {@link KEPT_MS}, however many ask. */
export class SchemaCheck {
	readonly #db: Database;
	readonly #now: () => number;
	#fault: DatabaseFault | null = null;
	#checkedAt = Number.NEGATIVE_INFINITY;

	constructor(db: Database, now: () => number) {
		this.#db = db;
		this.#now = now;
	}

	/** Null where it is as it should be. */
	async findFault(): Promise<DatabaseFault | null> {
		if (this.#now() - this.#checkedAt < KEPT_MS) return this.#fault;
		const fault = await (isPostgres(this.#db)
			? within<DatabaseFault | null>(this.#readPostgres(), TIMEOUT_MS, "database away")
			: within<DatabaseFault | null>(this.#readD1(), TIMEOUT_MS, null));
		this.#fault = fault;
		this.#checkedAt = this.#now();
		return fault;
	}

	/** Whether D1 is there is not asked: bids go on without it. Of tables that wrangler did not make, nobody knows how old they are. */
	async #readD1(): Promise<DatabaseFault | null> {
		const applied = await this.#holds(sql`SELECT name FROM d1_migrations WHERE name = ${NEWEST_D1_MIGRATION}`);
		const isMigrated = applied ?? (await this.#holds(sql`SELECT id FROM book_state`)) ?? false;
		return isMigrated ? null : "database not migrated";
	}

	/** Whether there is a row; null where there is no such table. True where that cannot be told. */
	async #holds(rows: SQL): Promise<boolean | null> {
		try {
			return (await this.#db.all(rows)).length > 0;
		} catch (error) {
			const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
			if (cause instanceof Error && cause.message.includes("no such table")) return null;
			logError("database.not_ready", cause);
			return true;
		}
	}

	async #readPostgres(): Promise<DatabaseFault | null> {
		try {
			const [row] = await this.#db.all(sql`SELECT name FROM applied_migrations WHERE name = ${NEWEST_MIGRATION}`);
			return row === undefined ? "database not migrated" : null;
		} catch (error) {
			logError("database.not_ready", error);
			return isAwayError(error) ? "database away" : "database not migrated";
		}
	}
}
