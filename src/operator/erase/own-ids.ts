/**
 * Publishers' own ids of the clicks that are erased, which postbacks may name in the place of a click hash. An exchange's `user.id` may be
 * that of several users' clicks: by such an id only that is found which is attached to no click.
 */
import { type SQL, sql } from "drizzle-orm";
import { keyOf } from "../../conversions/conversion.ts";
import { asClickHash, type CandidateClick, MAX_CANDIDATES, matchClick, saysNoId } from "../../conversions/match-click.ts";
import type { Database } from "../../db/client.ts";
import { newUuid } from "../../lib/ids.ts";

export type ErasedClick = {
	id: string;
	clickHash: string;
	publisherId: string | null;
	publisherClickId: string | null;
	clickedAt: number;
	/** 1 where its row has nothing of the user. */
	isEmpty?: number;
};

export type OwnIds = {
	/**
	 * What a postback has in the place of a publisher's own id: the hash of the click that it is settled for, so that it still is; where it is
	 * settled for none, as one that came before the click, a hash that no click has.
	 * Null where it names none of these clicks, or is settled for the click of somebody else.
	 * @param platform platforms.id; null where it is none's
	 * @param toldAt   when the sale was first told of, Unix milliseconds
	 */
	replace: (platform: string | null, ownId: string, toldAt: number) => string | null;
	/** Whether it is one of them. */
	has: (ownId: string) => boolean;
	/** Clicks that a sale would be credited to by such an id once these are erased, and by which none, or another, is found before. */
	foundAfterwards: () => string[];
	/** Whether a transaction that one of the ids was named for has the click of somebody else. */
	isOfOthers: (platform: string | null, txnid: string | null) => boolean;
};

/** The publishers' own ids of clicks, but words for none: no sale is found by those, and they are nobody's. */
export function ownIdsOf(clicks: readonly Pick<ErasedClick, "publisherClickId">[]): string[] {
	const ids = clicks.flatMap(({ publisherClickId }) => publisherClickId ?? []);
	return [...new Set(ids)].filter((id) => !saysNoId(id));
}

export async function readOwnIds(db: Database, clicks: readonly ErasedClick[]): Promise<OwnIds> {
	const names = new Map(ownIdsOf(clicks).map((id) => [id, unknownHash()]));
	if (names.size === 0) return { replace: () => null, has: () => false, foundAfterwards: () => [], isOfOthers: () => false };
	const list = JSON.stringify([...names.keys()]);
	const hashes = new Set(clicks.map(({ clickHash }) => clickHash));
	const candidates = (some: SQL) =>
		db.all<CandidateClick & { wanted: string }>(sql`
		SELECT j.atom AS wanted, c.id, c.click_hash AS "clickHash", c.reason, c.clicked_at AS "clickedAt", c.publisher_id AS "publisherId",
			c.brand_id AS "brandId", c.campaign_id AS "campaignId", c.platform, c.publisher_click_id AS "publisherClickId",
			c.source_id AS "sourceId", c.pricing_model AS "pricingModel", c.written_by AS "writtenBy", p.pricing_model AS "publisherPricingModel",
			CASE WHEN p.id IS NOT NULL THEN coalesce(c.revenue_share_ppm, p.revenue_share_ppm) END AS "revenueSharePpm"
		FROM json_each(${list}) j CROSS JOIN clicks c LEFT JOIN publishers p ON p.id = c.publisher_id
		WHERE c.id IN (SELECT id FROM clicks WHERE publisher_click_id = j.atom AND ${some} LIMIT ${MAX_CANDIDATES + 1})`);
	const named = Map.groupBy(await candidates(sql`true`), ({ wanted }) => wanted);
	// By themselves: the erased may be all that are looked at.
	const left = await candidates(sql`id NOT IN (SELECT atom FROM json_each(${JSON.stringify(clicks.map(({ id }) => id))}))
		AND click_hash NOT IN (SELECT atom FROM json_each(${JSON.stringify([...hashes])}))`);
	const leftOf = Map.groupBy(left, ({ wanted }) => wanted);
	const matching = await db.all<{ id: string }>(sql`SELECT id FROM platforms WHERE match_by_publisher_click_id = 1`);
	const byOwnId = new Set(matching.map(({ id }) => id));
	const attached = await db.all<{ platform: string; txnid: string }>(sql`
		SELECT v.platform, v.txnid FROM json_each(${list}) j CROSS JOIN conversions v
		WHERE v.cid = j.atom AND v.click_id IS NOT NULL AND v.click_id NOT IN (
			SELECT value ->> 'id' FROM json_each(${JSON.stringify(clicks.map(({ id }) => ({ id })))}))`);
	const ofOthers = new Set(attached.map(keyOf));
	// As settling has it: of a click made after its platform had first named the id no sale is, by that id.
	const told = await db.all<{ platform: string; cid: string; at: number }>(sql`
		SELECT v.platform, v.cid, min(v.first_received_at) AS at FROM json_each(${list}) j CROSS JOIN conversions v
		WHERE v.cid = j.atom AND v.click_id IS NULL GROUP BY v.platform, v.cid`);
	const toldSince = new Map(told.map(({ platform, cid, at }) => [`${platform} ${cid}`, at]));
	// Anyone may call a link with another's click hash: settling goes by the hash first.
	const looksAlike = JSON.stringify([...names.keys()].map(asClickHash).filter((hash) => hash !== null));
	const isNamed = sql`click_hash IN (SELECT atom FROM json_each(${looksAlike}))`;
	const others = await db.all<{ hash: string }>(sql`
		SELECT click_hash AS hash FROM clicks WHERE ${isNamed} AND (reason IS NULL OR reason = 'voided')
		UNION SELECT click_hash FROM clicks WHERE ${isNamed} AND reason <> 'voided'`);
	const otherHashes = new Set(others.map(({ hash }) => hash).filter((hash) => !hashes.has(hash)));
	return {
		replace: (platform, ownId, toldAt) => {
			const unknown = names.get(ownId);
			if (unknown === undefined || otherHashes.has(ownId.toLowerCase())) return null;
			const clickAt = (at: number) => matchClick(platform ?? "", [], byOwnId.has(platform ?? "") ? (named.get(ownId) ?? []) : [], at).click;
			// Whenever it was told: what names the id is the user's in any case.
			const click = clickAt(Number.POSITIVE_INFINITY);
			if (click !== null && !hashes.has(click.clickHash)) return null;
			return clickAt(Math.min(toldAt, toldSince.get(`${platform} ${ownId}`) ?? toldAt))?.clickHash ?? unknown;
		},
		has: (ownId) => names.has(ownId),
		foundAfterwards: () =>
			[...leftOf].flatMap(([ownId, after]) => {
				const before = named.get(ownId) ?? [];
				// One that is of no platform is found by any.
				const platforms = new Set([...before, ...after].map(({ platform }) => platform ?? ""));
				return [...platforms].flatMap((platform) => {
					const [old, found] = [before, after].map((clicks) => matchClick(platform, [], clicks, Number.POSITIVE_INFINITY).click);
					return found === null || found === undefined || found.id === old?.id ? [] : [found.id];
				});
			}),
		isOfOthers: (platform, txnid) => platform !== null && txnid !== null && ofOthers.has(keyOf({ platform, txnid })),
	};
}

function unknownHash(): string {
	return newUuid().replaceAll("-", "");
}
