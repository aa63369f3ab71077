CREATE TABLE `brand_changes` (
	`brand_id` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`first_version` integer NOT NULL,
	`listing_version` integer NOT NULL,
	`rate_version` integer NOT NULL,
	`restrictions_version` integer NOT NULL,
	`details_version` integer NOT NULL,
	`listed` integer NOT NULL,
	`rate_hash` text NOT NULL,
	`restrictions_hash` text NOT NULL,
	`details_hash` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `brand_changes_by_version` ON `brand_changes` (`version`,`brand_id`);--> statement-breakpoint
CREATE TABLE `callback_secrets` (
	`id` text PRIMARY KEY NOT NULL,
	`publisher_id` text NOT NULL,
	`sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer
);
--> statement-breakpoint
CREATE INDEX `callback_secrets_by_publisher` ON `callback_secrets` (`publisher_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `block_changes` (
	`publisher_id` text NOT NULL,
	`domain` text NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`publisher_id`, `domain`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `conversion_changes` (
	`publisher_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`platform` text NOT NULL,
	`txnid` text NOT NULL,
	`at` integer NOT NULL,
	`why` text NOT NULL,
	`old_status` text,
	`old_event_at` integer,
	`old_revenue_micros` integer,
	`old_sales_usd_micros` integer,
	`old_credited_micros` integer,
	`status` text,
	`event_at` integer,
	`revenue_micros` integer,
	`sales_usd_micros` integer,
	`credited_micros` integer,
	PRIMARY KEY(`publisher_id`, `sequence`, `platform`, `txnid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `conversion_changes_by_time` ON `conversion_changes` (`at`);--> statement-breakpoint
ALTER TABLE `callbacks` ADD `sales_usd_micros` integer;--> statement-breakpoint
ALTER TABLE `catalogue_state` ADD `changes_version` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `report_sequence` ADD `changes_from` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `adjustments_by_sequence` ON `adjustments` (`publisher_id`,`sequence`,`id`) WHERE "adjustments"."publisher_id" is not null;--> statement-breakpoint
CREATE INDEX `conversions_by_sequence` ON `conversions` (`publisher_id`,`sequence`,`platform`,`txnid`) WHERE "conversions"."publisher_id" is not null;--> statement-breakpoint
-- reviewed: the column is new, of one row
UPDATE `report_sequence` SET `changes_from` = `present`;--> statement-breakpoint
-- reviewed: the column is new, of one row
UPDATE `catalogue_state` SET `changes_version` = `version`;
