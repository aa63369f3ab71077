CREATE TABLE `day_digest_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`selected_at` integer NOT NULL,
	`turn_day` text
);
--> statement-breakpoint
CREATE TABLE `day_digests` (
	`publisher_id` text NOT NULL,
	`day` text NOT NULL,
	`digest` text,
	`record_count` integer,
	`sums` text,
	`computed_at` integer,
	`due` integer NOT NULL,
	`progress` text,
	`version` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`publisher_id`, `day`)
);
--> statement-breakpoint
CREATE INDEX `day_digests_due` ON `day_digests` (`day`,`publisher_id`) WHERE due = 1;--> statement-breakpoint
CREATE TABLE `ledger_check` (
	`id` integer PRIMARY KEY NOT NULL,
	`changed_at` integer DEFAULT 0 NOT NULL,
	`changed_platform` text DEFAULT '' NOT NULL,
	`changed_txnid` text DEFAULT '' NOT NULL,
	`turn_day` text DEFAULT '' NOT NULL,
	`turn_platform` text,
	`turn_txnid` text,
	`turn_count` integer DEFAULT 0 NOT NULL,
	`turn_reasons` text DEFAULT '{}' NOT NULL,
	`checked_at` integer,
	`whole_at` integer,
	`whole_count` integer DEFAULT 0 NOT NULL,
	`whole_reasons` text DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE TABLE `ledger_differences` (
	`platform` text NOT NULL,
	`txnid` text NOT NULL,
	`kind` text NOT NULL,
	`field` text NOT NULL,
	`publisher_id` text,
	`stored` text,
	`expected` text,
	`found_at` integer NOT NULL,
	PRIMARY KEY(`platform`, `txnid`, `kind`, `field`)
);
--> statement-breakpoint
CREATE INDEX `ledger_differences_by_time` ON `ledger_differences` (`found_at`);--> statement-breakpoint
CREATE INDEX `conversions_foreign_by_event` ON `conversions` (`currency`,`event_at`,`platform`,`txnid`,`usd_nanos`) WHERE stage = 'settled' AND currency <> 'USD';--> statement-breakpoint
INSERT INTO `ledger_check` (`id`) VALUES (1);--> statement-breakpoint
INSERT INTO `day_digest_state` (`id`, `selected_at`) VALUES (1, 0);
