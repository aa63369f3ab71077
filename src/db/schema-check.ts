/** Whether a PostgreSQL database has the schema that this code needs. On D1 the deployment sees to that. */
import { sql } from "drizzle-orm";
import { within } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
import { SECOND_MS } from "../lib/time.ts";
import type { Database } from "./client.ts";
import { NEWEST_MIGRATION } from "./newest-migration.ts";
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
		const fault = await within<DatabaseFault | null>(this.#read(), TIMEOUT_MS, "database away");
		this.#fault = fault;
		this.#checkedAt = this.#now();
		return fault;
	}

	async #read(): Promise<DatabaseFault | null> {
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
