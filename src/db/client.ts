import { type SQLWrapper, sql } from "drizzle-orm";
import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";

/** A database as the parts use it. */
export type Database = DrizzleD1Database & { $client: D1Database };

export function openDatabase(binding: D1Database): Database {
	return drizzle(binding);
}

const dialect = new SQLiteAsyncDialect();

/**
 * Runs statements in one transaction, all or none. drizzle's own `batch()` takes no plain SQL on D1, and `transaction()` does
 * not work there at all.
 */
export async function runTransaction(db: Database, statements: readonly SQLWrapper[]): Promise<D1Result[]> {
	const prepared = statements.map((statement) => {
		const query = dialect.sqlToQuery(sql`${statement.getSQL()}`);
		return db.$client.prepare(query.sql).bind(...query.params);
	});
	return db.$client.batch(prepared);
}
