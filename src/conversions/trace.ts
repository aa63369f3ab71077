/** "Where is my sale?": everything that is known of a click id or transaction id, from the click to the last callback attempt. */
import { sql } from "drizzle-orm";
import { newestOfAnyId } from "../db/clicks-of-hash.ts";
import type { Database } from "../db/client.ts";
import { normaliseClickId } from "../lib/click-id.ts";
import { showWithHistory } from "./show-history.ts";
import { type ClickRow, type ConversionRow, type PostbackRow, showClick, showPostback } from "./show-rows.ts";
import type { Trace } from "./trace-answer.ts";

/** Most rows of a kind that a trace shows, the newest; a publisher click id of thousands of clicks is not one sale. */
const MAX_ROWS = 100;
/** The newest clicks of an id whose conversions are looked for. */
const MAX_CLICKS = 1_000;

/** @param id a click hash (any case), the id of its row, a publisher's click id, a transaction id of any platform, or the request id of a postback */
export async function traceConversion(db: Database, id: string): Promise<Trace> {
	// As it is written, for transaction ids, and as click ids are read.
	const clickId = normaliseClickId(id) ?? id;
	const spellings = JSON.stringify([...new Set([id, clickId, clickId.toLowerCase(), clickId.toUpperCase()])]);
	const ids = sql`(SELECT atom FROM json_each(${spellings}))`;
	const found = await db.all<ConversionRow>(sql`SELECT v.* FROM (
			SELECT platform, txnid FROM conversions WHERE platform IN (SELECT id FROM platforms) AND txnid = ${id}
			UNION SELECT platform, txnid FROM conversions WHERE cid IN ${ids}
			UNION SELECT platform, txnid FROM conversions WHERE click_id IN (${newestOfAnyId(id, MAX_CLICKS)})
			UNION SELECT platform, txnid FROM postback_intake WHERE id = ${id}
			UNION SELECT platform, txnid FROM postback_intake WHERE cid IN ${ids} AND outcome = 'accepted'
		) k CROSS JOIN conversions v WHERE v.platform = k.platform AND v.txnid = k.txnid
		ORDER BY first_received_at DESC LIMIT ${MAX_ROWS}`);
	const keys = JSON.stringify(found.map(({ platform, txnid }) => ({ platform, txnid })));
	const isOfKeys = sql`t.platform = k.value ->> 'platform' AND t.txnid = k.value ->> 'txnid'`;
	const clickIds = JSON.stringify(found.map(({ click_id }) => click_id).filter((clickId) => clickId !== null));
	const [clicksFound, postbacks, conversions] = await Promise.all([
		db.all<ClickRow>(sql`SELECT c.*, b.domain AS domain FROM clicks c LEFT JOIN brands b ON b.id = c.brand_id
			WHERE c.id IN (SELECT id FROM (${newestOfAnyId(id, MAX_ROWS)}) n UNION SELECT atom FROM json_each(${clickIds})) ORDER BY c.id DESC LIMIT ${MAX_ROWS}`),
		// Rejected ones name no conversion: they are found by what they said.
		db.all<PostbackRow>(sql`SELECT * FROM postback_intake WHERE id IN (
				SELECT id FROM postback_intake WHERE txnid = ${id}
				UNION SELECT id FROM postback_intake WHERE cid IN ${ids}
				UNION SELECT id FROM postback_intake WHERE id = ${id}
				UNION SELECT t.id FROM json_each(${keys}) k CROSS JOIN postback_intake t WHERE ${isOfKeys})
			ORDER BY id DESC LIMIT ${MAX_ROWS}`),
		showWithHistory(db, found),
	]);
	return {
		id,
		truncated: [clicksFound, postbacks, found].some(({ length }) => length === MAX_ROWS),
		clicks: clicksFound.toReversed().map(showClick),
		postbacks: postbacks.toReversed().map(showPostback),
		conversions: conversions.toReversed(),
	};
}
