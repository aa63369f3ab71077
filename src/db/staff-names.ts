/** Whom the audit may name of those who run the network. */
import { sql } from "drizzle-orm";
import type { Database } from "./client.ts";

/** Names of all operator keys and of the staff in the console, also of those that have ended. */
export async function readStaffNames(db: Database): Promise<string[]> {
	const rows = await db.all<{ name: string }>(sql`SELECT owner_id AS name FROM access_keys WHERE kind = 'operator_key'
		UNION SELECT name FROM console_people WHERE publisher_id IS NULL ORDER BY name`);
	return rows.map(({ name }) => name);
}
