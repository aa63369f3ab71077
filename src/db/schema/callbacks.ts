import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * The outbox: one row a credit or cancellation a publisher is owed, added in the transaction that changed the conversion. Queues
 * carry only its id.
 */
export const callbacks = sqliteTable(
	"callbacks",
	{
		id: text().primaryKey(),
		platform: text().notNull(),
		txnid: text().notNull(),
		/** 1, 2, 3 … within the conversion: a later one waits for the earlier ones. */
		seq: integer().notNull(),
		publisherId: text("publisher_id").notNull(),
		status: text({ enum: ["approved", "cancelled"] }).notNull(),
		/** The publisher's own click id; empty where the click had none. */
		cid: text().notNull(),
		/** Publisher revenue, micro-dollars. */
		payoutMicros: integer("payout_micros").notNull(),
		eventAt: integer("event_at").notNull(),
		/** `exhausted`: the schedule has ended; the operator can replay it. `no_url`: the publisher has no callback address. */
		state: text({ enum: ["due", "delivered", "exhausted", "no_url"] }).notNull(),
		attemptCount: integer("attempt_count").notNull(),
		createdAt: integer("created_at").notNull(),
		/** From when it may be tried, while it is due. */
		nextAttemptAt: integer("next_attempt_at"),
		deliveredAt: integer("delivered_at"),
	},
	(table) => [
		uniqueIndex("callbacks_in_order").on(table.platform, table.txnid, table.seq),
		index("callbacks_due").on(table.nextAttemptAt).where(sql`state = 'due'`),
		index("callbacks_by_publisher").on(table.publisherId, table.createdAt, table.id),
	],
);

export const callbackAttempts = sqliteTable(
	"callback_attempts",
	{
		id: text().primaryKey(),
		/** callbacks.id. */
		callbackId: text("callback_id").notNull(),
		startedAt: integer("started_at").notNull(),
		/** HTTP status, or null where there was no answer. */
		httpStatus: integer("http_status"),
		latencyMs: integer("latency_ms").notNull(),
		/** First bytes of the answer, or what went wrong. */
		answer: text().notNull(),
	},
	(table) => [index("callback_attempts_by_callback").on(table.callbackId, table.startedAt)],
);

/** How a publisher's address has been doing: the circuit breaker. */
export const callbackHealth = sqliteTable("callback_health", {
	publisherId: text("publisher_id").primaryKey(),
	failuresInARow: integer("failures_in_a_row").notNull(),
	/** Since when it is paused; null while it is not. */
	pausedAt: integer("paused_at"),
	/** When one callback may go out as a probe. */
	nextProbeAt: integer("next_probe_at"),
});
