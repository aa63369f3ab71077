CREATE TABLE `adjustments` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`actor` text NOT NULL,
	`at` integer NOT NULL,
	`text` text NOT NULL,
	`request` text NOT NULL,
	`publisher_id` text,
	`date` text,
	`amount_micros` integer,
	`undoes` text,
	`clicks` integer DEFAULT 0 NOT NULL,
	`conversions` integer DEFAULT 0 NOT NULL,
	`publisher_revenue_micros` integer DEFAULT 0 NOT NULL,
	`gross_revenue_micros` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `adjustments_by_publisher` ON `adjustments` (`publisher_id`,`date`);--> statement-breakpoint
CREATE INDEX `adjustments_by_undone` ON `adjustments` (`undoes`);--> statement-breakpoint
CREATE TABLE `click_sequence` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `paid_visits` (
	`click_id` text PRIMARY KEY NOT NULL,
	`publisher_id` text NOT NULL,
	`connection` text NOT NULL,
	`user_agent_hash` text NOT NULL,
	`brand_id` integer NOT NULL,
	`clicked_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `paid_visits_by_connection` ON `paid_visits` (`publisher_id`,`connection`,`clicked_at`);--> statement-breakpoint
CREATE INDEX `paid_visits_by_time` ON `paid_visits` (`clicked_at`);--> statement-breakpoint
CREATE TABLE `unpaid_hours` (
	`connection` text NOT NULL,
	`hour` integer NOT NULL,
	`stored` integer DEFAULT 0 NOT NULL,
	`dropped` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`connection`, `hour`)
);
--> statement-breakpoint
CREATE INDEX `unpaid_hours_by_hour` ON `unpaid_hours` (`hour`);--> statement-breakpoint
CREATE TABLE `network_settings` (
	`id` integer PRIMARY KEY NOT NULL,
	`traffic` text
);
--> statement-breakpoint
DROP INDEX `clicks_billed_by_hash`;--> statement-breakpoint
ALTER TABLE `clicks` ADD `flags` text;--> statement-breakpoint
ALTER TABLE `clicks` ADD `keyword` text;--> statement-breakpoint
ALTER TABLE `clicks` ADD `asked_from` text;--> statement-breakpoint
ALTER TABLE `clicks` ADD `voided_by` text;--> statement-breakpoint
CREATE UNIQUE INDEX `clicks_billed_by_hash` ON `clicks` (`click_hash`) WHERE reason IS NULL OR reason = 'voided';--> statement-breakpoint
ALTER TABLE `campaigns` ADD `traffic` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `max_payout_micros` integer;--> statement-breakpoint
ALTER TABLE `conversions` ADD `verdict` text;--> statement-breakpoint
ALTER TABLE `daily_publishers` ADD `adjustment_micros` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `daily_publishers` ADD `source_count` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `platforms` ADD `max_payout_micros` integer;--> statement-breakpoint
ALTER TABLE `platforms` ADD `match_by_publisher_click_id` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `platforms` ADD `postback_secret` text;--> statement-breakpoint
ALTER TABLE `platforms` ADD `source_ranges` text;--> statement-breakpoint
ALTER TABLE `platforms` ADD `postbacks_per_minute` integer;--> statement-breakpoint
ALTER TABLE `publishers` ADD `status` text DEFAULT 'active' NOT NULL;--> statement-breakpoint
ALTER TABLE `publishers` ADD `bid_pay_minutes` integer;--> statement-breakpoint
ALTER TABLE `publishers` ADD `traffic` text;--> statement-breakpoint
INSERT INTO `click_sequence` (`id`, `version`) VALUES (1, 0);--> statement-breakpoint
INSERT INTO `network_settings` (`id`, `traffic`) VALUES (1, NULL);
