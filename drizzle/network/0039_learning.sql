CREATE TABLE `learning_campaigns` (
	`campaign_id` integer PRIMARY KEY NOT NULL,
	`day` integer NOT NULL,
	`learned` text,
	`last_break` text,
	`steering` text
);
--> statement-breakpoint
CREATE INDEX `learning_campaigns_by_day` ON `learning_campaigns` (`day`);--> statement-breakpoint
CREATE INDEX `learning_campaigns_broken` ON `learning_campaigns` (`campaign_id`) WHERE last_break IS NOT NULL;--> statement-breakpoint
CREATE TABLE `learning_changes` (
	`campaign_id` integer NOT NULL,
	`at` integer NOT NULL,
	`keyword` text NOT NULL,
	`operator_micros` integer NOT NULL,
	`epc_micros` integer NOT NULL,
	`cause` text NOT NULL,
	PRIMARY KEY(`campaign_id`, `at`, `keyword`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `learning_changes_by_time` ON `learning_changes` (`at`);--> statement-breakpoint
CREATE TABLE `learning_clicks` (
	`campaign_id` integer NOT NULL,
	`publisher_id` text NOT NULL,
	`source` text NOT NULL,
	`keyword` text NOT NULL,
	`link` text NOT NULL,
	`day` integer NOT NULL,
	`clicks` integer NOT NULL,
	`gross_micros` integer NOT NULL,
	`paid_micros` integer NOT NULL,
	PRIMARY KEY(`campaign_id`, `publisher_id`, `source`, `keyword`, `link`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `learning_clicks_by_day` ON `learning_clicks` (`day`);--> statement-breakpoint
CREATE TABLE `learning_conversions` (
	`platform` text NOT NULL,
	`txnid` text NOT NULL,
	`click_id` text NOT NULL,
	`day` integer NOT NULL,
	`approved_lag` integer NOT NULL,
	`reversed_lag` integer,
	`net_micros` integer NOT NULL,
	`size_class` integer NOT NULL,
	`paid` integer NOT NULL,
	PRIMARY KEY(`platform`, `txnid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `learning_conversions_by_click` ON `learning_conversions` (`click_id`);--> statement-breakpoint
CREATE INDEX `learning_conversions_by_day` ON `learning_conversions` (`day`);--> statement-breakpoint
CREATE TABLE `learning_delays` (
	`platform` text NOT NULL,
	`day` integer NOT NULL,
	`lag` integer NOT NULL,
	`arrivals` integer NOT NULL,
	`reversals` integer NOT NULL,
	PRIMARY KEY(`platform`, `day`, `lag`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `learning_earnings` (
	`campaign_id` integer NOT NULL,
	`publisher_id` text NOT NULL,
	`source` text NOT NULL,
	`keyword` text NOT NULL,
	`link` text NOT NULL,
	`day` integer NOT NULL,
	`size_class` integer NOT NULL,
	`conversions` integer NOT NULL,
	`net_micros` integer NOT NULL,
	PRIMARY KEY(`campaign_id`, `publisher_id`, `source`, `keyword`, `link`, `day`, `size_class`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `learning_factors` (
	`level` text NOT NULL,
	`campaign_id` integer NOT NULL,
	`publisher_id` text NOT NULL,
	`name` text NOT NULL,
	`published` text NOT NULL,
	`target` text NOT NULL,
	`moving` integer NOT NULL,
	PRIMARY KEY(`level`, `campaign_id`, `publisher_id`, `name`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `learning_factors_moving` ON `learning_factors` (`moving`,`campaign_id`);--> statement-breakpoint
CREATE TABLE `learning_nights` (
	`day` integer PRIMARY KEY NOT NULL,
	`started_at` integer NOT NULL,
	`finished_at` integer,
	`progress` text NOT NULL,
	`fault` text
);
--> statement-breakpoint
CREATE TABLE `learning_sources` (
	`publisher_id` text NOT NULL,
	`source` text NOT NULL,
	`from_day` integer,
	`last_day` integer NOT NULL,
	PRIMARY KEY(`publisher_id`, `source`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `learning_traffic` (
	`level` text NOT NULL,
	`publisher_id` text NOT NULL,
	`name` text NOT NULL,
	`day` integer NOT NULL,
	`evidence` text NOT NULL,
	PRIMARY KEY(`level`, `publisher_id`, `name`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `learning_work` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `campaigns` ADD `epc_learning` text;--> statement-breakpoint
CREATE INDEX `campaigns_by_learning` ON `campaigns` (`campaign_id`) WHERE epc_learning IS NOT NULL;--> statement-breakpoint
ALTER TABLE `clicks` ADD `link` text;--> statement-breakpoint
ALTER TABLE `clicks` ADD `keyword_class` text;--> statement-breakpoint
ALTER TABLE `platforms` ADD `epc_learning` text;--> statement-breakpoint
ALTER TABLE `publishers` ADD `epc_learning` text;--> statement-breakpoint
ALTER TABLE `network_settings` ADD `epc_learning` text;