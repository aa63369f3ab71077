import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import type { PostgresDatabase } from "./postgres.ts";

/** A database as the parts use it. */
export type Database = DrizzleD1Database & { $client: D1Database };

/** Whether statements run on PostgreSQL: for what D1 has nothing like. */
export function isPostgres(db: Database): boolean {
	return isPostgresClient(db.$client);
}

export function isPostgresClient(client: D1Database): client is PostgresDatabase {
	return "isPostgres" in client && client.isPostgres === true;
}

/** @param binding D1, or what stands for it */
export function openDatabase(binding: D1Database): Database {
	return drizzle(binding);
}

const dialect = new SQLiteAsyncDialect();

/**
 * Runs statements in one transaction, all or none. drizzle's own `batch()` takes no plain SQL on D1, and `transaction()` does
 * not work there at all.
 */
export async function runTransaction(db: Database, statements: readonly SQLWrapper[]): Promise<D1Result[]> {
	return db.$client.batch(prepareAll(db, statements));
}

/**
 * A transaction whose first statements, `ahead`, run on PostgreSQL before it takes its turn, so that others need not wait for them. They
 * write nothing that a statement within a turn waits for: rows of their own, that nobody else changes before they are committed.
 */
export function runPartlyAhead(
	client: D1Database,
	ahead: readonly D1PreparedStatement[],
	rest: readonly D1PreparedStatement[],
): Promise<D1Result[]> {
	const statements = [...ahead, ...rest];
	return isPostgresClient(client) ? client.batch(statements, { ahead: ahead.length }) : client.batch(statements);
}

/** Reads together, all of it by keys. */
export function readByKeys(client: D1Database, statements: D1PreparedStatement[]): Promise<D1Result[]> {
	return isPostgresClient(client) ? client.batch(statements, { byKeys: true }) : client.batch(statements);
}

/** A transaction for what is no request's everyday work: D1 gives a batch 30 s in any case, PostgreSQL gives this one two minutes. */
export async function runLongTransaction(db: Database, statements: readonly SQLWrapper[]): Promise<D1Result[]> {
	const client = db.$client;
	const prepared = prepareAll(db, statements);
	return isPostgresClient(client) ? client.batch(prepared, { isLong: true }) : client.batch(prepared);
}

/** Runs a statement that keeps the tables in order: it may take as long, and others write meanwhile. */
export async function runUpkeep<Row>(db: Database, statement: SQL): Promise<Row[]> {
	const client = db.$client;
	const [prepared] = prepareAll(db, [statement]);
	if (prepared === undefined) return [];
	return (await (isPostgresClient(client) ? client.upkeep<Row>(prepared) : prepared.all<Row>())).results;
}

function prepareAll(db: Database, statements: readonly SQLWrapper[]): D1PreparedStatement[] {
	return statements.map((statement) => {
		const query = dialect.sqlToQuery(sql`${statement.getSQL()}`);
		return db.$client.prepare(query.sql).bind(...query.params);
	});
}

/**
 * The text of a statement whose parameters are numbered (`?1`), for `prepare` of the client: one that runs a hundred times a second is
 * written out once, since building it again costs more than most of its run.
 * @throws where a value is bound in it
 */
export function textOf(statement: SQL): string {
	const { sql: text, params } = dialect.sqlToQuery(statement);
	if (params.length > 0) throw new Error("a statement that is written out once binds no values");
	return text;
}
