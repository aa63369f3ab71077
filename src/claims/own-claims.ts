/** A publisher's claims: what is known is told at once, otherwise one is opened. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { microsOf } from "../adjustments/adjustment-request.ts";
import { type AuditActor, auditStatement } from "../audit/audit-statement.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { claims } from "../db/schema/claims.ts";
import { invalidInput } from "../http/errors.ts";
import { canonicalHost } from "../lib/host.ts";
import { leastIdAt, newTimeOrderedId } from "../lib/ids.ts";
import { DAY_MS, isEventTime, isoTime } from "../lib/time.ts";
import { readClicksQuery } from "../publisher-api/clicks-request.ts";
import { readConversionsQuery } from "../publisher-api/conversions-request.ts";
import { readClicks } from "../publisher-api/read-clicks.ts";
import { readConversions } from "../publisher-api/read-conversions.ts";
import type { Claim, Claimed, Claims } from "./claim-answers.ts";
import type { ClaimRequest, ownClaimsQuerySchema } from "./claim-requests.ts";
import { changeClaim, findClaim, readClaims, showClaim } from "./claim-rows.ts";
import { clickOfSale, isAbout, type Known, namesOfSale } from "./same-sale.ts";

export type ClaimsDeps = { db: Database; now: () => number };

/** Claims that a publisher may have under way. */
const MAX_UNDER_WAY = 50;
/** Claims that a publisher may open within a day: withdrawn ones are kept, too. */
const MAX_OPENED_A_DAY = 100;
const MAX_LOOKED_UP = "10";

/** What is known of an id, of one publisher: conversions and clicks, as it may see them. */
export async function lookUp(deps: ClaimsDeps, publisher: string, id: string): Promise<Known> {
	return (await lookUpFirst(deps, publisher, id)).known;
}

/**
 * The same; `mayHide` where there is nothing among those that were looked at, and there are others. Of an id that very many clicks have,
 * whoever's, only some are looked at.
 */
async function lookUpFirst({ db, now }: ClaimsDeps, publisher: string, id: string): Promise<{ known: Known; mayHide: MayHide }> {
	const wanted = { id, limit: MAX_LOOKED_UP };
	const conversions = await readConversions(db, publisher, readConversionsQuery(wanted, now()));
	const clicks = await readClicks(db, publisher, readClicksQuery(wanted, now()));
	const isCut = (page: { next_cursor: string | null } | null) => page !== null && page.next_cursor !== null;
	return {
		known: { conversions: conversions?.data ?? [], clicks: clicks?.data ?? [] },
		mayHide: { sale: isCut(conversions), click: isCut(clicks) },
	};
}

type MayHide = { sale: boolean; click: boolean };

/** What stands against a claim, since it is known already; null where nothing does. Pure. @param mayHide what may be there unseen */
function decideClaim(
	kind: ClaimRequest["kind"],
	{ conversions, clicks }: Known,
	mayHide: MayHide,
): "known" | "no_sale" | "no_click" | null {
	if (conversions.length === 0 && clicks.length === 0) return mayHide.sale || mayHide.click ? null : "no_click";
	if (kind === "missing") return conversions.length > 0 ? "known" : null;
	if (conversions.length === 0) return mayHide.sale ? null : "no_sale";
	// What waits for something else than the platform's word is not wrong yet.
	return conversions.every(({ held }) => held !== null) ? "known" : null;
}

/**
 * Looks the click up, tells what is known of it, and otherwise opens a claim; but where one of the same sale is under way, whichever of its
 * names that has.
 * @throws HttpError 422 where nothing can have been sold then, where the publisher has {@link MAX_UNDER_WAY} under way, or has opened
 * {@link MAX_OPENED_A_DAY} of late
 */
