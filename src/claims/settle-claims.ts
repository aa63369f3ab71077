/** What an operator does with claims: answers, grants by an adjustment, declines; or what that would come to. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { adjust, previewAdjustment } from "../adjustments/adjust.ts";
import type { Adjusted } from "../adjustments/adjustment-answer.ts";
import type { AdjustmentDeps } from "../adjustments/deps.ts";
import { clicksOfHash } from "../db/clicks-of-hash.ts";
import type { Database } from "../db/client.ts";
import { invalidInput } from "../http/errors.ts";
import { leastIdAt } from "../lib/ids.ts";
import { DAY_MS } from "../lib/time.ts";
import { attachByHand } from "../operator/conversions/judge-by-hand.ts";
import type { OperatorClaim, OperatorClaims, SettledClaim } from "./claim-answers.ts";
import type { claimsQuerySchema, GrantRequest } from "./claim-requests.ts";
import {
	assertUnderWay,
	CLAIM_FIELDS,
	type ClaimChange,
	type ClaimRow,
	changeClaim,
	findClaim,
	nextClaim,
	readClaims,
	showToOperator,
	unlessChanged,
	writeClaim,
} from "./claim-rows.ts";
import type { ClaimsDeps } from "./own-claims.ts";
import { isAbout, type Known, namesAround } from "./same-sale.ts";

const OTHERS_WITHIN_MS = 90 * DAY_MS;
const MAX_OTHERS = 20;

export async function listClaims({ db }: { db: Database }, query: v.InferOutput<typeof claimsQuerySchema>): Promise<OperatorClaims> {
	const { rows, next } = await readClaims(db, query);
	return { data: rows.map(showToOperator), limit: query.limit, next_cursor: next };
}

/** Claims of the same publisher that may name the same sale, however they call it, the newest first: what was granted is not granted again. */
export async function listOthersOfSale(deps: ClaimsDeps, claim: OperatorClaim, known: Known): Promise<OperatorClaim[]> {
	const { db, now } = deps;
	const { id, publisher } = claim;
	const names = await namesAround(db, publisher, claim, known);
	const rows = await db.all<ClaimRow>(sql`SELECT ${CLAIM_FIELDS} FROM claims c
		WHERE publisher_id = ${publisher} AND id >= ${leastIdAt(now() - OTHERS_WITHIN_MS)} AND id <> ${id}
			AND ${isAbout(names)}
		ORDER BY id DESC LIMIT ${MAX_OTHERS}`);
	return rows.map(showToOperator);
}

type Deps = Pick<AdjustmentDeps, "db" | "now" | "actor">;
/** `seen`: how many texts of the claim were read before this was decided, as {@link nextClaim} has it. */
type Settling = { isDryRun?: boolean; seen?: number | undefined };

/** @throws HttpError 404, 412, 422 as {@link changeClaim} */
export async function answerClaim(
	{ db, now, actor }: Deps,
	id: string,
	text: string,
	{ isDryRun = false, seen }: Settling = {},
): Promise<SettledClaim> {
	const change = { verb: "answerClaim", actor, at: now(), by: "network", state: "answered", text, seen } as const;
	return settle(db, await findClaim(db, id), change, isDryRun);
}

/** @throws HttpError 404, 412 as {@link changeClaim} */
export async function declineClaim(
	{ db, now, actor }: Deps,
	id: string,
	text: string,
	{ isDryRun = false, seen }: Settling = {},
): Promise<SettledClaim> {
	const change = { verb: "declineClaim", actor, at: now(), by: "network", state: "declined", text, seen } as const;
	return settle(db, await findClaim(db, id), change, isDryRun);
}

/**
 * Grants a claim by an adjustment, whose id is made of the claim's, in one transaction: both are there, or neither is.
 * @throws HttpError 404, 412 as {@link changeClaim}; 422 where the adjustment cannot be made, or is another publisher's
 */
export async function grantClaim(
	deps: AdjustmentDeps,
	id: string,
	{ text, by }: GrantRequest,
	{ isDryRun = false, seen }: Settling = {},
): Promise<SettledClaim> {
	const { db, now, actor } = deps;
	const claim = await findClaim(db, id);
	assertUnderWay(claim);
	const adjustmentId = `claim-${claim.id}`;
	const change = { verb: "grantClaim", actor, at: now(), by: "network", state: "granted", text, adjustmentId, seen } as const;
	const shared = { id: adjustmentId, text: `Claim ${claim.id}` };
	// Earlier versions wrote the claim afterwards: one that is there is only told.
	const isMade = (await db.all(sql`SELECT id FROM adjustments WHERE id = ${adjustmentId}`)).length > 0;
	if (isMade || isDryRun) {
		const adjusted = await makeAdjustment(deps, claim, by, { ...shared, isDryRun: !isMade });
		return settle(db, claim, change, isDryRun, adjusted);
	}
	const next = nextClaim(claim, change);
	const beside = writeClaim(claim, change, next);
	const adjusted = await unlessChanged(() => makeAdjustment({ ...deps, beside }, claim, by, { ...shared, isDryRun: false }));
	return { ...showToOperator(next), adjusted, dry_run: false };
}

async function settle(
	db: Database,
	claim: ClaimRow,
	change: ClaimChange,
	isDryRun: boolean,
	adjusted: Adjusted | null = null,
): Promise<SettledClaim> {
	const settled = isDryRun ? nextClaim(claim, change) : await changeClaim(db, claim, change);
	return { ...showToOperator(settled), adjusted, dry_run: isDryRun };
}

async function makeAdjustment(
	deps: AdjustmentDeps,
	claim: ClaimRow,
	by: GrantRequest["by"],
	{ isDryRun, ...shared }: { id: string; text: string; isDryRun: boolean },
): Promise<Adjusted> {
	const { db } = deps;
	const { publisherId } = claim;
	const make = isDryRun ? previewAdjustment : adjust;
	if (by.kind === "amount") return make(deps, { ...by, publisher: publisherId, ...shared });
	const { platform, txnid } = by;
	if (by.kind === "attach_conversion") {
		const owned = await db.all(sql`SELECT id FROM clicks WHERE publisher_id = ${publisherId}
			AND id IN (SELECT id FROM clicks WHERE id = ${by.click} UNION ALL ${clicksOfHash(by.click)}
				UNION ALL SELECT id FROM clicks WHERE publisher_click_id = ${by.click}) LIMIT 1`);
		if (owned.length === 0) throw invalidInput([{ path: "by.click", message: "is no click of the claim's publisher" }]);
		const {
			conversion: _,
			callbacks: __,
			...adjusted
		} = await attachByHand(deps, { platform, txnid }, { click: by.click, ...shared }, isDryRun, publisherId);
		return adjusted;
	}
	const owned = await db.all(
		sql`SELECT txnid FROM conversions WHERE platform = ${platform} AND txnid = ${txnid} AND publisher_id = ${publisherId}`,
	);
	if (owned.length === 0) throw invalidInput([{ path: "by.txnid", message: "is no transaction of the claim's publisher" }]);
	return make(deps, { ...by, ...shared });
}
