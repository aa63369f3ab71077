/**
 * The SQL of a batch of clicks: constant text with numbered parameters, for it runs a hundred times a second and building it anew
 * would cost more than most of it takes. All of it is one transaction.
 */

/**
 * ?1 rows as a JSON array of arrays, in the order of `toRows`; ?2 the delivery's id. A click is a duplicate where its hash is billed
 * already by another row; those of one batch were told apart before.
 */
const INSERT_CLICKS = `INSERT INTO clicks (
		id, click_hash, kind, reason, clicked_at, publisher_id, brand_id, campaign_id, platform, publisher_click_id, source_id,
		subi, psorc, pcat, subid1, subid2, subid3, subid4, subid5, uid, atag,
		bid_micros, revenue_micros, pricing_model, country, ip_prefix, user_agent_hash, written_by)
	SELECT value ->> 0, value ->> 1, value ->> 2,
		CASE WHEN value ->> 3 IS NULL AND EXISTS (
			SELECT 1 FROM clicks old WHERE old.click_hash = value ->> 1 AND old.reason IS NULL AND old.id <> value ->> 0
		) THEN 'duplicate' ELSE value ->> 3 END,
		value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10,
		value ->> 11, value ->> 12, value ->> 13, value ->> 14, value ->> 15, value ->> 16, value ->> 17, value ->> 18, value ->> 19,
		value ->> 20, value ->> 21,
		CASE WHEN value ->> 3 IS NULL AND value ->> 22 = 'CPC' AND NOT EXISTS (
			SELECT 1 FROM clicks old WHERE old.click_hash = value ->> 1 AND old.reason IS NULL AND old.id <> value ->> 0
		) THEN value ->> 21 ELSE 0 END,
		value ->> 22, value ->> 23, value ->> 24, value ->> 25, ?2
	FROM json_each(?1) WHERE true
	ON CONFLICT (id) DO NOTHING`;

/**
 * The billed rows that this very delivery has written. ?1 is a JSON array of [id, UTC day, day of the campaign, slot of its rate],
 * ?2 the delivery's id.
 */
const WRITTEN = `json_each(?1) day CROSS JOIN clicks c ON c.id = day.value ->> 0 AND c.written_by = ?2 AND c.reason IS NULL`;

const COUNT = "click_count = click_count + excluded.click_count";
const AND_REVENUE = `${COUNT}, click_revenue_micros = click_revenue_micros + excluded.click_revenue_micros`;
const AND_SPEND = `${COUNT}, spend_micros = spend_micros + excluded.spend_micros`;

const COUNTERS = [
	`INSERT INTO daily_publishers (publisher_id, date, click_count, click_revenue_micros)
		SELECT c.publisher_id, day.value ->> 1, count(*), sum(c.revenue_micros) FROM ${WRITTEN} WHERE c.publisher_id IS NOT NULL GROUP BY 1, 2
		ON CONFLICT (publisher_id, date) DO UPDATE SET ${AND_REVENUE}`,
	`INSERT INTO daily_sources (publisher_id, date, source_id, click_count, click_revenue_micros)
		SELECT c.publisher_id, day.value ->> 1, coalesce(c.source_id, ''), count(*), sum(c.revenue_micros)
		FROM ${WRITTEN} WHERE c.publisher_id IS NOT NULL GROUP BY 1, 2, 3
		ON CONFLICT (publisher_id, date, source_id) DO UPDATE SET ${AND_REVENUE}`,
	`INSERT INTO daily_campaigns (campaign_id, brand_id, publisher_id, date, click_count, click_revenue_micros)
		SELECT c.campaign_id, c.brand_id, c.publisher_id, day.value ->> 1, count(*), sum(c.revenue_micros)
		FROM ${WRITTEN} WHERE c.publisher_id IS NOT NULL GROUP BY 1, 2, 3, 4
		ON CONFLICT (campaign_id, date, publisher_id, brand_id) DO UPDATE SET ${AND_REVENUE}`,
	`INSERT INTO campaign_days (campaign_id, day, click_count, spend_micros)
		SELECT c.campaign_id, day.value ->> 2, count(*), sum(c.bid_micros) FROM ${WRITTEN} WHERE true GROUP BY 1, 2
		ON CONFLICT (campaign_id, day) DO UPDATE SET ${AND_SPEND}`,
	`INSERT INTO campaign_totals (campaign_id, click_count, spend_micros)
		SELECT c.campaign_id, count(*), sum(c.bid_micros) FROM ${WRITTEN} WHERE true GROUP BY 1
		ON CONFLICT (campaign_id) DO UPDATE SET ${AND_SPEND}`,
	`INSERT INTO campaign_rates (campaign_id, slot, click_count, spend_micros)
		SELECT c.campaign_id, day.value ->> 3, count(*), sum(c.bid_micros) FROM ${WRITTEN} WHERE day.value ->> 3 IS NOT NULL GROUP BY 1, 2
		ON CONFLICT (campaign_id, slot) DO UPDATE SET ${AND_SPEND}`,
];

/** Statements that write rows once and count once those that they have written. */
export function writeStatements(db: D1Database, rows: string, days: string, writtenBy: string): D1PreparedStatement[] {
	return [db.prepare(INSERT_CLICKS).bind(rows, writtenBy), ...COUNTERS.map((statement) => db.prepare(statement).bind(days, writtenBy))];
}
