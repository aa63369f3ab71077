/** How full a database is. D1 holds 10 GB; one that is full takes no more writes, and rows that are deleted do not shrink it. */
import { sql } from "drizzle-orm";
import { SIZE_ALERTS, type SizeAlert } from "../lib/enums.ts";
import { logError } from "../lib/log.ts";
import { type Database, isPostgres } from "./client.ts";

/** What D1 holds, in bytes. */
const MAX_DATABASE_BYTES = 10_000_000_000;

/** Bytes of a database; null where the platform does not tell. */
export async function readSize(db: Database): Promise<number | null> {
	if (isPostgres(db)) return (await db.all<{ bytes: number }>(sql`SELECT pg_database_size(current_database()) AS bytes`))[0]?.bytes ?? null;
	const { meta } = await db.run(sql`SELECT 1 AS one`);
	return typeof meta.size_after === "number" ? meta.size_after : null;
}

/** The highest of {@link SIZE_ALERTS} that a database of D1 has reached, or null. */
export function sizeAlertOf(bytes: number | null, maxBytes = MAX_DATABASE_BYTES): SizeAlert | null {
	return SIZE_ALERTS.findLast((percent) => bytes !== null && bytes >= (maxBytes * percent) / 100) ?? null;
}

/**
 * Tells in the log how full databases are, from the first of {@link SIZE_ALERTS} on.
 * @param isHourly whether the lower alerts are told too: the last one is told each time
 */
export async function warnOfSize(
	databases: Readonly<Record<string, Database>>,
	isHourly: boolean,
	maxBytes = MAX_DATABASE_BYTES,
): Promise<void> {
	for (const [database, db] of Object.entries(databases)) {
		if (isPostgres(db)) continue;
		const bytes = await readSize(db);
		const alert = sizeAlertOf(bytes, maxBytes);
		if (alert === null || !(isHourly || alert === SIZE_ALERTS.at(-1))) continue;
		logError("database.filling", new Error(`over ${alert} % full: when it is full, nothing more is written`), {
			database,
			bytes,
			percent: alert,
		});
	}
}
