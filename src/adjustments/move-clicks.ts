/**
 * Takes clicks out of all that counts them, or puts them back: one chunk in one transaction. What is moved is decided by the database in
 * that transaction: a click that another adjustment was faster with, or that is moved already, changes nothing.
 */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { renewDigests } from "../db/digests-of-days.ts";
import { namedCells, writeCells } from "../db/json-rows.ts";
import { isConstraintError, OvertakenError } from "../db/overtaken.ts";
import { NUMBER, TAKE_NUMBER } from "../db/report-sequence.ts";
import { moveLearnedClicks } from "../learning-rows/move-clicks.ts";

/** A click with the days that count it: in UTC, and on the clocks of its campaign. */
export type ChunkRow = { id: string; publisherId: string | null; date: string; day: string };

export type Move = {
	/** The adjustment that moves them: its totals grow. */
	adjustmentId: string;
	/** The one that takes, or took, the clicks back. */
	voidId: string;
	chunk: readonly ChunkRow[];
	/** How far the adjustment has then come. */
	cursor: string;
};

const CELLS = ["id", "date", "day"] as const;
const cell = namedCells(CELLS, sql`chunk.value`);

type Signed = {
	/** -1 where they are taken out. */
	sign: 1 | -1;
	/** Which clicks of the chunk are moved: a condition on `clicks c`. */
	moved: SQL;
	count: SQL;
	revenue: SQL;
	bids: SQL;
	gross: SQL;
	/** In the network's sums: what leaves paid clicks counts with voided ones, and the other way round. */
	voided: SQL;
	/** What becomes of the clicks and of their visits. */
	effects: readonly SQL[];
};

/** Takes paid clicks back: their `revenue_micros` stay, and are counted nowhere. @throws OvertakenError where the adjustment has ended */
export function voidClicks(db: Database, move: Move): Promise<void> {
	const ids = idsOf(move);
	return write(db, move, {
		sign: -1,
		moved: sql`c.reason IS NULL`,
		count: sql`-count(*)`,
		revenue: sql`-sum(c.revenue_micros)`,
		bids: sql`-sum(c.bid_micros)`,
		gross: sql`-sum(coalesce(c.gross_micros, c.bid_micros))`,
		voided: sql`count(*)`,
		effects: [
			sql`UPDATE clicks SET reason = 'voided', voided_by = ${move.voidId}, sequence = ${NUMBER}
				WHERE id IN (${ids}) AND reason IS NULL`,
			sql`UPDATE paid_visits SET voided_by = ${move.voidId} WHERE click_id IN (${ids}) AND voided_by IS NULL
				AND click_id IN (SELECT c.id FROM clicks c WHERE c.id IN (${ids}) AND c.voided_by = ${move.voidId})`,
		],
	});
}

/** Gives clicks back that an adjustment took. @throws OvertakenError where the undoing adjustment has ended */
export function restoreClicks(db: Database, move: Move): Promise<void> {
	const ids = idsOf(move);
	return write(db, move, {
		sign: 1,
		moved: sql`c.reason = 'voided' AND c.voided_by = ${move.voidId}`,
		count: sql`count(*)`,
		revenue: sql`sum(c.revenue_micros)`,
		bids: sql`sum(c.bid_micros)`,
		gross: sql`sum(coalesce(c.gross_micros, c.bid_micros))`,
		voided: sql`-count(*)`,
		effects: [
			sql`UPDATE paid_visits SET voided_by = NULL WHERE click_id IN (${ids}) AND voided_by = ${move.voidId}`,
			sql`UPDATE clicks SET reason = NULL, voided_by = NULL, sequence = ${NUMBER}
				WHERE id IN (${ids}) AND reason = 'voided' AND voided_by = ${move.voidId}`,
		],
	});
}

function idsOf({ chunk }: Move): SQL {
	return sql`SELECT atom FROM json_each(${JSON.stringify(chunk.map(({ id }) => id))})`;
}

