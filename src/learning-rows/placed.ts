/** Where a click stands among what prices are learned from: a function of its row and `learning_sources`, whenever it is asked. */
import { type SQL, sql } from "drizzle-orm";

/** The source that a click is learned of; those of earlier versions are of its name. */
export const SOURCE: SQL = sql`coalesce(c.source_hash, c.source_id, '')`;

/** Behind `clicks c`: what says whether its source is followed singly. */
export const JOIN_SOURCES: SQL = sql`LEFT JOIN learning_sources s
	ON s.publisher_id = c.publisher_id AND s.source = ${SOURCE}`;

/** Days since the epoch, UTC. */
export const CLICK_DAY: SQL = sql`c.clicked_at / 86400000`;

/** The columns of a cell: campaign, publisher, source, keyword, link. */
export const CELL: SQL = sql`c.campaign_id, c.publisher_id, CASE WHEN s.from_day <= ${CLICK_DAY} THEN s.source ELSE '*other' END,
	coalesce(c.keyword_class, ''), c.link`;

/** Whether clicks are added to what is learned from (gap.ts): for whoever moves stored ones, in the same transaction. */
export const IS_ADDED: SQL = sql`EXISTS (SELECT 1 FROM click_sequence WHERE id = 1 AND learning_gap IS NOT NULL)`;

/** Of a conversion `v` and its click, 1 or 0: neither is learned from, not even that it was taken back, while an operator has voided it. */
export const IS_PAID: SQL = sql`CASE WHEN c.reason IS NULL AND coalesce(v.verdict, '') <> 'voided' THEN 1 ELSE 0 END`;

/** Clicks that are learned from while they are paid. */
export const IS_LEARNED: SQL = sql`c.link IS NOT NULL AND c.publisher_id IS NOT NULL AND c.platform IS NOT NULL`;
