/** Finds the click that an operator means: by its id, its hash, the publisher's click id, or by brand and time. */
import { type SQL, sql } from "drizzle-orm";
import type { ConversionKey } from "../../conversions/conversion.ts";
import { asClickHash, rankOf } from "../../conversions/match-click.ts";
import { type ClickRow, showClick } from "../../conversions/show-rows.ts";
import { clicksOfHash } from "../../db/clicks-of-hash.ts";
import type { Database } from "../../db/client.ts";
import { SHARED_ID } from "../../db/schema/clicks.ts";
import { invalidInput } from "../../http/errors.ts";
import { normaliseClickId } from "../../lib/click-id.ts";
import { canonicalHost } from "../../lib/host.ts";
import { leastIdAt } from "../../lib/ids.ts";
import type { Candidate, Candidates } from "./conversions-answers.ts";
import type { ClickWanted } from "./judge-request.ts";

const MAX_CANDIDATES = 100;
/** Clicks of a time that are looked at. */
const MAX_LOOKED_AT = 20_000;

type Row = ClickRow & { fits: number; has_publisher: number; conversions: number };

/**
 * The clicks that may be meant, in the order of time.
 * @param publisher publishers.id of whose they have to be; absent for anyone's
 * @throws HttpError 422 where the brand is not known
 */
export async function findCandidates(
	db: Database,
	{ platform }: ConversionKey,
	wanted: ClickWanted,
	publisher?: string,
): Promise<Candidates> {
	const isTheirs = publisher === undefined ? sql`true` : sql`publisher_id = ${publisher}`;
	const { ids, isCut } = await lookFor(db, wanted, isTheirs);
	const rows = await db.all<Row>(sql`SELECT c.*, b.domain AS domain,
			CASE WHEN c.platform IS NULL OR c.platform = ${platform}
				OR EXISTS (SELECT 1 FROM campaigns g WHERE g.brand_id = c.brand_id AND g.platform = ${platform}) THEN 1 ELSE 0 END AS fits,
			CASE WHEN EXISTS (SELECT 1 FROM publishers p WHERE p.id = c.publisher_id) THEN 1 ELSE 0 END AS has_publisher,
			(SELECT count(*) FROM conversions v WHERE v.click_id = c.id) AS conversions
		FROM (${ids}) f CROSS JOIN clicks c LEFT JOIN brands b ON b.id = c.brand_id
		WHERE c.id = f.id AND ${isTheirs} ORDER BY c.id LIMIT ${MAX_CANDIDATES + 1}`);
	return { data: rows.slice(0, MAX_CANDIDATES).map(show), limit: MAX_CANDIDATES, complete: !isCut && rows.length <= MAX_CANDIDATES };
}

/**
 * The one click that is meant: of several redirects of a click hash the one that a postback would find. As there, a hash goes before a
 * publisher's click id: anyone may call a link with another click's hash as its click id. So that a platform's money is
 * never another's, the click must be of a brand that has a campaign of this platform, now or when it was made.
 * @param before what the same request has meant before, if it came before: clicks that came since, or were voided, do not change it
 * @param publisher as for {@link findCandidates}: others may call their clicks alike
 * @returns clicks.id
 * @throws HttpError 422 where there is none, or more than one
 */
export async function resolveClick(
	db: Database,
	key: ConversionKey,
	wanted: ClickWanted,
	before: string | null,
	publisher?: string,
): Promise<string> {
	const path = "click" in wanted ? "click" : "brand";
	const { data, complete } = await findCandidates(db, key, wanted, publisher);
	if (before !== null && data.some(({ id }) => id === before)) return before;
	const named = "click" in wanted ? wanted.click : null;
	const hash = named === null ? null : asClickHash(named);
	const byId = data.filter(({ id }) => id === named);
	const byHash = data.filter(({ click_hash }) => click_hash === hash);
	const meant = [byId, byHash].find(({ length }) => length > 0) ?? data;
	const fitting = meant.filter(({ unfit }) => unfit === null);
	const hashes = new Set(fitting.map(({ click_hash }) => click_hash));
	const [best] = fitting.toSorted((a, b) => rankOf(a.reason) - rankOf(b.reason));
	// Of a publisher's own id that an erased click had, too, nobody can tell which was meant.
	const isShared = named !== null && meant === data && best !== undefined && (await hasSharedId(db, best.id));
	if ((!complete && meant !== byId) || hashes.size > 1 || isShared) {
		throw invalidInput([
			{ path, message: "names more than one click: name one of those that GET …/clicks lists, by its id or click_hash" },
		]);
	}
	if (best !== undefined) return best.id;
	const [unfit] = meant;
	throw invalidInput([{ path, message: unfit === undefined ? "names no click" : WHY_NOT[unfit.unfit ?? "other_platform"] }]);
}

async function hasSharedId(db: Database, id: string): Promise<boolean> {
	return (await db.all(sql`SELECT id FROM clicks WHERE id = ${id} AND written_by = ${SHARED_ID}`)).length > 0;
}

const WHY_NOT = {
	other_platform: "is of a brand without a campaign of this platform",
	no_publisher: "is of a publisher that is no more",
};

/** Statement of the ids that are meant, among others' perhaps; `isCut` where there may be more. */
async function lookFor(db: Database, wanted: ClickWanted, isTheirs: SQL): Promise<{ ids: SQL; isCut: boolean }> {
	if ("click" in wanted) {
		const name = normaliseClickId(wanted.click) ?? wanted.click;
		const hash = asClickHash(name);
		const most = MAX_CANDIDATES + 1;
		const byHash = hash === null ? sql`` : sql`UNION SELECT id FROM (${clicksOfHash(hash)} ORDER BY id LIMIT ${most}) h`;
		return {
			ids: sql`SELECT id FROM clicks WHERE id = ${wanted.click} ${byHash}
				UNION SELECT id FROM (SELECT id FROM clicks WHERE publisher_click_id = ${name} AND ${isTheirs} ORDER BY id LIMIT ${most}) n`,
			isCut: false,
		};
	}
	const { fromAt, toAt } = wanted;
	const domain = canonicalHost(wanted.brand) ?? wanted.brand;
	const [brand] = await db.all<{ id: number }>(sql`SELECT id FROM brands WHERE domain = ${domain}`);
	if (brand === undefined) throw invalidInput([{ path: "brand", message: "is no brand's domain" }]);
	// Ids are made at the redirect: they sort by time.
	const looked = sql`SELECT id, brand_id FROM clicks WHERE id >= ${leastIdAt(fromAt)} AND id < ${leastIdAt(toAt)} ORDER BY id LIMIT ${MAX_LOOKED_AT}`;
	const [cut] = await db.all(sql`SELECT id FROM (${looked}) l ORDER BY id LIMIT 1 OFFSET ${MAX_LOOKED_AT - 1}`);
	return { ids: sql`SELECT id FROM (${looked}) l WHERE brand_id = ${brand.id}`, isCut: cut !== undefined };
}

function show({ fits, has_publisher, conversions, ...row }: Row): Candidate {
	return { ...showClick(row), unfit: fits === 0 ? "other_platform" : has_publisher === 0 ? "no_publisher" : null, conversions };
}
