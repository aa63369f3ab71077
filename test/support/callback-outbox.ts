/** An outbox with a controllable clock, on real D1: rows as the settling of conversions adds them, and the delivery's dependencies. */
import { env } from "cloudflare:workers";
import { consumeCallbacks } from "../../src/callbacks/consume-callbacks.ts";
import type { CallbackDeps } from "../../src/callbacks/deliver-callback.ts";
import { type CallbackMessage, callbackMessage } from "../../src/callbacks/message.ts";
import { sweepCallbacks } from "../../src/callbacks/sweep-callbacks.ts";
import { openDatabase } from "../../src/db/client.ts";
import { SecretBox } from "../../src/lib/secret-box.ts";
import "./worker-env.ts";

export const START = Date.parse("2026-11-18T15:00:00Z");

export type OutboxRow = {
	id: string;
	txnid: string;
	seq: number;
	publisher_id: string;
	state: string;
	held_for: string | null;
	attempt_count: number;
	schedule_step: number;
	next_attempt_at: number | null;
	lease: string | null;
};

type Sent = { id: string; at: number };

/** Messages that a test's own queue holds until {@link Outbox.work} hands them over when their time has come. */
export class Outbox {
	now = START;
	sent: Sent[] = [];
	readonly deps: CallbackDeps;
	#lastId = 0;

	constructor(changes: Partial<CallbackDeps> = {}) {
		this.deps = {
			db: openDatabase(env.DB),
			queue: this.#queue(),
			now: () => this.now,
			box: new SecretBox(env.TOKEN_KEYS.split(",")),
			fetch: (url, init) => fetch(url, init),
			allowInsecure: true,
			chance: () => 0,
			// Never waited for, but by a test that sets its own: on a busy machine a receiver that answers takes a while, too.
			timeoutMs: 20_000,
			...changes,
		};
	}

	#queue(): Queue<CallbackMessage> {
		const sendBatch = async (messages: Iterable<MessageSendRequest<CallbackMessage>>) => {
			for (const { body, delaySeconds } of messages) this.sent.push({ id: body.id, at: this.now + (delaySeconds ?? 0) * 1_000 });
		};
		return { sendBatch } as unknown as Queue<CallbackMessage>;
	}

	async addPublisher(id: string, url: string | null): Promise<void> {
		await env.DB.prepare(
			`INSERT INTO publishers (id, name, publisher_id, publisher_identity, serving_engine_enabled, openrtb_enabled, revenue_share_ppm,
				pricing_model, cashback_enabled, sales_data_enabled, campaign_id_enabled, callback_url, blocked_brands)
			VALUES (?1, ?1, 'pubi ' || ?1, 'identity ' || ?1, 0, 0, 800000, 'CPA', 0, 0, 0, ?2, '[]') ON CONFLICT (id) DO UPDATE SET callback_url = ?2`,
		)
			.bind(id, url)
			.run();
	}

	/** Adds a row as settling does, with its message on the queue. */
	async add(
		publisherId: string,
		txnid: string,
		seq = 1,
		status = seq % 2 === 1 ? "approved" : "cancelled",
		queued = true,
		platform = publisherId,
	): Promise<string> {
		const { id, insert } = this.#row(publisherId, txnid, seq, status, platform);
		await insert.run();
		if (queued) this.sent.push({ id, at: this.now });
		return id;
	}

	/** Adds the credits of this many transactions, T0 and so on, in one call. */
	async addMany(publisherId: string, count: number, queued = true): Promise<string[]> {
		const rows = Array.from({ length: count }, (_, at) => this.#row(publisherId, `T${at}`, 1, "approved", publisherId));
		await env.DB.batch(rows.map(({ insert }) => insert));
		if (queued) for (const { id } of rows) this.sent.push({ id, at: this.now });
		return rows.map(({ id }) => id);
	}

	#row(publisherId: string, txnid: string, seq: number, status: string, platform: string): { id: string; insert: D1PreparedStatement } {
		const id = `${publisherId}-${txnid}-${seq}-${++this.#lastId}`;
		const insert = env.DB.prepare(
			`INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, attempt_count, created_at, next_attempt_at)
			VALUES (?1, ?8, ?2, ?3, ?4, ?5, 'click 1', 8400000, ?6, 'due', 0, ?7, ?7)`,
		).bind(id, txnid, seq, publisherId, status, START - 60_000, this.now, platform);
		return { id, insert };
	}

	/** Hands messages whose time has come to the real consumer, until there are none. Returns those that it wanted again. */
	async work(): Promise<string[]> {
		const retried: string[] = [];
		for (;;) {
			const ready = this.sent.filter(({ at }) => at <= this.now);
			if (ready.length === 0) return retried;
			this.sent = this.sent.filter(({ at }) => at > this.now);
			await consumeCallbacks(
				this.deps,
				batchOf(
					ready.map(({ id }) => callbackMessage(id)),
					retried,
				),
			);
		}
	}

	sweep(): Promise<void> {
		return sweepCallbacks(this.deps);
	}

	/** Lets time pass by the minute, with the cron and the queue at work. */
	async pass(minutes: number): Promise<void> {
		const end = this.now + minutes * 60_000;
		while (this.now < end) {
			this.now = Math.min(this.now + 60_000, end);
			await this.sweep();
			await this.work();
		}
	}

	async row(id: string): Promise<OutboxRow> {
		const row = await env.DB.prepare("SELECT * FROM callbacks WHERE id = ?").bind(id).first<OutboxRow>();
		if (row === null) throw new Error(`there is no callback ${id}`);
		return row;
	}

	async rows(ids: readonly string[]): Promise<OutboxRow[]> {
		const found = env.DB.prepare("SELECT * FROM callbacks WHERE id IN (SELECT atom FROM json_each(?))").bind(JSON.stringify(ids));
		const { results } = await found.all<OutboxRow>();
		if (results.length !== ids.length) throw new Error(`of ${ids.length} callbacks there are ${results.length}`);
		return results;
	}

	async attempts(id: string): Promise<{ started_at: number; http_status: number | null; latency_ms: number; answer: string }[]> {
		const { results } = await env.DB.prepare("SELECT * FROM callback_attempts WHERE callback_id = ? ORDER BY started_at, id")
			.bind(id)
			.all();
		return results as never;
	}
}

/** A batch of the queue; what is to be retried is noted in `retried` by message id. */
export function batchOf(bodies: readonly unknown[], retried: string[] = []): MessageBatch {
	const messages = bodies.map((body, at) => ({
		id: String(at),
		body,
		timestamp: new Date(0),
		attempts: 1,
		ack() {},
		retry() {
			retried.push(String(at));
		},
	}));
	return { queue: "clickbourse-callbacks", messages, ackAll() {}, retryAll() {} } as unknown as MessageBatch;
}
