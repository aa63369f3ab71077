import { type SQL, sql } from "drizzle-orm";
import { normaliseClickId } from "../lib/click-id.ts";
import type { Database } from "./client.ts";

/** The ids of a hash's clicks. Two indexes share them: the billed one is in the unique index, others are in clicks_by_hash. */
export function clicksOfHash(hash: string): SQL {
	return sql`SELECT id FROM clicks WHERE click_hash = ${hash} AND (reason IS NULL OR reason = 'voided')
		UNION ALL SELECT id FROM clicks WHERE click_hash = ${hash} AND reason <> 'voided'`;
}

/** The ids of an id's clicks, whoever's: a publisher's own click id, a click hash in any letter case, or the id of the row. */
export function clicksOfAnyId(id: string): SQL {
	return sql.join(withAnyId(id), sql` UNION `);
}

/**
 * The newest ids of an id's clicks, in no order: a publisher may give all its clicks one id.
 * @param range of ids, a condition
 */
export function newestOfAnyId(id: string, most: number, range = sql`true`): SQL {
	const newest = withAnyId(id).map((some) => sql`SELECT id FROM (${some} AND ${range} ORDER BY id DESC LIMIT ${most}) s`);
	return sql`SELECT id FROM (${sql.join(newest, sql` UNION `)}) a ORDER BY id DESC LIMIT ${most}`;
}

/** Whether more than so many clicks have an id, whoever's. */
export async function haveMoreAnId(db: Database, id: string, most: number): Promise<boolean> {
	const some = withAnyId(id).map((clicks) => sql`SELECT id FROM (${clicks} LIMIT ${most + 1}) s`);
	const [more] = await db.all(sql`SELECT id FROM (${sql.join(some, sql` UNION ALL `)}) a LIMIT 1 OFFSET ${most}`);
	return more !== undefined;
}

/** Whether a click `c` has an id: a condition. */
export function hasAnyId(id: string): SQL {
	const clickId = normaliseClickId(id) ?? id;
	return sql`(c.click_hash = ${clickId.toLowerCase()} OR c.publisher_click_id IN (${id}, ${clickId}) OR c.id = ${clickId.toLowerCase()})`;
}

/** Whether a conversion `v` has an id, its own or that of its click, of whose redirects so many are looked at: a condition. */
export function isOfAnyId(id: string, most: number): SQL {
	const clickId = normaliseClickId(id) ?? id;
	const ofHash = sql`SELECT id FROM (${clicksOfHash(clickId.toLowerCase())} LIMIT ${most}) s`;
	return sql`(v.txnid = ${id} OR v.publisher_click_id IN (${id}, ${clickId}) OR v.click_id = ${clickId.toLowerCase()} OR v.click_id IN (${ofHash}))`;
}

/** Selections that each end with a condition: each is read from an index of its own, in the order of ids. */
function withAnyId(id: string): SQL[] {
	const clickId = normaliseClickId(id) ?? id;
	const spellings = [...new Set([id, clickId])];
	return [
		sql`SELECT id FROM clicks WHERE click_hash = ${clickId.toLowerCase()} AND (reason IS NULL OR reason = 'voided')`,
		sql`SELECT id FROM clicks WHERE click_hash = ${clickId.toLowerCase()} AND reason <> 'voided'`,
		...spellings.map((spelling) => sql`SELECT id FROM clicks WHERE publisher_click_id = ${spelling}`),
		sql`SELECT id FROM clicks WHERE id = ${clickId.toLowerCase()}`,
	];
}