export async function openClaim(deps: ClaimsDeps, publisher: string, actor: AuditActor, request: ClaimRequest): Promise<Claimed> {
	const { db, now } = deps;
	const { kind, id: aboutId, brand, at: sold, amount, text } = request;
	const at = now();
	const soldAt = sold === null ? null : Date.parse(sold);
	if (soldAt !== null && !isEventTime(soldAt, at)) {
		throw invalidInput([{ path: "at", message: "must not be before 2000, nor more than a day ahead" }]);
	}
	const { known, mayHide } = await lookUpFirst(deps, publisher, aboutId);
	const against = decideClaim(kind, known, mayHide);
	if (against !== null) return { outcome: against, claim: null, ...known };
	const clickHash = await clickOfSale(db, publisher, kind, known);
	const names = await namesOfSale(db, publisher, { kind, about: aboutId }, clickHash, known);
	const id = newTimeOrderedId(at);
	const row = {
		id,
		publisherId: publisher,
		kind,
		aboutId,
		clickHash,
		brand: brand === null ? null : canonicalHost(brand),
		soldAt,
		amountMicros: amount === null ? null : microsOf(amount),
		state: "open" as const,
		thread: JSON.stringify([{ at: isoTime(at), by: "publisher", state: "open", text }]),
		version: 1,
		createdAt: at,
		changedAt: at,
	};
	const entry = { verb: "openClaim", subjectKind: "claim", subjectId: id, after: { publisher, kind } } as const;
	const isUnderWay = sql`publisher_id = ${publisher} AND state IN ('open', 'answered')`;
	const underWay = sql`SELECT count(*) FROM claims WHERE ${isUnderWay}`;
	const openedOfLate = sql`SELECT count(*) FROM claims WHERE publisher_id = ${publisher} AND id >= ${leastIdAt(at - DAY_MS)}`;
	const ofSale = sql`SELECT id FROM claims WHERE ${isUnderWay} AND kind = ${kind} AND ${isAbout(names)} ORDER BY id LIMIT 1`;
	await runTransaction(db, [
		insertRows(
			claims,
			[row],
			sql`AND (${underWay}) < ${MAX_UNDER_WAY} AND (${openedOfLate}) < ${MAX_OPENED_A_DAY} AND NOT EXISTS (${ofSale}) ON CONFLICT DO NOTHING`,
		),
		auditStatement(actor, at, entry, { where: sql`EXISTS (SELECT 1 FROM claims WHERE id = ${id})` }),
	]);
	const [there] = await db.all<{ id: string }>(ofSale);
	if (there === undefined) {
		const message = `at most ${MAX_UNDER_WAY} claims may be under way, and ${MAX_OPENED_A_DAY} be opened within a day: wait for their answers`;
		throw invalidInput([{ path: "", message }]);
	}
	const claim = showClaim(await findClaim(db, there.id, publisher));
	return { outcome: there.id === id ? "opened" : "under_way", claim, ...known };
}

export async function listOwnClaims(
	{ db }: Pick<ClaimsDeps, "db">,
	publisher: string,
	query: v.InferOutput<typeof ownClaimsQuerySchema>,
): Promise<Claims> {
	const { rows, next } = await readClaims(db, { ...query, publisher });
	return { data: rows.map(showClaim), limit: query.limit, next_cursor: next };
}

/** Adds a text of the publisher's: the claim waits for the operator again. @throws HttpError 404; as {@link changeClaim} */
export async function replyToClaim(
	{ db, now }: ClaimsDeps,
	publisher: string,
	actor: AuditActor,
	id: string,
	text: string,
): Promise<Claim> {
	const claim = await findClaim(db, id, publisher);
	return showClaim(await changeClaim(db, claim, { verb: "replyToClaim", actor, at: now(), by: "publisher", state: "open", text }));
}

/** @throws HttpError 404; as {@link changeClaim} */
export async function withdrawClaim({ db, now }: ClaimsDeps, publisher: string, actor: AuditActor, id: string): Promise<Claim> {
	const claim = await findClaim(db, id, publisher);
	const change = { verb: "withdrawClaim", actor, at: now(), by: "publisher", state: "withdrawn", text: "Withdrawn." } as const;
	return showClaim(await changeClaim(db, claim, change));
}
