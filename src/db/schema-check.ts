/** Whether the network database has the schema that this code needs: a deployment does not see to that. */
import { sql } from "drizzle-orm";
import { within } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
import { SECOND_MS } from "../lib/time.ts";
import { type Database, isPostgres } from "./client.ts";
import { NEWEST_D1_MIGRATION, NEWEST_MIGRATION } from "./newest-migration.ts";
import { isAwayError } from "./overtaken.ts";

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
		try {
			const tables = await this.#db.all<{ name: string }>(
				sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('book_state', 'd1_migrations')`,
			);
			const has = (table: string) => tables.some(({ name }) => name === table);
			if (!has("book_state")) return "database not migrated";
			if (!has("d1_migrations")) return null;
			const [row] = await this.#db.all(sql`SELECT name FROM d1_migrations WHERE name = ${NEWEST_D1_MIGRATION}`);
			return row === undefined ? "database not migrated" : null;
		} catch (error) {
			logError("database.not_ready", error instanceof Error && error.cause instanceof Error ? error.cause : error);
			return null;
		}
	}

	async #readPostgres(): Promise<DatabaseFault | null> {
		try {
			const [row] = await this.#db.all(sql`SELECT name FROM applied_migrations WHERE name = ${NEWEST_MIGRATION}`);
			return row === undefined ? "database not migrated" : null;
		} catch (error) {
			const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
			logError("database.not_ready", cause);
			return isAwayError(cause) ? "database away" : "database not migrated";
		}
	}
}
