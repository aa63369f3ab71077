import type { SQL } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";

/** Runs statements in one transaction; none at all is nothing to do. */
export async function runStatements(db: Database, statements: readonly SQL[]): Promise<void> {
	if (statements.length > 0) await runTransaction(db, statements);
}
