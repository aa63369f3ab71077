/** Which paid clicks an adjustment takes back: walked in the order of their ids, a bounded number of rows a query. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { endOf, startOf } from "../http/datetime.ts";
import { invalidInput } from "../http/errors.ts";
import { canonicalHost } from "../lib/host.ts";
import { leastIdAt } from "../lib/ids.ts";
import { localDay, utcDay } from "../lib/time.ts";
import type { VoidClicksRequest } from "./adjustment-request.ts";
import type { ChunkRow } from "./move-clicks.ts";

/** A selection of clicks as a condition on `clicks c`, and between which ids they stand. */
export type Selection = { condition: SQL; after: string; before: string };

/** Rows that one query looks at. */
const MAX_LOOKED_AT = 20_000;
/** Clicks that one transaction changes. */
export const CHUNK_CLICKS = 1_000;

/**
 * @param now clicks that are made later are not selected
 * @throws HttpError 422 where the publisher, brand or campaign is not known
 */
export async function readSelection(db: Database, request: VoidClicksRequest, now: number): Promise<Selection> {
	const { publisher, source, address_prefix, brand, campaign, reason } = request;
	if (publisher !== undefined) await requirePublisher(db, publisher);
	const brandId = brand === undefined ? undefined : await readBrandId(db, brand);
	if (campaign !== undefined) await requireCampaign(db, campaign);
	const from = request.from === undefined ? 0 : startOf(request.from);
	const to = request.to === undefined ? now : Math.min(now, endOf(request.to));
	const conditions = [
		sql`c.reason IS NULL AND c.clicked_at >= ${from} AND c.clicked_at < ${to}`,
		publisher === undefined ? null : sql`c.publisher_id = ${publisher}`,
		source === undefined ? null : sql`coalesce(c.source_id, '') = ${source}`,
		address_prefix === undefined ? null : sql`c.ip_prefix = ${address_prefix}`,
		brandId === undefined ? null : sql`c.brand_id = ${brandId}`,
		campaign === undefined ? null : sql`c.campaign_id = ${campaign}`,
		reason === undefined ? null : sql`' ' || c.flags || ' ' LIKE ${`% ${reason} %`}`,
	].filter((condition) => condition !== null);
	return { condition: sql.join(conditions, sql` AND `), after: from === 0 ? "" : leastIdAt(from), before: leastIdAt(to) };
}

/** @throws HttpError 422 where there is none */
export async function requirePublisher(db: Database, id: string): Promise<void> {
	const [known] = await db.all<{ id: string }>(sql`SELECT id FROM publishers WHERE id = ${id}`);
	if (known === undefined) throw invalidInput([{ path: "publisher", message: "is no publisher's id" }]);
}

async function readBrandId(db: Database, domain: string): Promise<number> {
	const [known] = await db.all<{ id: number }>(sql`SELECT id FROM brands WHERE domain = ${canonicalHost(domain) ?? domain}`);
	if (known === undefined) throw invalidInput([{ path: "brand", message: "is no brand's domain" }]);
	return known.id;
}

/** One that is no more in the network file may have clicks, too: its days stay. */
async function requireCampaign(db: Database, id: number): Promise<void> {
	const known = await db.all(sql`SELECT campaign_id FROM campaigns WHERE campaign_id = ${id}
		UNION SELECT campaign_id FROM campaign_days WHERE campaign_id = ${id}`);
	if (known.length === 0) throw invalidInput([{ path: "campaign", message: "is no campaign's id" }]);
}

/** The next clicks that an adjustment may have to look at. */
export type Ahead = {
	/** Id of the last of them; null where there are none left. */
	last: string | null;
	/** How many are selected, and what they earned, micro-dollars. */
	clicks: number;
	revenueMicros: number;
};

export async function lookAhead(db: Database, { condition, before }: Selection, cursor: string): Promise<Ahead> {
	const [ahead] = await db.all<Ahead>(sql`SELECT max(id) AS last, coalesce(sum(selected), 0) AS clicks,
			coalesce(sum(selected * revenue_micros), 0) AS "revenueMicros"
		FROM (SELECT c.id, c.revenue_micros, CASE WHEN ${condition} THEN 1 ELSE 0 END AS selected
			FROM clicks c WHERE c.id > ${cursor} AND c.id < ${before} ORDER BY c.id LIMIT ${MAX_LOOKED_AT})`);
	return ahead ?? { last: null, clicks: 0, revenueMicros: 0 };
}

/** Selected clicks behind a cursor, up to an id, one chunk at most. */
export function readChunk(db: Database, { condition }: Selection, cursor: string, last: string): Promise<ChunkRow[]> {
	return readDays(db, sql`${condition} AND c.id > ${cursor} AND c.id <= ${last}`);
}

/** Clicks that an adjustment took back and that are not given back yet, one chunk at most. */
export function readVoided(db: Database, adjustmentId: string): Promise<ChunkRow[]> {
	return readDays(db, sql`c.voided_by = ${adjustmentId} AND c.reason = 'voided'`);
}

type ChunkedClick = { id: string; publisherId: string | null; at: number; timezone: string | null };

/** @param condition on `clicks c` */
async function readDays(db: Database, condition: SQL): Promise<ChunkRow[]> {
	const rows = await db.all<ChunkedClick>(sql`SELECT c.id, c.publisher_id AS "publisherId", c.clicked_at AS at, g.timezone
		FROM clicks c LEFT JOIN campaigns g ON g.campaign_id = c.campaign_id
		WHERE ${condition} ORDER BY c.id LIMIT ${CHUNK_CLICKS}`);
	return rows.map(({ id, publisherId, at, timezone }) => ({ id, publisherId, date: utcDay(at), day: localDay(timezone ?? "UTC", at) }));
}
