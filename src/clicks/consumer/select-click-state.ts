/** The statements that read what deciding a batch rests on, and their rows. Constant texts: they run a hundred times a second. */
import { sql } from "drizzle-orm";
import { textOf } from "../../db/client.ts";
import { namedCells } from "../../db/json-rows.ts";
import type { NetworkHour } from "./asked-of-clicks.ts";

/**
 * ?1 ids, ?2 hashes, ?3 the least id of a click that may be billed for one of them: what of the batch is stored or billed already, the number
 * of the last transaction that counted, and whether prices are learned from what is counted.
 */
export const SELECT_KNOWN = textOf(sql`SELECT 'version' AS kind, CAST(version AS TEXT) AS value FROM click_sequence WHERE id = 1
	UNION ALL SELECT 'learning', CAST(learning_gap AS TEXT) FROM click_sequence WHERE id = 1 AND learning_gap IS NOT NULL
	UNION ALL SELECT 'id', id FROM clicks WHERE id IN (SELECT atom FROM json_each(?1))
	UNION ALL SELECT 'hash', click_hash FROM clicks
		WHERE click_hash IN (SELECT atom FROM json_each(?2)) AND id >= ?3 AND (reason IS NULL OR reason = 'voided')`);

export const CAMPAIGN_DAYS = ["campaignId", "from", "to", "totalOf"] as const;
/** `totalOf` is the campaign where it has a budget of all days, else null. Without a row there is no `day`. */
const campaignDays = namedCells(CAMPAIGN_DAYS, sql`asked.value`);
export const SELECT_SPENT = textOf(sql`SELECT CAST(${campaignDays.campaignId} AS BIGINT) AS "campaignId", d.day,
		coalesce(d.click_count, 0) AS "dayClicks", coalesce(d.spend_micros, 0) AS "daySpend", coalesce(d.gross_micros, 0) AS "dayGross",
		coalesce(t.click_count, 0) AS "everClicks", coalesce(t.spend_micros, 0) AS "everSpend", coalesce(t.gross_micros, 0) AS "everGross"
	FROM json_each(?1) asked
	LEFT JOIN campaign_days d ON d.campaign_id = CAST(${campaignDays.campaignId} AS BIGINT)
		AND d.day BETWEEN ${campaignDays.from} AND ${campaignDays.to}
	LEFT JOIN campaign_totals t ON t.campaign_id = CAST(${campaignDays.totalOf} AS BIGINT)`);

export const CONNECTION_TIMES = ["publisherId", "connection", "from", "to"] as const;
const asked = namedCells(CONNECTION_TIMES, sql`asked.value`);
/**
 * Of each connection the latest 5,000: more than `velocity` lets through in the two hours around a click, however high it is set. Each
 * is asked by itself: joined, PostgreSQL would go through all visits there are, where it believes that there are few.
 * Neither ids nor hashes have spaces or commas.
 */
export const SELECT_VISITS = textOf(sql`SELECT asked.key AS place, (SELECT group_concat(latest.visit)
		FROM (SELECT v.clicked_at || ' ' || v.brand_id || ' ' || v.click_id || ' '
			|| CASE WHEN v.voided_by IS NULL THEN 0 ELSE 1 END || ' ' || v.user_agent_hash AS visit FROM paid_visits v
			WHERE v.publisher_id = ${asked.publisherId} AND v.connection = ${asked.connection}
				AND v.clicked_at BETWEEN CAST(${asked.from} AS BIGINT) AND CAST(${asked.to} AS BIGINT)
			ORDER BY v.clicked_at DESC LIMIT 5000) latest) AS visits
	FROM json_each(?1) asked`);

export const NETWORK_HOUR = ["publisherId", "network", "hour"] as const;
const networkHour = namedCells(NETWORK_HOUR, sql`asked.value`);
export const SELECT_NETWORKS = textOf(sql`SELECT n.publisher_id AS "publisherId", n.network, n.hour, n.click_count AS count
	FROM json_each(?1) asked CROSS JOIN paid_networks n
	WHERE n.publisher_id = ${networkHour.publisherId} AND n.network = ${networkHour.network} AND n.hour = CAST(${networkHour.hour} AS BIGINT)`);

