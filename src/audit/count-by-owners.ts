import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { AuditVerb } from "../lib/access-enums.ts";
import { leastIdAt } from "../lib/ids.ts";

/** How often a publisher's owners have done something to their publisher since a moment, Unix ms. */
export async function countByOwners(db: Database, publisherId: string, verb: AuditVerb, since: number): Promise<number> {
	const [counted] = await db.all<{ n: number }>(sql`SELECT count(*) AS n FROM audit
		WHERE subject_id = ${publisherId} AND id >= ${leastIdAt(since)} AND verb = ${verb} AND role = 'owner'`);
	return counted?.n ?? 0;
}
