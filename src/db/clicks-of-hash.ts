import { type SQL, sql } from "drizzle-orm";

/** The ids of a hash's clicks. Two indexes share them: the billed one is in the unique index, others are in clicks_by_hash. */
export function clicksOfHash(hash: string): SQL {
	return sql`SELECT id FROM clicks WHERE click_hash = ${hash} AND (reason IS NULL OR reason = 'voided')
		UNION ALL SELECT id FROM clicks WHERE click_hash = ${hash} AND reason <> 'voided'`;
}
