/** A publisher's own conversions, counted or not, by time: found in two indexes, each of which has those that are not in the other. */
import { type SQL, sql } from "drizzle-orm";
import { haveMoreAnId, isOfAnyId } from "../db/clicks-of-hash.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { cutPage, writeCursor } from "../http/pages.ts";
import { isoTime, isoTimeOrNull } from "../lib/time.ts";
import { OTHER_CONVERSION, PAID_CONVERSION } from "../reports/counted.ts";
import type { PublisherConversion, PublisherConversions } from "./conversions-answer.ts";
import type { ConversionsQuery } from "./conversions-request.ts";
import { clicksOfId, goingOn, MAX_OF_ID } from "./read-clicks.ts";
import { type ConversionState, type EventRow, showHistory, showState, type Viewer } from "./show-conversion.ts";
import { readViewer, viewerOf } from "./viewer.ts";

/** Conversions that a request with a filter looks at: where these hold too few, the cursor goes on behind them. */
const MAX_LOOKED_AT = 20_000;
/** Events of a conversion that its history is told from, and those of a page that has few: what is asked for alone has all that it is likely to. */
const MAX_EVENTS = 500;
const MAX_EVENTS_OF_FEW = 20_000;

type Key = { at: number; platform: string; txnid: string };

type Row = Key &
	ConversionState & {
		clickId: string | null;
		click: string | null;
		clickedAt: number | null;
		brand: string | null;
		campaignId: number | null;
		sourceId: string | null;
		firstReceivedAt: number;
		updatedAt: number;
	};

const keyOf = ({ at, platform, txnid }: Key) => [at, platform, txnid];

/** The next conversions of the period behind the cursor: of the index alone, unless one id is looked for. */
export function lookAtConversions(publisherId: string, { id, fromAt, toAt, order, after }: ConversionsQuery, limit: number): SQL {
	const [at = null, platform = "", txnid = ""] = after ?? [];
	const { from, to, before, beyond, way } = goingOn({ fromAt, toAt }, order, at);
	const isBehind = sql`(event_at ${beyond} ${before} OR (platform, txnid) ${beyond} (${platform}, ${txnid}))`;
	const isNext = sql`publisher_id = ${publisherId} AND event_at >= ${from} AND event_at < ${to} AND ${isBehind}`;
	const inOrder = sql`1 ${way}, 2 ${way}, 3 ${way}`;
	if (id !== null) {
		return sql`SELECT event_at, platform, txnid FROM (
				SELECT v.event_at, v.platform, v.txnid, v.publisher_id FROM (
					SELECT platform, txnid FROM conversions WHERE platform IN (SELECT id FROM platforms) AND txnid = ${id}
					UNION SELECT platform, txnid FROM conversions WHERE click_id IN (SELECT id FROM (${clicksOfId(publisherId, id)}))
				) k CROSS JOIN conversions v WHERE v.platform = k.platform AND v.txnid = k.txnid
			) WHERE ${isNext} ORDER BY ${inOrder} LIMIT ${limit}`;
	}
	return sql`SELECT event_at, platform, txnid FROM conversions WHERE ${isNext} AND ${PAID_CONVERSION}
		UNION ALL
		SELECT event_at, platform, txnid FROM conversions v WHERE ${isNext} AND ${OTHER_CONVERSION}
		ORDER BY ${inOrder} LIMIT ${limit}`;
}

/**
 * Null where the publisher is no more.
 * @param held whether a status is also that of those that are held, as the endpoint has it
 */
