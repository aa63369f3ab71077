/** Which brands have changed for a publisher, each as it is now (decision 0038). */
import { type SQL, sql } from "drizzle-orm";
import { LIST_FORMAT } from "../catalogue/list-states.ts";
import { type ListedBrand, readBrands } from "../catalogue/read-pages.ts";
import { recordWriter } from "../catalogue/write-list.ts";
import type { LinkTokens } from "../click-token/link-token.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { toBase64Url } from "../lib/base64-url.ts";
import { readBlockedBrands } from "../lib/blocked-brands.ts";
import { sha256 } from "../lib/bytes.ts";
import type { TrafficType } from "../lib/enums.ts";
import { parseJson } from "../lib/json.ts";
import type { BrandChange, BrandChangeKind, BrandChanges } from "./brand-changes-answer.ts";
import { type BrandsCursor, goneError, writeFeedCursor } from "./feed-cursor.ts";

export type BrandChangesDeps = {
	db: Database;
	links: LinkTokens;
	/** Origin of tracking links, without a trailing slash. */
	trackerUrl: string;
};
export type BrandChangesQuery = { after?: BrandsCursor | undefined; limit: number };

type Viewer = {
	id: string;
	publisherIdentity: string;
	cashbackEnabled: boolean;
	/** JSON array of {domain, country?}. */
	blockedBrands: string;
};
type ViewerRow = Omit<Viewer, "cashbackEnabled"> & { cashbackEnabled: number; isSuspended: number; present: number };

/** A brand's place in the feed; the versions are 0 where it is there for a block alone. */
type Place = {
	version: number;
	brandId: number;
	firstVersion: number;
	listingVersion: number;
	rateVersion: number;
	restrictionsVersion: number;
	detailsVersion: number;
	isOfBlock: number;
};

type Stored = { id: number; domain: string; trafficTypes: string; hasCampaigns: number };

/**
 * The next page behind a cursor. Without one it begins with all brands that the publisher may promote; what changes meanwhile follows.
 * @returns null where there is no such publisher, or it is suspended
 * @throws HttpError 410 where the whole list has changed since the cursor, or a database that was set back has never given it
 */
export async function readBrandChanges(
	deps: BrandChangesDeps,
	publisherId: string,
	{ after, limit }: BrandChangesQuery,
): Promise<BrandChanges | null> {
	const [reading, name, version, brandId] = after ?? ["present", null, Number.NaN, -1];
	// The publisher is read at the moment of the places, and the brands after it: what they are then is no older than what the places tell.
	const [viewers, page] = await runTransaction(deps.db, [
		sql`SELECT p.id, p.publisher_identity AS "publisherIdentity", p.cashback_enabled AS "cashbackEnabled", p.blocked_brands AS "blockedBrands",
				CASE WHEN p.status = 'suspended' THEN 1 ELSE 0 END AS "isSuspended", s.changes_version AS present
			FROM publishers p CROSS JOIN catalogue_state s WHERE p.id = ${publisherId} AND s.id = 1`,
		reading === "present" ? brandsBehind(brandId, limit + 1) : changesBehind(publisherId, version, brandId, limit + 1),
	]);
	const [row] = (viewers?.results ?? []) as ViewerRow[];
	if (row === undefined || row.isSuspended === 1) return null;
	const { present } = row;
	const viewer = { ...row, cashbackEnabled: row.cashbackEnabled === 1 };
	const basis = await nameBasis(deps, viewer);
	const since = reading === "present" && after === undefined ? present : version;
	if ((name !== null && name !== basis) || since > present + 1) {
		throw goneError("Your whole list has changed since: drop your copy, and read from the beginning, without `after`.", null);
	}
	const rows = (page?.results ?? []) as Place[];
	const places = rows.slice(0, limit);
	const last = places.at(-1);
	const data = await showPlaces(deps, viewer, places, reading === "present" ? null : { version, brandId });
	if (rows.length > limit && last !== undefined) {
		const place: BrandsCursor =
			reading === "present" ? ["present", basis, since, last.brandId] : ["changes", basis, last.version, last.brandId];
		return { data, limit, next_cursor: writeFeedCursor(place), more: true };
	}
	const end = reading === "present" ? since : present;
	return { data, limit, next_cursor: writeFeedCursor(["changes", basis, end + 1, -1]), more: end < present };
}

function brandsBehind(brandId: number, rows: number): SQL {
	return sql`SELECT id AS "brandId" FROM brands WHERE id > ${brandId} AND active = 1 ORDER BY id LIMIT ${rows}`;
}

function changesBehind(publisherId: string, version: number, brandId: number, rows: number): SQL {
	return sql`SELECT * FROM (
			SELECT version, brand_id AS "brandId", first_version AS "firstVersion", listing_version AS "listingVersion", rate_version AS "rateVersion",
				restrictions_version AS "restrictionsVersion", details_version AS "detailsVersion", 0 AS "isOfBlock"
			FROM brand_changes WHERE (version, brand_id) > (${version}, ${brandId}) ORDER BY version, brand_id LIMIT ${rows})
		UNION ALL SELECT * FROM (
			SELECT k.version, b.id, 0, 0, 0, 0, 0, 1 FROM block_changes k JOIN brands b ON b.domain = k.domain
			WHERE k.publisher_id = ${publisherId} AND (k.version, b.id) > (${version}, ${brandId}) ORDER BY k.version, b.id LIMIT ${rows})
		ORDER BY 1, 2, 8 LIMIT ${rows}`;
}

