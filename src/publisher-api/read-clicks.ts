/** A publisher's own clicks, paid or not, by time: found in two indexes, each of which has the clicks that are not in the other. */
import { type SQL, sql } from "drizzle-orm";
import { clicksOfAnyId, hasAnyId, haveMoreAnId } from "../db/clicks-of-hash.ts";
import { type Database, runTransaction } from "../db/client.ts";
import type { ListOrder } from "../http/filters.ts";
import type { Span } from "../http/period.ts";
import type { TokenKind } from "../lib/enums.ts";
import { formatUsd } from "../lib/money.ts";
import { CLICKS_CURSOR } from "../lib/page-cursor.ts";
import { isoTime } from "../lib/time.ts";
import type { CLICK_REASONS, TrafficRule } from "../lib/traffic-rules.ts";
import type { PublisherClick, PublisherClicks } from "./clicks-answer.ts";
import type { ClicksQuery } from "./clicks-request.ts";

/** Clicks that a request with a filter looks at: where these hold too few, the cursor goes on behind them. */
const MAX_LOOKED_AT = 20_000;
/** Clicks that are looked up by an id. One that more have, whoever's, is a filter of the publisher's own. */
export const MAX_OF_ID = 2_000;

type Row = {
	id: string;
	clickHash: string;
	at: number;
	kind: TokenKind;
	reason: (typeof CLICK_REASONS)[number] | null;
	clickId: string | null;
	brand: string | null;
	campaignId: number;
	sourceId: string | null;
	subid1: string | null;
	subid2: string | null;
	subid3: string | null;
	subid4: string | null;
	subid5: string | null;
	country: string | null;
	keyword: string | null;
	bidMicros: number;
	revenueMicros: number;
	flags: string | null;
};

/** The publisher's clicks of any id. Other publishers may use the same. */
export function clicksOfId(publisherId: string, id: string): SQL {
	return sql`SELECT c.id, c.clicked_at, c.reason FROM (${clicksOfAnyId(id)}) k CROSS JOIN clicks c
		WHERE c.id = k.id AND c.publisher_id = ${publisherId}`;
}

/** The clicks of the publisher's conversions of a transaction, as platforms name it: by each of these, or SQLite reads them all. */
function clicksOfTransaction(publisherId: string, txnid: string): SQL {
	return sql`SELECT c.id, c.clicked_at, c.reason FROM platforms p CROSS JOIN conversions v CROSS JOIN clicks c
		WHERE v.platform = p.id AND v.txnid = ${txnid} AND v.publisher_id = ${publisherId}
			AND c.id = v.click_id AND c.publisher_id = ${publisherId}`;
}

/** Whether a click `c` is one of an id, its own or its conversion's: a condition. */
function isOfId(publisherId: string, id: string): SQL {
	return sql`(${hasAnyId(id)} OR c.id IN (SELECT s.id FROM (${clicksOfTransaction(publisherId, id)}) s))`;
}

/** The next clicks of the period behind the cursor: of the index alone, unless one id is looked for. */
export function lookAtClicks(publisherId: string, { id, fromAt, toAt, order, after }: ClicksQuery, limit: number): SQL {
	const { from, to, before, beyond, way } = goingOn({ fromAt, toAt }, order, after?.at ?? null);
	const isBehind = sql`(clicked_at ${beyond} ${before} OR id ${beyond} ${after?.id ?? ""})`;
	const isWithin = sql`clicked_at >= ${from} AND clicked_at < ${to} AND ${isBehind}`;
	const inOrder = sql`1 ${way}, 2 ${way}`;
	if (id !== null) {
		return sql`SELECT clicked_at, id, reason FROM (${clicksOfId(publisherId, id)} UNION ${clicksOfTransaction(publisherId, id)})
			WHERE ${isWithin} ORDER BY ${inOrder} LIMIT ${limit}`;
	}
	const isNext = sql`publisher_id = ${publisherId} AND ${isWithin}`;
	return sql`SELECT clicked_at, id, reason FROM clicks WHERE ${isNext} AND reason IS NULL AND pricing_model = 'CPC'
		UNION ALL
		SELECT clicked_at, id, reason FROM clicks WHERE ${isNext} AND (reason IS NOT NULL OR pricing_model = 'CPA')
		ORDER BY ${inOrder} LIMIT ${limit}`;
}

/**
 * How a list of a period goes on in its order behind a moment, or begins where there is none.
 * @returns the part of the period that is left, that moment in it and `to` not; the moment that is `before` what is left, which lies
 * `beyond` it; and the `way` of the order
 */