export async function readConversions(
	db: Database,
	publisherId: string,
	query: ConversionsQuery,
	held: "with" | "without" = "with",
): Promise<PublisherConversions | null> {
	const { limit, status, brand, source, order, id } = query;
	const { way } = goingOn(query, order, null);
	const inOrder = sql`l.event_at ${way}, l.platform ${way}, l.txnid ${way}`;
	const shared = id !== null && (await haveMoreAnId(db, id, MAX_OF_ID)) ? id : null;
	const isFiltered = status !== null || brand !== null || source !== null || shared !== null;
	const looked = lookAtConversions(publisherId, shared === null ? query : { ...query, id: null }, isFiltered ? MAX_LOOKED_AT : limit + 1);
	const [owner, page, last] = await runTransaction(db, [
		readViewer(publisherId),
		// Whether a click is still there is asked by its id: it may be on another node (decision 0034).
		sql`WITH page AS (SELECT v.event_at AS at, v.platform, v.txnid, v.stage, v.status, v.held_for AS "heldFor", v.test,
				v.revenue_micros AS "revenueMicros", v.gross_micros AS "grossMicros", v.sales_usd_micros AS "salesUsdMicros",
				v.publisher_click_id AS "clickId", v.click_id, v.clicked_at AS "clickedAt", b.domain AS brand, v.campaign_id AS "campaignId",
				v.source_id AS "sourceId", v.first_received_at AS "firstReceivedAt", v.updated_at AS "updatedAt"
			FROM (${looked}) l CROSS JOIN conversions v LEFT JOIN brands b ON b.id = v.brand_id
			WHERE v.platform = l.platform AND v.txnid = l.txnid AND ${isWanted(status, held)}
				AND ${source === null ? sql`true` : sql`coalesce(v.source_id, '') = ${source}`}
				AND ${brand === null ? sql`true` : sql`v.brand_id IN (SELECT id FROM brands WHERE domain = ${brand})`}
				AND ${shared === null ? sql`true` : isOfAnyId(shared, MAX_OF_ID)}
			ORDER BY ${inOrder} LIMIT ${limit + 1})
			SELECT page.*, c.id AS click FROM page LEFT JOIN (SELECT id FROM clicks WHERE id IN (SELECT click_id FROM page)) c ON c.id = page.click_id
			ORDER BY page.at ${way}, page.platform ${way}, page.txnid ${way}`,
		...(isFiltered
			? [
					sql`SELECT l.event_at AS at, l.platform, l.txnid FROM (${looked}) l
						ORDER BY ${inOrder} LIMIT 1 OFFSET ${MAX_LOOKED_AT - 1}`,
				]
			: []),
	]);
	const viewer = viewerOf(publisherId, owner);
	if (viewer === null) return null;
	const { shown, next } = cutPage((page?.results ?? []) as Row[], limit, keyOf);
	const [lastLookedAt] = (last?.results ?? []) as Key[];
	const mostEvents = Math.max(MAX_EVENTS, Math.floor(MAX_EVENTS_OF_FEW / Math.max(1, shown.length)));
	const events = await readEvents(db, shown, mostEvents + 1);
	return {
		data: shown.map((row) => showConversion(row, events.get(idOf(row)) ?? [], mostEvents, viewer)),
		limit,
		next_cursor: next ?? (lastLookedAt === undefined ? null : writeCursor(keyOf(lastLookedAt))),
	};
}

/** Held ones are pending or approved, and do not count yet; a test never will. */
function isWanted(status: ConversionsQuery["status"], held: "with" | "without"): SQL {
	if (status === null) return sql`true`;
	if (status === "held") return sql`(v.stage <> 'settled' AND v.status <> 'cancelled' AND v.test = 0)`;
	if (held === "with" || status === "cancelled") return sql`v.status = ${status}`;
	return sql`(v.status = ${status} AND v.stage = 'settled' AND v.test = 0)`;
}

async function readEvents(db: Database, rows: readonly Row[], most: number): Promise<Map<string, EventRow[]>> {
	if (rows.length === 0) return new Map();
	const keys = JSON.stringify(rows.map(({ platform, txnid }) => ({ platform, txnid })));
	const events = await db.all<EventRow & Omit<Key, "at">>(sql`SELECT t.platform, t.txnid, t.at, t.kind, t.details
		FROM json_each(${keys}) k CROSS JOIN conversion_events t
		WHERE t.platform = k.value ->> 'platform' AND t.txnid = k.value ->> 'txnid' AND t.seq <= ${most}
		ORDER BY t.platform, t.txnid, t.seq`);
	return Map.groupBy(events, idOf);
}

function idOf({ platform, txnid }: Omit<Key, "at">): string {
	return JSON.stringify([platform, txnid]);
}

function showConversion(row: Row, events: readonly EventRow[], mostEvents: number, viewer: Viewer): PublisherConversion {
	return {
		transaction_id: row.txnid,
		click_id: row.clickId,
		click: row.click,
		clicked_at: isoTimeOrNull(row.clickedAt),
		at: isoTime(row.at),
		brand: row.brand,
		...(viewer.campaignIdEnabled && row.campaignId !== null && { campaign_id: String(row.campaignId) }),
		source_id: row.sourceId ?? "",
		...showState(row, viewer),
		reported_at: isoTime(row.firstReceivedAt),
		updated_at: isoTime(row.updatedAt),
		history: showHistory(events.slice(0, mostEvents), viewer),
		history_truncated: events.length > mostEvents,
	};
}