export const CONNECTION_HOUR = ["connection", "hour"] as const;
const connectionHour = namedCells(CONNECTION_HOUR, sql`asked.value`);
export const SELECT_UNPAID = textOf(sql`SELECT u.connection, u.hour, u.stored FROM json_each(?1) asked CROSS JOIN unpaid_hours u
	WHERE u.connection = ${connectionHour.connection} AND u.hour = CAST(${connectionHour.hour} AS BIGINT)`);

export const SOURCE = ["publisherId", "date", "dayBefore", "source"] as const;
const source = namedCells(SOURCE, sql`asked.value`);
/** What a publisher has on a day, and those of its sources that are known then, or had a sale on the day before: other rows tell nothing. */
export const SELECT_SOURCES =
	textOf(sql`SELECT p.publisher_id AS "publisherId", p.date, CAST(NULL AS TEXT) AS source, p.source_count AS count
	FROM json_each(?1) asked CROSS JOIN daily_publishers p WHERE p.publisher_id = ${source.publisherId} AND p.date = ${source.date}
	UNION ALL SELECT s.publisher_id, s.date, s.source_id, 0 FROM json_each(?1) asked CROSS JOIN daily_sources s
	WHERE s.publisher_id = ${source.publisherId} AND s.date = ${source.date} AND s.source_id = ${source.source}
	UNION ALL SELECT s.publisher_id, ${source.date}, s.source_id, -1 FROM json_each(?1) asked CROSS JOIN daily_sources s
	WHERE s.publisher_id = ${source.publisherId} AND s.date = ${source.dayBefore} AND s.source_id = ${source.source} AND s.conversion_count > 0`);

export const STOP_OWNER = ["subject", "domain"] as const;
const owner = namedCells(STOP_OWNER, sql`asked.value`);
export const BRAND_STOP = ["brandId", "prefix", "publisher"] as const;
const brandStop = namedCells(BRAND_STOP, sql`asked.value`);
/**
 * ?1 is whose stops are asked; ?2 the same of brands whose domain is not known here: their own, and a publisher's of them. `prefix` stands
 * before a brand's domain.
 */
export const SELECT_STOPS = textOf(sql`SELECT s.subject, s.domain, s.reason, s.country, s.since FROM json_each(?1) asked CROSS JOIN stops s
	WHERE s.subject = ${owner.subject} AND s.domain = ${owner.domain}
	UNION ALL SELECT s.subject, s.domain, s.reason, s.country, s.since
	FROM json_each(?2) asked CROSS JOIN brands b CROSS JOIN stops s
	WHERE b.id = CAST(${brandStop.brandId} AS BIGINT) AND s.subject = ${brandStop.prefix} || b.domain AND s.domain = ''
	UNION ALL SELECT s.subject, s.domain, s.reason, s.country, s.since
	FROM json_each(?2) asked CROSS JOIN brands b CROSS JOIN stops s
	WHERE b.id = CAST(${brandStop.brandId} AS BIGINT) AND s.subject = ${brandStop.publisher} AND s.domain = b.domain`);

export type KnownRow = { kind: "version" | "learning" | "id" | "hash"; value: string };
export type SpentRow = Record<"campaignId" | "dayClicks" | "daySpend" | "dayGross" | "everClicks" | "everSpend" | "everGross", number> & {
	day: string | null;
};
/** Visits of the connection that was asked for at a place; null for none. */
export type VisitsRow = { place: number; visits: string | null };
export type NetworkRow = NetworkHour & { count: number };
export type UnpaidRow = { connection: string; hour: number; stored: number };
/** Without a source, the publisher's number of them; with one, it is known, or below zero, had a sale on the day before. */
export type SourceRow = { publisherId: string; date: string; source: string | null; count: number };
