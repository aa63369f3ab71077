/** Postbacks of platforms that were refused: which of them are still open. */
import { type SQL, sql } from "drizzle-orm";
import { leastIdAt } from "../../lib/ids.ts";

/**
 * What follows FROM: postbacks `i` of platforms `p` that were neither replayed since, nor sent again in order.
 * @param fromAt    received then or later, Unix milliseconds
 * @param isPlatform a condition on `p`
 * @param most      of each platform the newest this many are looked at
 */
export function openRefused(fromAt: number, isPlatform: SQL, most: number): SQL {
	return sql`platforms p CROSS JOIN postback_intake i
		WHERE ${isPlatform} AND i.id IN (SELECT r.id FROM postback_intake r
			WHERE r.outcome <> 'accepted' AND r.platform = p.id AND r.id >= ${leastIdAt(fromAt)} ORDER BY r.id DESC LIMIT ${most})
		AND NOT EXISTS (SELECT 1 FROM postback_intake a WHERE a.id > i.id || '~' AND a.id < i.id || '~~')
		AND NOT EXISTS (SELECT 1 FROM postback_intake a WHERE a.txnid = i.txnid AND a.platform = i.platform AND a.outcome = 'accepted' AND a.id > i.id)`;
}
