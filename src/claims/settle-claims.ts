/** What an operator does with claims: answers, grants by an adjustment, declines. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { adjust } from "../adjustments/adjust.ts";
import type { AdjustmentDeps } from "../adjustments/deps.ts";
import { clicksOfHash } from "../db/clicks-of-hash.ts";
import type { Database } from "../db/client.ts";
import { invalidInput } from "../http/errors.ts";
import { attachByHand } from "../operator/conversions/judge-by-hand.ts";
import type { OperatorClaim, OperatorClaims } from "./claim-answers.ts";
import type { claimsQuerySchema, GrantRequest } from "./claim-requests.ts";
import { assertUnderWay, type ClaimRow, changeClaim, findClaim, readClaims, showToOperator } from "./claim-rows.ts";

export async function listClaims({ db }: { db: Database }, query: v.InferOutput<typeof claimsQuerySchema>): Promise<OperatorClaims> {
	const { rows, next } = await readClaims(db, query);
	return { data: rows.map(showToOperator), limit: query.limit, next_cursor: next };
}

type Deps = Pick<AdjustmentDeps, "db" | "now" | "actor">;

/** @throws HttpError 404, 409, 422 as {@link changeClaim} */
export async function answerClaim({ db, now, actor }: Deps, id: string, text: string): Promise<OperatorClaim> {
	const change = { verb: "answerClaim", actor, at: now(), by: "network", state: "answered", text } as const;
	return showToOperator(await changeClaim(db, await findClaim(db, id), change));
}

/** @throws HttpError 404, 409 as {@link changeClaim} */
export async function declineClaim({ db, now, actor }: Deps, id: string, text: string): Promise<OperatorClaim> {
	const change = { verb: "declineClaim", actor, at: now(), by: "network", state: "declined", text } as const;
	return showToOperator(await changeClaim(db, await findClaim(db, id), change));
}

/**
 * Grants a claim by an adjustment, whose id is made of the claim's: asked again after a failure, it is not made twice.
 * @throws HttpError 404, 409 as {@link changeClaim}; 422 where the adjustment cannot be made, or is another publisher's
 */
export async function grantClaim(deps: AdjustmentDeps, id: string, { text, by }: GrantRequest): Promise<OperatorClaim> {
	const { db, now, actor } = deps;
	const claim = await findClaim(db, id);
	assertUnderWay(claim);
	const adjustmentId = `claim-${claim.id}`;
	await makeAdjustment(deps, claim, by, { id: adjustmentId, text: `Claim ${claim.id}` });
	const change = { verb: "grantClaim", actor, at: now(), by: "network", state: "granted", text, adjustmentId } as const;
	return showToOperator(await changeClaim(db, claim, change));
}

async function makeAdjustment(
	deps: AdjustmentDeps,
	claim: ClaimRow,
	by: GrantRequest["by"],
	shared: { id: string; text: string },
): Promise<void> {
	const { db } = deps;
	const { publisherId } = claim;
	if (by.kind === "amount") {
		await adjust(deps, { ...by, publisher: publisherId, ...shared });
		return;
	}
	const { platform, txnid } = by;
	if (by.kind === "attach_conversion") {
		const owned = await db.all(sql`SELECT id FROM clicks WHERE publisher_id = ${publisherId}
			AND id IN (SELECT id FROM clicks WHERE id = ${by.click} UNION ALL ${clicksOfHash(by.click)}
				UNION ALL SELECT id FROM clicks WHERE publisher_click_id = ${by.click}) LIMIT 1`);
		if (owned.length === 0) throw invalidInput([{ path: "by.click", message: "is no click of the claim's publisher" }]);
		await attachByHand(deps, { platform, txnid }, { click: by.click, ...shared }, false);
		return;
	}
	const owned = await db.all(
		sql`SELECT txnid FROM conversions WHERE platform = ${platform} AND txnid = ${txnid} AND publisher_id = ${publisherId}`,
	);
	if (owned.length === 0) throw invalidInput([{ path: "by.txnid", message: "is no transaction of the claim's publisher" }]);
	await adjust(deps, { kind: by.kind, platform, txnid, ...shared });
}
