/** Where a click stands among what prices are learned from: a function of its row and `learning_sources`, whenever it is asked. */
import { type SQL, sql } from "drizzle-orm";

/** Behind `clicks c`: what says whether its source is followed singly. Clicks of earlier versions were learned of by its name. */
export const JOIN_SOURCES: SQL = sql`LEFT JOIN learning_sources s
	ON s.publisher_id = c.publisher_id AND s.source = coalesce(c.source_hash, c.source_id, '')`;

/** Days since the epoch, UTC. */
export const CLICK_DAY: SQL = sql`c.clicked_at / 86400000`;

/** The columns of a cell: campaign, publisher, source, keyword, link. */
export const CELL: SQL = sql`c.campaign_id, c.publisher_id, CASE WHEN s.from_day <= ${CLICK_DAY} THEN s.source ELSE '*other' END,
	coalesce(c.keyword_class, ''), c.link`;

/** Clicks that are learned from while they are paid. */
export const IS_LEARNED: SQL = sql`c.link IS NOT NULL AND c.publisher_id IS NOT NULL AND c.platform IS NOT NULL`;
