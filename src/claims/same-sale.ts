/** Which names mean one sale: its click has an id, a hash and the publisher's own click id, and a claim may name any of them. */
import { type SQL, sql } from "drizzle-orm";
import { clicksOfHash } from "../db/clicks-of-hash.ts";
import type { Database } from "../db/client.ts";
import type { Claim, Claimed } from "./claim-answers.ts";

/** What is known of what a claim names. */
export type Known = Pick<Claimed, "conversions" | "clicks">;

/** Redirects of one click hash whose ids are looked for. */
const MAX_REDIRECTS = 100;
/** The publisher's click ids of one click that name its sale: whoever calls a link again may say another. */
const MAX_NAMES = 10;
/** Clicks of a publisher's click id that are looked at. */
const MAX_OF_ID = 1_000;

/** The hash of the click of the one sale that a claim is about; null where nobody can tell which is meant. */
export async function clickOfSale(db: Database, publisher: string, kind: Claim["kind"], known: Known): Promise<string | null> {
	const { conversions, clicks } = known;
	const hashes =
		kind === "missing"
			? [...new Set(clicks.map(({ transaction_id }) => transaction_id))]
			: conversions.length === 1
				? await hashesOf(db, publisher, conversions, HAS_ONE_SALE)
				: [];
	return hashes.length === 1 ? (hashes[0] ?? null) : null;
}

/**
 * Every name of the one sale that a claim is about, that of the claim first. Of a name that several clicks or sales have nobody can tell
 * which is meant: then it alone.
 * @param hash as {@link clickOfSale} has it
 */
export async function namesOfSale(
	db: Database,
	publisher: string,
	{ kind, about }: Pick<Claim, "kind" | "about">,
	hash: string | null,
	{ conversions }: Known,
): Promise<string[]> {
	const sold = kind === "wrong" && conversions.length === 1 ? conversions.map(({ transaction_id }) => transaction_id) : [];
	return unique([about, ...sold, ...(hash === null ? [] : await namesOfClick(db, publisher, hash))]);
}

/** The same, with the names of every sale that it may be about, of those that were reported meanwhile too: for a person to look at. */
export async function namesAround(db: Database, publisher: string, claim: Pick<Claim, "kind" | "about">, known: Known): Promise<string[]> {
	const { conversions } = known;
	const names = await namesOfSale(db, publisher, claim, await clickOfSale(db, publisher, claim.kind, known), known);
	const ofSales = await namesOfClicks(db, publisher, await hashesOf(db, publisher, conversions));
	return unique([...names, ...conversions.map(({ transaction_id }) => transaction_id), ...ofSales]);
}

/** Of a click `c`: what it is called is then a name of its sale. */
const HAS_ONE_SALE = sql`(SELECT count(*) FROM (SELECT 1 AS one FROM conversions v WHERE v.click_id = c.id LIMIT 2) s) = 1`;

/** The hashes of the clicks that sales have. @param which of these clicks `c` */
async function hashesOf(db: Database, publisher: string, conversions: Known["conversions"], which = sql`true`): Promise<string[]> {
	const ids = conversions.map(({ click }) => click).filter((click) => click !== null);
	const rows = await db.all<{ hash: string }>(sql`SELECT DISTINCT c.click_hash AS hash
		FROM json_each(${JSON.stringify(ids)}) k CROSS JOIN clicks c WHERE c.id = k.atom AND c.publisher_id = ${publisher} AND ${which}`);
	return rows.map(({ hash }) => hash);
}

/** What clicks are called: their hash, the ids of its redirects, and the publisher's click id, where no other click has that. */
async function namesOfClicks(db: Database, publisher: string, hashes: readonly string[]): Promise<string[]> {
	const found = await Promise.all(hashes.map((hash) => namesOfClick(db, publisher, hash)));
	return found.flat();
}

async function namesOfClick(db: Database, publisher: string, hash: string): Promise<string[]> {
	const own = await db.all<{ id: string; clickId: string | null }>(sql`SELECT c.id, c.publisher_click_id AS "clickId"
		FROM (${clicksOfHash(hash)}) k CROSS JOIN clicks c WHERE c.id = k.id AND c.publisher_id = ${publisher} LIMIT ${MAX_REDIRECTS}`);
	const clickIds = unique(own.map(({ clickId }) => clickId).filter((clickId) => clickId !== null)).slice(0, MAX_NAMES);
	const isShared = await Promise.all(clickIds.map((clickId) => haveOthers(db, publisher, hash, clickId)));
	return [hash, ...own.map(({ id }) => id), ...clickIds.filter((_, n) => isShared[n] === false)];
}

/** Whether another click of the publisher has its click id. It may give all its clicks one: of an id that very many have it is taken for granted. */
async function haveOthers(db: Database, publisher: string, hash: string, clickId: string): Promise<boolean> {
	const some = sql`SELECT publisher_id, click_hash FROM clicks WHERE publisher_click_id = ${clickId} LIMIT ${MAX_OF_ID + 1}`;
	const [found] = await db.all<{ clicks: number; others: number }>(sql`SELECT count(*) AS clicks,
		count(CASE WHEN publisher_id = ${publisher} AND click_hash <> ${hash} THEN 1 END) AS others FROM (${some}) s`);
	return found !== undefined && (found.others > 0 || found.clicks > MAX_OF_ID);
}

function unique(names: readonly string[]): string[] {
	return [...new Set(names)];
}

/** Our own ids and hashes, which are read in any letter case. */
const OUR_ID = /^(?:[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;

/** Whether a claim is about one of these names: a condition. */
export function isAbout(names: readonly string[]): SQL {
	const ours = names.filter((name) => OUR_ID.test(name)).map((name) => name.toLowerCase());
	return sql`(about_id IN (SELECT atom FROM json_each(${JSON.stringify(names)}))
		OR lower(about_id) IN (SELECT atom FROM json_each(${JSON.stringify(ours)})))`;
}