export function goingOn({ fromAt, toAt }: Span, order: ListOrder, lastAt: number | null) {
	return order === "newest"
		? { from: fromAt, to: Math.min(toAt, (lastAt ?? toAt) + 1), before: lastAt ?? toAt, beyond: sql`<`, way: sql`DESC` }
		: { from: Math.max(fromAt, lastAt ?? 0), to: toAt, before: lastAt ?? -1, beyond: sql`>`, way: sql`ASC` };
}

/** Null where the publisher is no more. */
export async function readClicks(db: Database, publisherId: string, query: ClicksQuery): Promise<PublisherClicks | null> {
	const { limit, reason, brand, source, order, id } = query;
	const { way } = goingOn(query, order, null);
	const inOrder = sql`l.clicked_at ${way}, l.id ${way}`;
	const shared = id !== null && (await haveMoreAnId(db, id, MAX_OF_ID)) ? id : null;
	const isFiltered = reason !== null || brand !== null || source !== null || shared !== null;
	const looked = lookAtClicks(publisherId, shared === null ? query : { ...query, id: null }, isFiltered ? MAX_LOOKED_AT : limit + 1);
	const [owner, page, last] = await runTransaction(db, [
		sql`SELECT campaign_id_enabled AS "campaignIdEnabled" FROM publishers WHERE id = ${publisherId}`,
		sql`SELECT c.id, c.click_hash AS "clickHash", c.clicked_at AS at, c.kind, c.reason, c.publisher_click_id AS "clickId", b.domain AS brand, c.campaign_id AS "campaignId",
				c.source_id AS "sourceId", c.subid1, c.subid2, c.subid3, c.subid4, c.subid5, c.country, c.keyword,
				c.bid_micros AS "bidMicros", c.revenue_micros AS "revenueMicros", c.flags
			FROM (${looked}) l CROSS JOIN clicks c LEFT JOIN brands b ON b.id = c.brand_id
			WHERE c.id = l.id AND ${isWanted(reason)} AND ${source === null ? sql`true` : sql`coalesce(c.source_id, '') = ${source}`}
				AND ${brand === null ? sql`true` : sql`c.brand_id IN (SELECT id FROM brands WHERE domain = ${brand})`}
				AND ${shared === null ? sql`true` : isOfId(publisherId, shared)}
			ORDER BY ${inOrder} LIMIT ${limit + 1}`,
		...(isFiltered
			? [sql`SELECT l.clicked_at AS at, l.id FROM (${looked}) l ORDER BY ${inOrder} LIMIT 1 OFFSET ${MAX_LOOKED_AT - 1}`]
			: []),
	]);
	const [publisher] = (owner?.results ?? []) as { campaignIdEnabled: number }[];
	if (publisher === undefined) return null;
	const rows = (page?.results ?? []) as Row[];
	const [lastLookedAt] = (last?.results ?? []) as { at: number; id: string }[];
	const shown = rows.slice(0, limit);
	const end = rows.length > limit ? shown.at(-1) : lastLookedAt;
	return {
		data: shown.map((row) => showClick(row, publisher.campaignIdEnabled === 1)),
		limit,
		next_cursor: end === undefined ? null : CLICKS_CURSOR.write(end),
	};
}

function isWanted(reason: ClicksQuery["reason"]): SQL {
	if (reason === null) return sql`true`;
	if (reason === "paid") return sql`l.reason IS NULL`;
	return reason === "unpaid" ? sql`l.reason IS NOT NULL` : sql`l.reason = ${reason}`;
}

function showClick(row: Row, campaignIdEnabled: boolean): PublisherClick {
	const { subid1, subid2, subid3, subid4, subid5 } = row;
	const subids = Object.entries({ subid1, subid2, subid3, subid4, subid5 }).filter(([, value]) => value !== null);
	return {
		id: row.id,
		transaction_id: row.clickHash,
		click_id: row.clickId,
		at: isoTime(row.at),
		kind: row.kind,
		brand: row.brand,
		...(campaignIdEnabled && { campaign_id: String(row.campaignId) }),
		source_id: row.sourceId ?? "",
		...Object.fromEntries(subids),
		country: row.country,
		keyword: row.keyword,
		price: formatUsd(row.bidMicros),
		// A click that was taken back keeps what it had earned in its row.
		revenue: formatUsd(row.reason === null ? row.revenueMicros : 0),
		reason: row.reason,
		flags: (row.flags?.split(" ") ?? []) as TrafficRule[],
	};
}