/** Names what every record of the publisher's rests on: whoever follows changes of brands would not hear of another. */
async function nameBasis({ links, trackerUrl }: BrandChangesDeps, { id, publisherIdentity, cashbackEnabled }: Viewer): Promise<string> {
	const parts = [LIST_FORMAT, id, publisherIdentity, cashbackEnabled, trackerUrl, await links.fingerprint()];
	return toBase64Url(await sha256(JSON.stringify(parts))).slice(0, 12);
}

/** @param after where the client stands; null while it reads how things are */
async function showPlaces(
	deps: BrandChangesDeps,
	viewer: Viewer,
	places: readonly Place[],
	after: { version: number; brandId: number } | null,
): Promise<BrandChange[]> {
	const ids = [...new Set(places.map(({ brandId }) => brandId))];
	const stored = new Map((await readStored(deps.db, ids)).map((brand) => [brand.id, brand]));
	const byDomain = await readRecords(deps, viewer, "domain", ids);
	const byCountry = await readRecords(deps, viewer, "country", ids);
	const blocks = readBlockedBrands(viewer.blockedBrands);
	const blocked = new Set(blocks.map(({ domain }) => domain));
	const blockedEverywhere = new Set(blocks.flatMap(({ domain, country }) => (country === undefined ? [domain] : [])));
	return ids.flatMap((id): BrandChange[] => {
		const brand = stored.get(id);
		if (brand === undefined) return [];
		const { domain } = brand;
		const own = places.filter(({ brandId }) => brandId === id);
		const [record] = byDomain.get(id) ?? [];
		if (record !== undefined) {
			const trafficTypes = parseJson(brand.trafficTypes) as TrafficType[];
			return [
				{
					domain,
					changes: changesOf(own, after, blocked.has(domain)),
					brand: record,
					offers: byCountry.get(id) ?? [],
					traffic_types: trafficTypes,
				},
			];
		}
		// It was never there to be removed; what it is blocked by has its own place.
		if (after === null || (blockedEverywhere.has(domain) && !own.some(({ isOfBlock }) => isOfBlock === 1))) return [];
		const gone = blocked.has(domain) ? "blocked" : brand.hasCampaigns === 1 ? "paused" : "removed";
		return [{ domain, changes: [gone], brand: null, offers: [], traffic_types: [] }];
	});
}

function readStored(db: Database, ids: readonly number[]): Promise<Stored[]> {
	return db.all<Stored>(sql`SELECT b.id, b.domain, b.traffic_types AS "trafficTypes",
			CASE WHEN EXISTS (SELECT 1 FROM campaigns c WHERE c.brand_id = b.id) THEN 1 ELSE 0 END AS "hasCampaigns"
		FROM brands b WHERE b.id IN (SELECT CAST(atom AS BIGINT) FROM json_each(${JSON.stringify(ids)}))`);
}

type BrandRecord = NonNullable<BrandChange["brand"]>;

async function readRecords(
	deps: BrandChangesDeps,
	viewer: Viewer,
	by: "domain" | "country",
	ids: readonly number[],
): Promise<Map<number, BrandRecord[]>> {
	const request = by === "domain" ? ({ by } as const) : ({ by, trafficType: "All" } as const);
	const listed = await readBrands(deps.db, viewer, request, ids);
	const write = recordWriter(deps, viewer, by);
	const records = await Promise.all(
		listed.map(async (brand: ListedBrand) => ({ id: brand.brandId, record: parseJson(await write(brand)) as BrandRecord })),
	);
	return new Map([...Map.groupBy(records, ({ id }) => id)].map(([id, group]) => [id, group.map(({ record }) => record)]));
}

/**
 * What is other of a listed brand than where the client stands.
 * @param isBlocked in some country: a block that has changed restricts it, where one that is gone lets it in
 */
function changesOf(places: readonly Place[], after: { version: number; brandId: number } | null, isBlocked: boolean): BrandChangeKind[] {
	if (after === null) return ["added"];
	const changes = places.flatMap((place): BrandChangeKind[] => {
		if (place.isOfBlock === 1) return [isBlocked ? "restrictions" : "unblocked"];
		const isSince = (version: number) => version > after.version || (version === after.version && place.brandId > after.brandId);
		if (isSince(place.firstVersion)) return ["added"];
		const kinds: [boolean, BrandChangeKind][] = [
			[isSince(place.listingVersion), "resumed"],
			[isSince(place.rateVersion), "rate"],
			[isSince(place.restrictionsVersion), "restrictions"],
			[isSince(place.detailsVersion), "details"],
		];
		return kinds.filter(([applies]) => applies).map(([, kind]) => kind);
	});
	return [...new Set(changes)];
}
