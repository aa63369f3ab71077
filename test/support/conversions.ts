/** Conversions under test: a network, clicks written as the click consumer writes them, postbacks, and what became of them. */
import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { RECEIVED } from "../../src/conversions/answers.ts";
import type { ReceivedPostback } from "../../src/conversions/message.ts";
import worker from "../../src/worker.ts";
import { ACME, brandEntry, importExactly } from "./network-import.ts";
import "./worker-env.ts";

export const WEST_KEY = "platform-key-west";
const EAST_KEY = "platform-key-east";

/**
 * Publishers `cpa` (share 0.8, with a callback address), `cpc`, and `quiet` (CPA without an address); platforms `west` (USD) and
 * `east` (EUR).
 */
export async function importConversionNetwork(): Promise<void> {
	await importExactly({
		platforms: [platformEntry("west"), platformEntry("east")],
		publishers: [publisherEntry("cpa"), publisherEntry("cpc"), publisherEntry("quiet")],
		brands: [brandEntry("shoes.example", 11, {}, { platform: "west" }), brandEntry("hats.example", 12, {}, { platform: "east" })],
		exchange_rates: [{ currency: "EUR", date: "2026-11-10", usd: "1.1" }],
	});
}

const CALLBACK_URL = "https://publisher.example/s2s";
const PUBLISHERS = {
	cpa: { pricing_model: "CPA", callback_url: CALLBACK_URL },
	cpc: { pricing_model: "CPC", callback_url: CALLBACK_URL },
	quiet: { pricing_model: "CPA" },
};
const PLATFORMS = {
	west: {
		platform_id: 1,
		name: "West",
		access_key: WEST_KEY,
		currency: "USD",
		status_map: { invoiced: "approved", Disputed: "cancelled" },
	},
	east: { platform_id: 2, name: "East", access_key: EAST_KEY, currency: "EUR", status_map: {} },
};

/** A publisher of {@link importConversionNetwork} as the network file has it, with other settings. */
export function publisherEntry(id: keyof typeof PUBLISHERS, fields: object = {}): object {
	return {
		...ACME,
		id,
		publisher_id: `id-${id}`,
		publisher_identity: `identity-${id}`,
		access_key: `access-key-${id}`,
		publisher_key: `publisher-key-${id}`,
		revenue_share: 0.8,
		...PUBLISHERS[id],
		...fields,
	};
}

/** A platform of it, likewise. */
export function platformEntry(id: keyof typeof PLATFORMS, fields: object = {}): object {
	return { id, ...PLATFORMS[id], ...fields };
}

export type ClickFields = Record<string, string | number | null>;

let written = 0;

/** A billed click of `cpa` on `west`, as the click consumer writes it. */
export function clickRow(fields: ClickFields = {}): ClickFields {
	const serial = (++written).toString(16).padStart(8, "0");
	const at = Number(fields.clicked_at ?? Date.parse("2026-11-10T08:00:00Z"));
	return {
		id: `${at.toString(16).padStart(12, "0")}-${serial}`,
		click_hash: `c${serial}`.padEnd(32, "0"),
		kind: "link",
		reason: null,
		clicked_at: at,
		publisher_id: "cpa",
		brand_id: 1,
		campaign_id: 11,
		platform: "west",
		publisher_click_id: `pub-${serial}`,
		source_id: `source-${serial}`,
		bid_micros: 100_000,
		revenue_micros: 0,
		pricing_model: fields.publisher_id === "cpc" ? "CPC" : "CPA",
		written_by: "test",
		...fields,
	};
}

export async function storeClicks(...rows: ClickFields[]): Promise<void> {
	if (rows.length === 0) return;
	await env.DB.batch(
		rows.map((row) => {
			const columns = Object.keys(row);
			return env.DB.prepare(`INSERT INTO clicks (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`).bind(
				...Object.values(row),
			);
		}),
	);
}

export type Fields = Record<string, string>;

/** Fields of a postback that is in order. */
export function postbackFields(fields: Fields = {}): Fields {
	return { txnid: "t-1", cid: "c".padEnd(32, "0"), edate: "2026-11-10T12:00:00Z", payout: "10", ...fields };
}

/** Calls the endpoint. */
export async function callPostback(
	key: string,
	query: string,
	init: RequestInit = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
	const response = await exports.default.fetch(`https://base.example/api/postback/${key}${query === "" ? "" : `?${query}`}`, init);
	return { status: response.status, body: await response.json<Record<string, unknown>>() };
}

let received = 0;

/** A message as the intake sends it. @param platform platforms.id */
export function postbackMessage(
	platform: string,
	fields: Partial<NonNullable<ReceivedPostback["postback"]>> = {},
	receivedAt = Date.now(),
): ReceivedPostback {
	const time = receivedAt.toString(16).padStart(12, "0");
	const postback = {
		txnid: "t-1",
		cid: "c".padEnd(32, "0"),
		eventAt: Date.parse("2026-11-10T12:00:00Z"),
		payoutMicros: 10_000_000,
		salesMicros: null,
		currency: null,
		status: null,
		s2: null,
		s3: null,
		surl: null,
		...fields,
	};
	return {
		format: 1,
		kind: "postback",
		intake: {
			id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${(++received).toString(16).padStart(12, "0")}`,
			receivedAt,
			platform,
			method: "GET",
			query: "",
			txnid: postback.txnid,
			cid: postback.cid,
			outcome: "accepted",
			answer: JSON.stringify(RECEIVED),
		},
		postback,
	};
}

const UNREAD_QUEUE = { send: async () => {}, sendBatch: async () => {} } as unknown as Queue;

/**
 * The Worker's bindings, with queues that nobody reads: what is owed stays in the outbox, no publisher is called, and no conversion is
 * looked at again seconds later, beside a test that has emptied the tables.
 */
export const QUIET_ENV = { ...env, CALLBACKS: UNREAD_QUEUE, POSTBACKS: UNREAD_QUEUE };

/** Gives messages to the real consumer as one batch. */
export async function consume(...bodies: unknown[]): Promise<{ acked: number; retried: number }> {
	const messages = bodies.map((body, at) => ({ id: `m-${at}`, timestamp: new Date(), attempts: 1, body }));
	const batch = createMessageBatch("clickbourse-postbacks", messages);
	const ctx = createExecutionContext();
	await worker.queue(batch, QUIET_ENV, ctx);
	const result = await getQueueResult(batch, ctx);
	await waitOnExecutionContext(ctx);
	return { acked: result.ackAll ? bodies.length : result.explicitAcks.length, retried: result.retryMessages.length };
}

export async function readAll<Row = Record<string, string | number | null>>(
	query: string,
	...parameters: (string | number)[]
): Promise<Row[]> {
	const { results } = await env.DB.prepare(query)
		.bind(...parameters)
		.all<Row>();
	return results;
}
