import { sql } from "drizzle-orm";

/** Of the repairs that had been made when something was read. */
export const VERSION = sql`SELECT version FROM reconciliation WHERE id = 1`;

export function versionOf([row]: { version: number }[]): number {
	if (row === undefined) throw new Error("reconciliation has no row: the migrations did not run");
	return row.version;
}
