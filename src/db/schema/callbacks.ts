import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { CALLBACK_HOLDS, CALLBACK_STATES, CALLBACK_STATUSES } from "../../lib/enums.ts";

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
		status: text({ enum: CALLBACK_STATUSES }).notNull(),
		/** The publisher's own click id; empty where the click had none. */
		cid: text().notNull(),
		/** Publisher revenue, micro-dollars. */
		payoutMicros: integer("payout_micros").notNull(),
		/** The conversion's sales when the payout became this, micro-dollars; null where none were told. */
		salesUsdMicros: integer("sales_usd_micros"),
		eventAt: integer("event_at").notNull(),
		/** postback_intake.id of the postback behind it, which is that request's id; null in rows of earlier versions. */
		intakeId: text("intake_id"),
		state: text({ enum: CALLBACK_STATES }).notNull(),
		/** Every attempt there was, probes and those before a replay included. */
		attemptCount: integer("attempt_count").notNull(),
		createdAt: integer("created_at").notNull(),
		/**
		 * From when it may be tried, while it is due; the end of its lease, while it is being delivered; null while it is held, and
		 * where nothing is left to do.
		 */
		nextAttemptAt: integer("next_attempt_at"),
		deliveredAt: integer("delivered_at"),
		/** How many waits of the schedule are used up. */
		scheduleStep: integer("schedule_step").notNull().default(0),
		heldFor: text("held_for", { enum: CALLBACK_HOLDS }),
		/** The delivery that holds it now; an attempt that failed may only be recorded by the one that does. */
		lease: text(),
		/**
		 * Deliveries begun, less those that the publisher refused: while it is 0, the publisher cannot know of the callback, and its amount
		 * may change. Rows of earlier versions have 1.
		 */
		exposures: integer().notNull().default(1),
		/** Until when the sweep takes it for granted that a queue carries it. */
		queuedUntil: integer("queued_until").notNull().default(0),
	},
	(table) => [
		uniqueIndex("callbacks_in_order").on(table.platform, table.txnid, table.seq),
		// drizzle-kit splits the expression at its comma: the migration was edited by hand.
		index("callbacks_sweep").on(sql`max(next_attempt_at, queued_until)`).where(sql`state = 'due'`),
		index("callbacks_paused").on(table.publisherId, table.createdAt).where(sql`held_for = 'pause'`),
		index("callbacks_undelivered").on(table.createdAt, table.id).where(sql`state = 'due'`),
		index("callbacks_exhausted").on(table.createdAt, table.id).where(sql`state = 'exhausted'`),
		index("callbacks_by_publisher").on(table.publisherId, table.createdAt, table.id),
		index("callbacks_by_txnid").on(table.txnid),
		index("callbacks_by_time").on(table.createdAt, table.id),
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

/** How a publisher's address has been doing: the circuit breaker. A row speaks of `url`; for any other address it says nothing. */
export const callbackHealth = sqliteTable(
	"callback_health",
	{
		publisherId: text("publisher_id").primaryKey(),
		url: text().notNull().default(""),
		failuresInARow: integer("failures_in_a_row").notNull(),
		/** Since when it is paused; null while it is not. */
		pausedAt: integer("paused_at"),
		/** When one callback may go out as a probe. */
		nextProbeAt: integer("next_probe_at"),
		/** True once a pause has ended, until the sweep has released all that it held. */
		releasing: integer({ mode: "boolean" }).notNull().default(false),
	},
	(table) => [
		index("callback_health_paused").on(table.pausedAt).where(sql`paused_at IS NOT NULL`),
		index("callback_health_releasing").on(table.publisherId).where(sql`releasing = 1`),
	],
);

/** Secrets that callbacks are signed with: sealed under TOKEN_KEYS, since a signature needs the secret itself. */
export const callbackSecrets = sqliteTable(
	"callback_secrets",
	{
		/** The first 12 hex digits of the secret's SHA-256. */
		id: text().primaryKey(),
		publisherId: text("publisher_id").notNull(),
		/** See src/callbacks/callback-secrets.ts. */
		sealed: text().notNull(),
		createdAt: integer("created_at").notNull(),
		/** From when it signs no more, Unix milliseconds; null while it does. */
		expiresAt: integer("expires_at"),
	},
	(table) => [index("callback_secrets_by_publisher").on(table.publisherId, table.createdAt)],
);
