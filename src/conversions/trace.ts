/** "Where is my sale?": everything that is known of a click id or transaction id, from the click to the last callback attempt. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { StoredRow } from "../db/json-rows.ts";
import type { callbackAttempts, callbacks } from "../db/schema/callbacks.ts";
import type { clicks } from "../db/schema/clicks.ts";
import type { conversionEvents, conversions, postbackIntake } from "../db/schema/conversions.ts";
import { normaliseClickId } from "../lib/click-id.ts";
import type { ConversionHold, NoMatch } from "../lib/enums.ts";
import { formatUsd } from "../lib/money.ts";
import type { TrafficRule } from "../lib/traffic-rules.ts";
import type { PostbackAnswer } from "./answers.ts";
import type { ConversionKey, EventDetails } from "./conversion.ts";
import { readLedgerState } from "./read-ledger-state.ts";
import type { Trace } from "./trace-answer.ts";

/** Most rows of a kind that a trace shows, the newest; a publisher click id of thousands of clicks is not one sale. */
const MAX_ROWS = 100;

type ClickRow = StoredRow<typeof clicks> & { domain: string | null };
type PostbackRow = StoredRow<typeof postbackIntake>;
type ConversionRow = StoredRow<typeof conversions>;
type EventRow = StoredRow<typeof conversionEvents>;
type CallbackRow = StoredRow<typeof callbacks>;
type AttemptRow = StoredRow<typeof callbackAttempts>;

/** @param id a click hash (any case), a publisher's click id, a transaction id of any platform, or the request id of a postback */
export async function traceConversion(db: Database, id: string): Promise<Trace> {
	// As it is written, for transaction ids, and as click ids are read.
	const clickId = normaliseClickId(id) ?? id;
	const spellings = JSON.stringify([...new Set([id, clickId, clickId.toLowerCase(), clickId.toUpperCase()])]);
	const ids = sql`(SELECT atom FROM json_each(${spellings}))`;
	const clicksOfId = sql`SELECT id FROM clicks WHERE click_hash = ${clickId.toLowerCase()} UNION SELECT id FROM clicks WHERE publisher_click_id IN (${id}, ${clickId})`;
	const found = await db.all<ConversionRow>(sql`SELECT v.* FROM (
			SELECT platform, txnid FROM conversions WHERE platform IN (SELECT id FROM platforms) AND txnid = ${id}
			UNION SELECT platform, txnid FROM conversions WHERE cid IN ${ids}
			UNION SELECT platform, txnid FROM conversions WHERE click_id IN (${clicksOfId})
			UNION SELECT platform, txnid FROM postback_intake WHERE id = ${id}
		) k CROSS JOIN conversions v WHERE v.platform = k.platform AND v.txnid = k.txnid
		ORDER BY first_received_at DESC LIMIT ${MAX_ROWS}`);
	const keys = JSON.stringify(found.map(({ platform, txnid }) => ({ platform, txnid })));
	const isOfKeys = sql`t.platform = k.value ->> 'platform' AND t.txnid = k.value ->> 'txnid'`;
	const clickIds = JSON.stringify(found.map(({ click_id }) => click_id).filter((clickId) => clickId !== null));
	const [clicksFound, postbacks, events, callbacksFound, attempts] = await Promise.all([
		db.all<ClickRow>(sql`SELECT c.*, b.domain AS domain FROM clicks c LEFT JOIN brands b ON b.id = c.brand_id
			WHERE c.id IN (${clicksOfId} UNION SELECT atom FROM json_each(${clickIds})) ORDER BY c.id DESC LIMIT ${MAX_ROWS}`),
		// Rejected ones name no conversion: they are found by what they said.
		db.all<PostbackRow>(sql`SELECT * FROM postback_intake WHERE id IN (
				SELECT id FROM postback_intake WHERE txnid = ${id}
				UNION SELECT id FROM postback_intake WHERE cid IN ${ids}
				UNION SELECT id FROM postback_intake WHERE id = ${id}
				UNION SELECT t.id FROM json_each(${keys}) k CROSS JOIN postback_intake t WHERE ${isOfKeys})
			ORDER BY id DESC LIMIT ${MAX_ROWS}`),
		db.all<EventRow>(
			sql`SELECT t.* FROM json_each(${keys}) k CROSS JOIN conversion_events t WHERE ${isOfKeys} ORDER BY t.platform, t.txnid, t.seq`,
		),
		db.all<CallbackRow>(
			sql`SELECT t.* FROM json_each(${keys}) k CROSS JOIN callbacks t WHERE ${isOfKeys} ORDER BY t.platform, t.txnid, t.seq`,
		),
		db.all<AttemptRow>(
			sql`SELECT a.* FROM json_each(${keys}) k CROSS JOIN callbacks t CROSS JOIN callback_attempts a
				WHERE ${isOfKeys} AND a.callback_id = t.id ORDER BY a.started_at, a.id`,
		),
	]);
	const whyUncounted = await explainUncounted(db, found);
	return {
		id,
		truncated: [clicksFound, postbacks, found].some(({ length }) => length === MAX_ROWS),
		clicks: clicksFound.toReversed().map(showClick),
		postbacks: postbacks.toReversed().map(showPostback),
		conversions: found.toReversed().map((conversion) => {
			const isOf = ({ platform, txnid }: ConversionKey) => platform === conversion.platform && txnid === conversion.txnid;
			return {
				...showConversion(conversion),
				why: whyUncounted(conversion),
				events: events.filter(isOf).map(showEvent),
				callbacks: callbacksFound.filter(isOf).map((callback) => ({
					...showCallback(callback),
					attempts: attempts.filter(({ callback_id }) => callback_id === callback.id).map(showAttempt),
				})),
			};
		}),
	};
}

