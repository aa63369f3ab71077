/** "Where is my sale?": everything that is known of a click id or transaction id, from the click to the last callback attempt. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { formatUsd } from "../lib/money.ts";
import { readLedgerState } from "./read-ledger-state.ts";

/** Most rows of a kind that a trace shows, the newest; a publisher click id of thousands of clicks is not one sale. */
const MAX_ROWS = 100;

type Row = Record<string, string | number | null>;

/** @param id a click hash (any case), a publisher's click id, a transaction id of any platform, or the request id of a postback */
export async function traceConversion(db: Database, id: string): Promise<Record<string, unknown>> {
	const spellings = JSON.stringify([...new Set([id, id.toLowerCase(), id.toUpperCase()])]);
	const ids = sql`(SELECT value FROM json_each(${spellings}))`;
	const clicksOfId = sql`SELECT id FROM clicks WHERE click_hash = ${id.toLowerCase()} UNION SELECT id FROM clicks WHERE publisher_click_id = ${id}`;
	const conversions = await db.all<Row>(sql`SELECT * FROM conversions WHERE rowid IN (
			SELECT rowid FROM conversions WHERE platform IN (SELECT id FROM platforms) AND txnid = ${id}
			UNION SELECT rowid FROM conversions WHERE cid IN ${ids}
			UNION SELECT rowid FROM conversions WHERE click_id IN (${clicksOfId})
			UNION SELECT v.rowid FROM postback_intake i CROSS JOIN conversions v ON v.platform = i.platform AND v.txnid = i.txnid WHERE i.id = ${id})
		ORDER BY first_received_at DESC LIMIT ${MAX_ROWS}`);
	const keys = JSON.stringify(conversions.map(({ platform, txnid }) => ({ platform, txnid })));
	const ofKeys = (table: string) =>
		sql`json_each(${keys}) k CROSS JOIN ${sql.raw(table)} t ON t.platform = k.value ->> '$.platform' AND t.txnid = k.value ->> '$.txnid'`;
	const clickIds = JSON.stringify(conversions.map(({ click_id }) => click_id).filter((clickId) => clickId !== null));
	const [clicks, postbacks, events, callbacks, attempts] = await Promise.all([
		db.all<Row>(sql`SELECT c.*, b.domain AS domain FROM clicks c LEFT JOIN brands b ON b.id = c.brand_id
			WHERE c.id IN (${clicksOfId} UNION SELECT value FROM json_each(${clickIds})) ORDER BY c.id DESC LIMIT ${MAX_ROWS}`),
		// Rejected ones name no conversion: they are found by what they said.
		db.all<Row>(sql`SELECT * FROM postback_intake WHERE id IN (
				SELECT id FROM postback_intake WHERE txnid = ${id}
				UNION SELECT id FROM postback_intake WHERE cid IN ${ids}
				UNION SELECT id FROM postback_intake WHERE id = ${id}
				UNION SELECT t.id FROM json_each(${keys}) k CROSS JOIN postback_intake t ON t.txnid = k.value ->> '$.txnid' AND t.platform = k.value ->> '$.platform')
			ORDER BY id DESC LIMIT ${MAX_ROWS}`),
		db.all<Row>(sql`SELECT t.* FROM ${ofKeys("conversion_events")} ORDER BY t.seq`),
		db.all<Row>(sql`SELECT t.* FROM ${ofKeys("callbacks")} ORDER BY t.seq`),
		db.all<Row>(
			sql`SELECT a.* FROM ${ofKeys("callbacks")} CROSS JOIN callback_attempts a ON a.callback_id = t.id ORDER BY a.started_at, a.id`,
		),
	]);
	const whyUnmatched = await explainMissingClicks(db, conversions);
	const isOf = (conversion: Row) => (row: Row) => row.platform === conversion.platform && row.txnid === conversion.txnid;
	return {
		id,
		truncated: [clicks, postbacks, conversions].some(({ length }) => length === MAX_ROWS),
		clicks: clicks.toReversed().map(showClick),
		postbacks: postbacks.toReversed().map(showPostback),
		conversions: conversions.toReversed().map((conversion) => ({
			...showConversion(conversion),
			why: whyUnmatched(conversion),
			events: events.filter(isOf(conversion)).map(showEvent),
			callbacks: callbacks.filter(isOf(conversion)).map((callback) => ({
				...showCallback(callback),
				attempts: attempts.filter(({ callback_id }) => callback_id === callback.id).map(showAttempt),
			})),
		})),
	};
}