async function write(
	db: Database,
	{ adjustmentId, chunk, cursor }: Move,
	{ sign, moved, count, revenue, bids, gross, voided, effects }: Signed,
): Promise<void> {
	const chunkOfClicks = sql`json_each(${writeCells(CELLS, chunk)}) chunk CROSS JOIN clicks c`;
	const clicks = sql`FROM ${chunkOfClicks} WHERE c.id = ${cell.id} AND ${moved}`;
	const ofNetwork = sql`${cell.date}, c.campaign_id, coalesce(c.publisher_id, ''), c.brand_id, coalesce(c.platform, ''), coalesce(c.country, ''), c.kind`;
	const ofPublishers = sql`${clicks} AND c.publisher_id IS NOT NULL`;
	const statements = [
		// What the consumer is deciding now rests on sums that change here.
		sql`UPDATE click_sequence SET version = version + 1 WHERE id = 1`,
		...moveLearnedClicks(sign, chunkOfClicks, sql`c.id = ${cell.id} AND ${moved}`),
		sql`INSERT INTO daily_publishers (publisher_id, date, click_count, click_revenue_micros)
			SELECT c.publisher_id, ${cell.date}, ${count}, ${revenue} ${ofPublishers} GROUP BY c.publisher_id, ${cell.date}
			ON CONFLICT (publisher_id, date) DO UPDATE SET click_count = daily_publishers.click_count + excluded.click_count,
				click_revenue_micros = daily_publishers.click_revenue_micros + excluded.click_revenue_micros`,
		sql`INSERT INTO daily_sources (publisher_id, date, source_id, click_count, click_revenue_micros)
			SELECT c.publisher_id, ${cell.date}, coalesce(c.source_id, ''), ${count}, ${revenue} ${ofPublishers}
			GROUP BY c.publisher_id, ${cell.date}, coalesce(c.source_id, '')
			ON CONFLICT (publisher_id, date, source_id) DO UPDATE SET click_count = daily_sources.click_count + excluded.click_count,
				click_revenue_micros = daily_sources.click_revenue_micros + excluded.click_revenue_micros`,
		sql`INSERT INTO campaign_days (campaign_id, day, click_count, spend_micros, gross_micros)
			SELECT c.campaign_id, ${cell.day}, ${count}, ${bids}, ${gross} ${clicks} GROUP BY c.campaign_id, ${cell.day}
			ON CONFLICT (campaign_id, day) DO UPDATE SET click_count = campaign_days.click_count + excluded.click_count,
				spend_micros = campaign_days.spend_micros + excluded.spend_micros,
				gross_micros = campaign_days.gross_micros + excluded.gross_micros`,
		sql`INSERT INTO campaign_totals (campaign_id, click_count, spend_micros, gross_micros)
			SELECT c.campaign_id, ${count}, ${bids}, ${gross} ${clicks}
				AND EXISTS (SELECT 1 FROM campaign_totals t WHERE t.campaign_id = c.campaign_id) GROUP BY c.campaign_id
			ON CONFLICT (campaign_id) DO UPDATE SET click_count = campaign_totals.click_count + excluded.click_count,
				spend_micros = campaign_totals.spend_micros + excluded.spend_micros,
				gross_micros = campaign_totals.gross_micros + excluded.gross_micros`,
		sql`INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason,
				click_count, click_gross_micros, click_revenue_micros)
			SELECT ${ofNetwork}, '', ${count}, ${gross}, ${revenue} ${clicks} GROUP BY ${ofNetwork}
			ON CONFLICT (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason) DO UPDATE SET
				click_count = daily_network.click_count + excluded.click_count,
				click_gross_micros = daily_network.click_gross_micros + excluded.click_gross_micros,
				click_revenue_micros = daily_network.click_revenue_micros + excluded.click_revenue_micros`,
		sql`INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason, click_count)
			SELECT ${ofNetwork}, 'voided', ${voided} ${clicks} GROUP BY ${ofNetwork}
			ON CONFLICT (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason) DO UPDATE SET
				click_count = daily_network.click_count + excluded.click_count`,
		renewDigests(chunk),
		// Null, which its column refuses, where the adjustment has ended meanwhile.
		sql`UPDATE adjustments SET clicks = CASE WHEN cursor IS NOT NULL THEN clicks + (SELECT count(*) ${clicks}) END,
			publisher_revenue_micros = publisher_revenue_micros + (SELECT coalesce(${revenue}, 0) ${clicks}), cursor = ${cursor}
			WHERE id = ${adjustmentId}`,
		TAKE_NUMBER,
		// For pages of reports that began before.
		sql`INSERT INTO click_history (sequence, until_sequence, click_id, publisher_id, clicked_at, revenue_micros, reason)
			SELECT c.sequence, ${NUMBER}, c.id, c.publisher_id, c.clicked_at, c.revenue_micros, c.reason ${ofPublishers} AND c.pricing_model = 'CPC'`,
		...effects,
	];
	try {
		await runTransaction(db, statements);
	} catch (error) {
		if (isConstraintError(error)) throw new OvertakenError("the adjustment may have ended", { cause: error });
		throw error;
	}
}
