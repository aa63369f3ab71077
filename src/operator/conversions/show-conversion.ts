/** One conversion with its history, its click, the postbacks that named it, and what operators did to it. */
import { sql } from "drizzle-orm";
import type { ConversionKey } from "../../conversions/conversion.ts";
import { showWithHistory } from "../../conversions/show-history.ts";
import { type ClickRow, type ConversionRow, type PostbackRow, showClick, showPostback } from "../../conversions/show-rows.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import type { StoredRow } from "../../db/json-rows.ts";
import type { adjustments } from "../../db/schema/adjustments.ts";
import { isoTime } from "../../lib/time.ts";
import type { ShownConversionAnswer } from "./conversions-answers.ts";

const MAX_POSTBACKS = 100;

type AdjustmentRow = StoredRow<typeof adjustments> & { undone_by: string | null };

/** Null where there is no such conversion. */
export async function showConversionOf(db: Database, { platform, txnid }: ConversionKey): Promise<ShownConversionAnswer | null> {
	const [found, clicks, postbacks] = await runTransaction(db, [
		sql`SELECT * FROM conversions WHERE platform = ${platform} AND txnid = ${txnid}`,
		sql`SELECT c.*, b.domain AS domain FROM clicks c LEFT JOIN brands b ON b.id = c.brand_id
			WHERE c.id = (SELECT click_id FROM conversions WHERE platform = ${platform} AND txnid = ${txnid})`,
		sql`SELECT * FROM postback_intake WHERE txnid = ${txnid} AND platform = ${platform} ORDER BY id DESC LIMIT ${MAX_POSTBACKS}`,
	]);
	const rows = (found?.results ?? []) as ConversionRow[];
	const [conversion] = await showWithHistory(db, rows);
	if (conversion === undefined) return null;
	const [click] = (clicks?.results ?? []) as ClickRow[];
	const causes = JSON.stringify(conversion.events.map(({ adjustment }) => adjustment).filter((id) => id !== undefined));
	const did = await db.all<AdjustmentRow>(sql`SELECT a.*, (SELECT u.id FROM adjustments u WHERE u.undoes = a.id) AS undone_by
		FROM json_each(${causes}) j CROSS JOIN adjustments a WHERE a.id = j.atom ORDER BY a.at, a.id`);
	return {
		conversion,
		click: click === undefined ? null : showClick(click),
		postbacks: ((postbacks?.results ?? []) as PostbackRow[]).toReversed().map(showPostback),
		adjustments: did.map(({ id, kind, actor, at, text, undone_by }) => ({ id, kind, actor, at: isoTime(at), text, undone_by })),
	};
}