/** Why no click is found for a conversion, by what is stored at this moment; null where it has one. */
async function explainMissingClicks(db: Database, conversions: readonly Row[]): Promise<(conversion: Row) => string | null> {
	const missing = conversions.filter(({ click_id }) => click_id === null);
	if (missing.length === 0) return () => null;
	const keys = missing.map(({ platform, txnid }) => ({ platform: String(platform), txnid: String(txnid) }));
	const { findClick } = await readLedgerState(db, [], [], keys);
	return ({ platform, cid, click_id }) => (click_id === null ? findClick(String(platform), String(cid)).why : null);
}

function showClick(row: Row): Record<string, unknown> {
	return {
		id: row.id,
		click_hash: row.click_hash,
		kind: row.kind,
		billed: row.reason === null,
		reason: row.reason,
		clicked_at: time(row.clicked_at),
		publisher: row.publisher_id,
		publisher_click_id: row.publisher_click_id,
		brand: row.domain,
		campaign_id: row.campaign_id,
		platform: row.platform,
		source_id: row.source_id,
		pricing_model: row.pricing_model,
		bid: amount(row.bid_micros),
		revenue: amount(row.revenue_micros),
	};
}

function showPostback(row: Row): Record<string, unknown> {
	return {
		id: row.id,
		received_at: time(row.received_at),
		platform: row.platform,
		method: row.method,
		query: row.query,
		outcome: row.outcome,
		answer: JSON.parse(String(row.answer)),
	};
}

function showConversion(row: Row): Record<string, unknown> {
	return {
		platform: row.platform,
		txnid: row.txnid,
		cid: row.cid,
		stage: row.stage,
		status: row.status,
		network_status: row.network_status,
		status_unknown: row.status_unknown === 1,
		test: row.test === 1,
		event_at: time(row.event_at),
		payout: amount(row.payout_micros),
		sales: amount(row.sales_micros),
		currency: row.currency,
		usd_rate: row.usd_nanos === null ? null : Number(row.usd_nanos) / 1_000_000_000,
		gross_usd: amount(row.gross_micros),
		sales_usd: amount(row.sales_usd_micros),
		revenue_share: row.revenue_share_ppm === null ? null : Number(row.revenue_share_ppm) / 1_000_000,
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
		first_received_at: time(row.first_received_at),
		updated_at: time(row.updated_at),
		retry_at: time(row.retry_at),
	};
}

function showEvent(row: Row): Record<string, unknown> {
	return { seq: row.seq, at: time(row.at), kind: row.kind, postback: row.intake_id, ...JSON.parse(String(row.details)) };
}

function showCallback(row: Row): Record<string, unknown> {
	return {
		id: row.id,
		seq: row.seq,
		status: row.status,
		publisher: row.publisher_id,
		cid: row.cid,
		payout: amount(row.payout_micros),
		state: row.state,
		request_id: row.intake_id,
		created_at: time(row.created_at),
		next_attempt_at: time(row.next_attempt_at),
		delivered_at: time(row.delivered_at),
	};
}

function showAttempt(row: Row): Record<string, unknown> {
	return { at: time(row.started_at), http_status: row.http_status, latency_ms: row.latency_ms, answer: row.answer };
}

function time(value: Row[string] | undefined): string | null {
	return typeof value === "number" ? new Date(value).toISOString() : null;
}

/** Millionths of a currency as a decimal. */
function amount(value: Row[string] | undefined): string | null {
	return typeof value === "number" ? formatUsd(value) : null;
}
