/** POST /operator/check-ledger: checks all conversions, some of them a request. */
import { Hono } from "hono";
import { MAX_WORK_MS } from "../http/limits.ts";
import { readBody } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import type { LedgerDifference } from "./check-conversion.ts";
import { checkLedger, countReasons, type LedgerDeps, type Reasons } from "./check-ledger.ts";
import { checkLedgerSchema, type LedgerAnswer, readCursor, writeCursor } from "./ledger-answers.ts";
import { readNextKeys } from "./read-conversions.ts";
import { showLedgerDifference, showReasons } from "./show-ledger.ts";

const CONVERSIONS_A_SLICE = 500;
/** A request stops when it is reached, or its time is over. */
const MAX_SLICES = 20;
const MAX_SHOWN = 100;

export function ledgerRoutes(deps: LedgerDeps): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const { cursor } = await readBody(c.req.raw, checkLedgerSchema);
		return jsonResponse(await check(deps, cursor));
	});
	return app;
}

async function check(deps: LedgerDeps, cursor: string | undefined): Promise<LedgerAnswer> {
	const startedAt = deps.now();
	const differences: LedgerDifference[] = [];
	let after = (cursor === undefined ? null : readCursor(cursor)) ?? { platform: "", txnid: "" };
	let conversions = 0;
	let reasons: Reasons = {};
	let isOver = false;
	for (let slices = 0; !isOver && slices < MAX_SLICES && deps.now() - startedAt < MAX_WORK_MS; slices++) {
		const keys = await readNextKeys(deps.db, after, CONVERSIONS_A_SLICE);
		const result = await checkLedger(deps, keys);
		conversions += result.conversions;
		differences.push(...result.differences);
		reasons = countReasons(result.reasonOf.values(), reasons);
		after = keys.at(-1) ?? after;
		isOver = keys.length < CONVERSIONS_A_SLICE;
	}
	return {
		conversions,
		difference_count: differences.length,
		differences: differences.slice(0, MAX_SHOWN).map(showLedgerDifference),
		reasons: showReasons(reasons),
		next_cursor: isOver ? null : writeCursor(after),
	};
}