type Why = NoMatch | ConversionHold | null;

/** Why no click is found for a conversion, by what is stored at this moment; for one that has a click, what it is held for. */
async function explainUncounted(db: Database, rows: readonly ConversionRow[]): Promise<(conversion: ConversionRow) => Why> {
	const missing = rows.filter(({ click_id }) => click_id === null);
	if (missing.length === 0) return ({ held_for }) => held_for;
	const keys = missing.map(({ platform, txnid }) => ({ platform, txnid }));
	const { findClick } = await readLedgerState(db, [], [], keys);
	return ({ platform, cid, click_id, held_for }) => (click_id === null ? findClick(platform, cid).why : held_for);
}

type ShownConversion = Trace["conversions"][number];
type ShownCallback = ShownConversion["callbacks"][number];

function showClick(row: ClickRow): Trace["clicks"][number] {
	return {
		id: row.id,
		click_hash: row.click_hash,
		kind: row.kind,
		billed: row.reason === null,
		reason: row.reason,
		flags: (row.flags?.split(" ") ?? []) as TrafficRule[],
		clicked_at: isoTime(row.clicked_at),
		publisher: row.publisher_id,
		publisher_click_id: row.publisher_click_id,
		brand: row.domain,
		campaign_id: row.campaign_id,
		platform: row.platform,
		source_id: row.source_id,
		pricing_model: row.pricing_model,
		bid: formatUsd(row.bid_micros),
		revenue: formatUsd(row.revenue_micros),
	};
}

function showPostback(row: PostbackRow): Trace["postbacks"][number] {
	return {
		id: row.id,
		received_at: isoTime(row.received_at),
		platform: row.platform,
		method: row.method,
		query: row.query,
		outcome: row.outcome,
		answer: JSON.parse(row.answer) as PostbackAnswer,
	};
}

function showConversion(row: ConversionRow): Omit<ShownConversion, "why" | "events" | "callbacks"> {
	return {
		platform: row.platform,
		txnid: row.txnid,
		cid: row.cid,
		stage: row.stage,
		status: row.status,
		verdict: row.verdict,
		network_status: row.network_status,
		status_unknown: row.status_unknown === 1,
		credited: row.credited === 1,
		test: row.test === 1,
		event_at: isoTime(row.event_at),
		payout: formatUsd(row.payout_micros),
		sales: amount(row.sales_micros),
		currency: row.currency,
		usd_rate: row.usd_nanos === null ? null : row.usd_nanos / 1_000_000_000,
		gross_usd: amount(row.gross_micros),
		sales_usd: amount(row.sales_usd_micros),
		revenue_share: row.revenue_share_ppm === null ? null : row.revenue_share_ppm / 1_000_000,
		publisher_revenue: amount(row.revenue_micros),
		pricing_model: row.pricing_model,
		attribution: row.attribution,
		click_id: row.click_id,
		publisher: row.publisher_id,
		publisher_click_id: row.publisher_click_id,
		source_id: row.source_id,
		campaign_id: row.campaign_id,
		s2: row.s2,
		s3: row.s3,
		surl: row.surl,
		first_received_at: isoTime(row.first_received_at),
		updated_at: isoTime(row.updated_at),
		retry_at: timeOrNull(row.retry_at),
	};
}

function showEvent(row: EventRow): ShownConversion["events"][number] {
	const details = JSON.parse(row.details) as EventDetails;
	return { seq: row.seq, at: isoTime(row.at), kind: row.kind, postback: row.intake_id, ...details };
}

function showCallback(row: CallbackRow): Omit<ShownCallback, "attempts"> {
	return {
		id: row.id,
		seq: row.seq,
		status: row.status,
		publisher: row.publisher_id,
		cid: row.cid,
		payout: formatUsd(row.payout_micros),
		state: row.state,
		request_id: row.intake_id,
		created_at: isoTime(row.created_at),
		next_attempt_at: timeOrNull(row.next_attempt_at),
		delivered_at: timeOrNull(row.delivered_at),
	};
}

function showAttempt(row: AttemptRow): ShownCallback["attempts"][number] {
	return { at: isoTime(row.started_at), http_status: row.http_status, latency_ms: row.latency_ms, answer: row.answer };
}

function isoTime(at: number): string {
	return new Date(at).toISOString();
}

function timeOrNull(at: number | null): string | null {
	return at === null ? null : isoTime(at);
}

/** Millionths of a currency as a decimal. */
function amount(micros: number | null): string | null {
	return micros === null ? null : formatUsd(micros);
}
