/**
 * Values conversions of a currency again that are settled or held for their amount, by the exchange rates that are stored now: chunk by
 * chunk, each one transaction. What has the stored rate already is passed over, so that it may be cut off and asked again, and a second one
 * changes nothing.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { invalidInput } from "../http/errors.ts";
import { logInfo } from "../lib/log.ts";
import { DAY_MS } from "../lib/time.ts";
import { answerOf, newRow } from "./adjust.ts";
import { endAdjustment, untilEnded } from "./adjust-clicks.ts";
import type { Adjusted } from "./adjustment-answer.ts";
import { type Adjustment, openAdjustment, readAdjustment } from "./adjustment-rows.ts";
import { type AdjustmentDeps, type Change, type ConversionKey, NO_CHANGE } from "./deps.ts";
import type { RevalueRequest } from "./revalue-request.ts";

/** Conversions that one transaction changes. */
const CHUNK = 100;
/** Chunks of one request: an invocation has 1,000 queries, and a chunk that is written takes some twenty-five. */
const MAX_CHUNKS = 30;
const MAX_CHUNKS_LOOKED_AT = 80;

type Next = ConversionKey & { eventAt: number };

/** @throws HttpError 422 where there is no rate, 412 where its id is another request's */
export async function revalue(deps: AdjustmentDeps, request: RevalueRequest): Promise<Adjusted> {
	const { db } = deps;
	const known = request.id === undefined ? null : await readAdjustment(db, request.id, request);
	if (known === null) await requireRate(db, request);
	const opened = known ?? (await openAdjustment(deps, { ...newRow(deps, request), cursor: "" }, request));
	const stored = opened.cursor === null ? opened : await revalueAll(deps, request, opened);
	const complete = stored.cursor === null;
	const { id, kind, conversions } = stored;
	logInfo("adjustment.made", { adjustment: id, kind, clicks: 0, conversions, complete });
	return { id, ...answerOf("revalue", { ...stored, complete }), dry_run: false };
}

function revalueAll({ db, revalue }: AdjustmentDeps, request: RevalueRequest, { id, cursor: begun }: Adjustment): Promise<Adjustment> {
	return untilEnded(db, id, async () => {
		let after = readCursor(begun);
		for (let chunks = 0; chunks < MAX_CHUNKS; chunks++) {
			const chunk = await readChunk(db, request, after);
			const last = chunk.at(-1);
			if (last === undefined) return endAdjustment(db, id);
			after = last;
			const cursor = JSON.stringify([last.eventAt, last.platform, last.txnid]);
			await revalue(chunk, id, {
				alongside: ({ conversions, publisherRevenueMicros, grossMicros }) => [
					// Null, which its column refuses, where the adjustment has ended meanwhile.
					sql`UPDATE adjustments SET conversions = CASE WHEN cursor IS NOT NULL THEN conversions + ${conversions} END,
						publisher_revenue_micros = publisher_revenue_micros + ${publisherRevenueMicros},
						gross_revenue_micros = gross_revenue_micros + ${grossMicros}, cursor = ${cursor}
						WHERE id = ${id}`,
				],
			});
		}
	});
}

/** What it would change; `complete` is false where there is more than one request looks at. @throws HttpError 422 where there is no rate */
export async function previewRevalue({ db, revalue }: AdjustmentDeps, request: RevalueRequest): Promise<Adjusted> {
	await requireRate(db, request);
	const change: Change = { ...NO_CHANGE, complete: false };
	let after = readCursor(null);
	for (let chunks = 0; chunks < MAX_CHUNKS_LOOKED_AT && !change.complete; chunks++) {
		const chunk = await readChunk(db, request, after);
		const { conversions, publisherRevenueMicros, grossMicros } = await revalue(chunk, "", { dryRun: true });
		change.conversions += conversions;
		change.publisherRevenueMicros += publisherRevenueMicros;
		change.grossRevenueMicros += grossMicros;
		change.complete = chunk.length < CHUNK;
		after = chunk.at(-1) ?? after;
	}
	return { id: null, ...answerOf("revalue", change), dry_run: true };
}

function readCursor(text: string | null): Next {
	if (text === null || text === "") return { eventAt: -1, platform: "", txnid: "" };
	const [eventAt, platform, txnid] = JSON.parse(text) as [number, string, string];
	return { eventAt, platform, txnid };
}

function readChunk(db: Database, request: RevalueRequest, after: Next): Promise<Next[]> {
	return db.all<Next>(chooseValuedOtherwise(request, after));
}

/**
 * The next conversions that were valued by another rate than the stored one, settled or held for what they came to by it: found in the
 * indexes conversions_foreign_by_event and conversions_quarantined. Exported for its plan.
 */
export function chooseValuedOtherwise(
	{ currency, from, to }: Pick<RevalueRequest, "currency" | "from" | "to">,
	{ eventAt, platform, txnid }: Next,
): SQL {
	const otherwiseValued = sql`currency = ${currency}
		AND event_at >= ${Math.max(Date.parse(from), eventAt)} AND event_at < ${Date.parse(to) + DAY_MS}
		AND (event_at > ${eventAt} OR (platform, txnid) > (${platform}, ${txnid}))
		AND EXISTS (SELECT 1 FROM exchange_rates r
			WHERE r.id = v.currency || ' ' || date(v.event_at / 1000, 'unixepoch') AND r.usd_nanos <> v.usd_nanos)`;
	return sql`SELECT event_at AS "eventAt", platform, txnid FROM conversions v
			WHERE stage = 'settled' AND currency <> 'USD' AND ${otherwiseValued}
		UNION ALL SELECT event_at AS "eventAt", platform, txnid FROM conversions v
			WHERE stage = 'quarantined' AND held_for = 'amount' AND ${otherwiseValued}
		ORDER BY "eventAt", platform, txnid LIMIT ${CHUNK}`;
}

async function requireRate(db: Database, { currency, from, to }: RevalueRequest): Promise<void> {
	const [rate] = await db.all(
		sql`SELECT 1 AS one FROM exchange_rates WHERE id BETWEEN ${`${currency} ${from}`} AND ${`${currency} ${to}`} LIMIT 1`,
	);
	if (rate === undefined) throw invalidInput([{ path: "currency", message: "has no exchange rate of these days" }]);
}
