/** Rows of the ledger as traces and lists show them: pure. */
import type { StoredRow } from "../db/json-rows.ts";
import type { callbackAttempts, callbacks } from "../db/schema/callbacks.ts";
import type { clicks } from "../db/schema/clicks.ts";
import type { conversionEvents, conversions, postbackIntake } from "../db/schema/conversions.ts";
import { formatUsd } from "../lib/money.ts";
import { isoTime, isoTimeOrNull } from "../lib/time.ts";
import type { TrafficRule } from "../lib/traffic-rules.ts";
import type { PostbackAnswer } from "./answers.ts";
import type { EventDetails } from "./conversion.ts";
import type { Trace } from "./trace-answer.ts";

export type ClickRow = StoredRow<typeof clicks> & { domain: string | null };
export type PostbackRow = StoredRow<typeof postbackIntake>;
export type ConversionRow = StoredRow<typeof conversions>;
export type EventRow = StoredRow<typeof conversionEvents>;
export type CallbackRow = StoredRow<typeof callbacks>;
export type AttemptRow = StoredRow<typeof callbackAttempts>;

export type ShownConversion = Trace["conversions"][number];
type ShownCallback = ShownConversion["callbacks"][number];

export function showClick(row: ClickRow): Trace["clicks"][number] {
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

export function showPostback(row: PostbackRow): Trace["postbacks"][number] {
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

export function showConversion(row: ConversionRow): Omit<ShownConversion, "why" | "events" | "callbacks"> {
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
		retry_at: isoTimeOrNull(row.retry_at),
	};
}

export function showEvent(row: EventRow): ShownConversion["events"][number] {
	const { set, ...others } = JSON.parse(row.details) as EventDetails;
	const shown = Object.fromEntries(Object.entries(set).map(([name, value]) => [nameOf(name), showValue(name, value)]));
	return { seq: row.seq, at: isoTime(row.at), kind: row.kind, postback: row.intake_id, set: shown, ...others };
}

/** Columns that {@link showConversion} has under other names than their own in small letters. */
const SHOWN_AS: Readonly<Record<string, keyof ShownConversion>> = {
	payoutMicros: "payout",
	salesMicros: "sales",
	usdNanos: "usd_rate",
	grossMicros: "gross_usd",
	salesUsdMicros: "sales_usd",
	revenueSharePpm: "revenue_share",
	revenueMicros: "publisher_revenue",
	publisherId: "publisher",
};

/** @example nameOf("clickedAt") // "clicked_at" */
function nameOf(column: string): string {
	return SHOWN_AS[column] ?? column.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function showValue(column: string, value: string | number | boolean | null): string | number | boolean | null {
	if (typeof value !== "number") return value;
	if (column.endsWith("Micros")) return formatUsd(value);
	if (column.endsWith("Nanos")) return value / 1_000_000_000;
	if (column.endsWith("Ppm")) return value / 1_000_000;
	return column.endsWith("At") ? isoTime(value) : value;
}

export function showCallback(row: CallbackRow): Omit<ShownCallback, "attempts"> {
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
		next_attempt_at: isoTimeOrNull(row.next_attempt_at),
		delivered_at: isoTimeOrNull(row.delivered_at),
	};
}

export function showAttempt(row: AttemptRow): ShownCallback["attempts"][number] {
	return { at: isoTime(row.started_at), http_status: row.http_status, latency_ms: row.latency_ms, answer: row.answer };
}

/** Millionths of a currency as a decimal. */
function amount(micros: number | null): string | null {
	return micros === null ? null : formatUsd(micros);
}
