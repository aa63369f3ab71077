import { type SQL, sql } from "drizzle-orm";
import { normaliseClickId } from "../lib/click-id.ts";

/** The ids of a hash's clicks. Two indexes share them: the billed one is in the unique index, others are in clicks_by_hash. */
export function clicksOfHash(hash: string): SQL {
	return sql`SELECT id FROM clicks WHERE click_hash = ${hash} AND (reason IS NULL OR reason = 'voided')
		UNION ALL SELECT id FROM clicks WHERE click_hash = ${hash} AND reason <> 'voided'`;
}

/** The ids of an id's clicks, whoever's: a publisher's own click id, a click hash in any letter case, or the id of the row. */
export function clicksOfAnyId(id: string): SQL {
	const clickId = normaliseClickId(id) ?? id;
	return sql`${clicksOfHash(clickId.toLowerCase())}
		UNION SELECT id FROM clicks WHERE publisher_click_id IN (${id}, ${clickId})
		UNION SELECT id FROM clicks WHERE id = ${clickId.toLowerCase()}`;
}
