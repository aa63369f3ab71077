/** How rows come to the sums that prices are learned from: those that are there grow by them. */
import { type SQL, sql } from "drizzle-orm";

/** @param rows a query of the cell and day, each once, with clicks and micro-dollars, gross and paid: it ends with GROUP BY */
export function addClickRows(rows: SQL): SQL {
	return sql`INSERT INTO learning_clicks (campaign_id, publisher_id, source, keyword, link, day, clicks, gross_micros, paid_micros)
		${rows}
		ON CONFLICT (campaign_id, publisher_id, source, keyword, link, day) DO UPDATE SET clicks = learning_clicks.clicks + excluded.clicks,
			gross_micros = learning_clicks.gross_micros + excluded.gross_micros, paid_micros = learning_clicks.paid_micros + excluded.paid_micros`;
}

/** @param rows a query of the cell, day and size class, each once, with conversions and net micro-dollars: it ends with GROUP BY */
export function addEarningRows(rows: SQL): SQL {
	return sql`INSERT INTO learning_earnings (campaign_id, publisher_id, source, keyword, link, day, size_class, conversions, net_micros)
		${rows}
		ON CONFLICT (campaign_id, publisher_id, source, keyword, link, day, size_class) DO UPDATE SET
			conversions = learning_earnings.conversions + excluded.conversions, net_micros = learning_earnings.net_micros + excluded.net_micros`;
}
