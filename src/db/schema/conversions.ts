import { isNotNull, sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import {
	ATTRIBUTIONS,
	CONVERSION_EVENT_KINDS,
	CONVERSION_HOLDS,
	CONVERSION_STAGES,
	CONVERSION_STATUSES,
	POSTBACK_OUTCOMES,
	PRICING_MODELS,
	VERDICTS,
} from "../../lib/enums.ts";

/** Every postback that came in, with the answer it got. */
export const postbackIntake = sqliteTable(
	"postback_intake",
	{
		/** Time-ordered. */
		id: text().primaryKey(),
		receivedAt: integer("received_at").notNull(),
		/** platforms.id; null where the key is unknown. */
		platform: text(),
		method: text().notNull(),
		/** Query and form as they came, without the key. */
		query: text().notNull(),
		txnid: text(),
		cid: text(),
		outcome: text({ enum: POSTBACK_OUTCOMES }).notNull(),
		/** JSON body that was answered. */
		answer: text().notNull(),
	},
	(table) => [
		index("postback_intake_by_txnid").on(table.txnid).where(isNotNull(table.txnid)),
		index("postback_intake_by_cid").on(table.cid).where(isNotNull(table.cid)),
		// Those that no conversion came of: what an operator looks through, by platform, and sends through again.
		index("postback_intake_refused").on(table.platform, table.id).where(sql`outcome <> 'accepted'`),
	],
);

/** Conversions that earn their publisher something: what reports of a publisher paid by conversions count. */
const PAID = sql`stage = 'settled' AND status <> 'cancelled' AND test = 0 AND pricing_model = 'CPA'`;

/** The present state of each conversion, derived from its events in the transaction that appends them. */
export const conversions = sqliteTable(
	"conversions",
	{
		/** platforms.id. */
		platform: text().notNull(),
		txnid: text().notNull(),
		/** The click id as the platform sent it last. */
		cid: text().notNull(),
		stage: text({ enum: CONVERSION_STAGES }).notNull(),
		status: text({ enum: CONVERSION_STATUSES }).notNull(),
		/** The status in the network's own words. */
		networkStatus: text("network_status"),
		/** True where no map and no default knew the network's status. */
		statusUnknown: integer("status_unknown", { mode: "boolean" }).notNull(),
		/** Why it is quarantined; null where it is not, or where an earlier version wrote it. */
		heldFor: text("held_for", { enum: CONVERSION_HOLDS }),
		/** An operator's word, which no postback changes: `voided` counts as cancelled, `released` passes a ceiling or a review. */
		verdict: text({ enum: VERDICTS }),
		/** It belongs to a test click: settled, and credits nothing. */
		test: integer({ mode: "boolean" }).notNull(),
		/** When it happened, Unix milliseconds. */
		eventAt: integer("event_at").notNull(),
		/** Millionths of `currency`. */
		payoutMicros: integer("payout_micros").notNull(),
		salesMicros: integer("sales_micros"),
		currency: text().notNull(),
		/** The rate that was applied, billionths of a USD. */
		usdNanos: integer("usd_nanos"),
		/** Payout and sales in USD, micro-dollars. */
		grossMicros: integer("gross_micros"),
		salesUsdMicros: integer("sales_usd_micros"),
		/** What it earns the publisher, micro-dollars; 0 for a CPC publisher. */
		revenueMicros: integer("revenue_micros"),
		attribution: text({ enum: ATTRIBUTIONS }),
		/** clicks.id and what reports need of that click. */
		clickId: text("click_id"),
		clickedAt: integer("clicked_at"),
		publisherId: text("publisher_id"),
		publisherClickId: text("publisher_click_id"),
		sourceId: text("source_id"),
		brandId: integer("brand_id"),
		campaignId: integer("campaign_id"),
		pricingModel: text("pricing_model", { enum: PRICING_MODELS }),
		revenueSharePpm: integer("revenue_share_ppm"),
		s2: text(),
		s3: text(),
		surl: text(),
		/** Number of events in its history. */
		eventCount: integer("event_count").notNull(),
		firstReceivedAt: integer("first_received_at").notNull(),
		updatedAt: integer("updated_at").notNull(),
		/** When one without a click is tried again. */
		retryAt: integer("retry_at"),
		/** postback_intake.id of the newest postback that speaks in it: an older one that arrives later changes nothing. */
		lastIntakeId: text("last_intake_id").notNull().default(""),
		/** Hashes of the postbacks that said anything but cancelled, separated by blanks: none of them lifts a cancellation again. */
		approvalHashes: text("approval_hashes").notNull().default(""),
		/**
		 * JSON of the payouts that were stated and of the corrections (`src/conversions/payouts.ts`): what an amount comes to, whatever the
		 * order in which they arrive. Empty in rows of earlier versions.
		 */
		payouts: text().notNull().default(""),
		/** The platform's currency when the conversion was first reported: that of amounts that name none. */
		defaultCurrency: text("default_currency"),
		/** True once something has spoken against its click: it is reviewed, though that was removed or erased meanwhile. */
		clickUnseen: integer("click_unseen", { mode: "boolean" }).notNull().default(false),
		/** True while the publisher is owed, or was sent, a credit that was not taken back. */
		credited: integer({ mode: "boolean" }).notNull().default(false),
		/** Grows by one with every write: what tells a writer that another was faster. */
		version: integer().notNull().default(0),
		/** `report_sequence` of its last change that reports show. */
		sequence: integer().notNull().default(0),
	},
	(table) => [
		primaryKey({ columns: [table.platform, table.txnid] }),
		// What reports list and count, by the day of the event and by that of the click; with all that they ask, so that a count reads no row of the table.
		index("conversions_paid_by_event")
			.on(
				table.publisherId,
				table.eventAt,
				table.platform,
				table.txnid,
				table.stage,
				table.status,
				table.test,
				table.pricingModel,
				table.sequence,
			)
			.where(PAID),
		index("conversions_paid_by_click_date")
			.on(
				table.publisherId,
				table.clickedAt,
				table.clickId,
				table.revenueMicros,
				table.stage,
				table.status,
				table.test,
				table.pricingModel,
				table.sequence,
			)
			.where(PAID),
		// The others, for a publisher's list of its conversions: one is in either, so that the paid one costs no further row.
		index("conversions_other_by_publisher")
			.on(table.publisherId, table.eventAt, table.platform, table.txnid)
			.where(
				sql`publisher_id IS NOT NULL AND (stage <> 'settled' OR status = 'cancelled' OR test = 1 OR pricing_model IS NULL OR pricing_model <> 'CPA')`,
			),
		// Those that a publisher paid by clicks has in the records of its clicks.
		index("conversions_with_click_by_publisher")
			.on(table.publisherId, table.clickedAt)
			.where(sql`stage = 'settled' AND status <> 'cancelled' AND test = 0 AND pricing_model = 'CPC'`),
		// What a platform counts in a period, which its statements are compared with.
		index("conversions_counted_by_platform")
			.on(table.platform, table.eventAt, table.txnid)
			.where(sql`stage = 'settled' AND status <> 'cancelled' AND test = 0`),
		// What new exchange rates may change.
		index("conversions_foreign_by_event")
			.on(table.currency, table.eventAt, table.platform, table.txnid, table.usdNanos)
			.where(sql`stage = 'settled' AND currency <> 'USD'`),
		index("conversions_by_update").on(table.updatedAt, table.eventAt),
		// By the order of changes: how those stand whose changes are no longer kept.
		index("conversions_by_sequence").on(table.publisherId, table.sequence, table.platform, table.txnid).where(isNotNull(table.publisherId)),
		index("conversions_by_click").on(table.clickId).where(isNotNull(table.clickId)),
		index("conversions_by_cid").on(table.cid),
		index("conversions_waiting").on(table.retryAt).where(isNotNull(table.retryAt)),
		// Those that nobody is paid for yet: what the operator's list of conversions goes through.
		index("conversions_open").on(table.stage, table.firstReceivedAt, table.platform, table.txnid).where(sql`stage <> 'settled'`),
		index("conversions_by_receipt").on(table.firstReceivedAt, table.platform, table.txnid),
		index("conversions_by_publisher")
			.on(table.publisherId, table.firstReceivedAt, table.platform, table.txnid)
			.where(isNotNull(table.publisherId)),
		// Of those what needs somebody, which what is cancelled, or a test, does not: what the operator's status counts.
		index("conversions_needy")
			.on(table.stage, table.firstReceivedAt, table.platform, table.txnid)
			.where(sql`stage <> 'settled' AND status <> 'cancelled' AND test = 0`),
		// The same by why it is held.
		index("conversions_needy_held")
			.on(table.heldFor, table.firstReceivedAt, table.platform, table.txnid)
			.where(sql`stage = 'quarantined' AND status <> 'cancelled' AND test = 0`),
		// Those of publishers that are active again.
		index("conversions_held").on(table.heldFor, table.publisherId).where(sql`stage = 'quarantined'`),
		// A credit stands, and nobody knows what it is worth: a person has to look.
		index("conversions_credited_held").on(table.heldFor).where(sql`stage = 'quarantined' AND credited = 1`),
		// Words that no map knows, the newest first: what the operator's status lists.
		index("conversions_unknown_words")
			.on(table.updatedAt, table.platform, table.networkStatus, table.statusUnknown, table.status)
			.where(sql`status_unknown = 1 AND status = 'pending'`),
		index("conversions_quarantined").on(table.currency, table.eventAt).where(sql`stage = 'quarantined'`),
	],
);

/**
 * What happened to a conversion, in order; rows are only ever added. The fields they set, one after the other, are the present state
 * in `conversions`.
 */
export const conversionEvents = sqliteTable(
	"conversion_events",
	{
		platform: text().notNull(),
		txnid: text().notNull(),
		/** 1, 2, 3 … within the conversion. */
		seq: integer().notNull(),
		at: integer().notNull(),
		kind: text({ enum: CONVERSION_EVENT_KINDS }).notNull(),
		/** postback_intake.id of the postback that caused it; null for one that the passing of time or an import caused. */
		intakeId: text("intake_id"),
		/** JSON object: `set`, the fields it changed with their new values; `why`, where it says more than that. */
		details: text().notNull(),
	},
	(table) => [primaryKey({ columns: [table.platform, table.txnid, table.seq] })],
);
