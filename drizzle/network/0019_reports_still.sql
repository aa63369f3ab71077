CREATE TABLE `click_history` (
	`sequence` integer NOT NULL,
	`until_sequence` integer NOT NULL,
	`click_id` text NOT NULL,
	`publisher_id` text NOT NULL,
	`clicked_at` integer NOT NULL,
	`revenue_micros` integer NOT NULL,
	`reason` text,
	PRIMARY KEY(`until_sequence`, `click_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `click_history_by_publisher` ON `click_history` (`publisher_id`,`until_sequence`);--> statement-breakpoint
CREATE TABLE `conversion_history` (
	`sequence` integer NOT NULL,
	`until_sequence` integer NOT NULL,
	`platform` text NOT NULL,
	`txnid` text NOT NULL,
	`status` text NOT NULL,
	`event_at` integer NOT NULL,
	`gross_micros` integer,
	`sales_usd_micros` integer,
	`revenue_micros` integer,
	`click_id` text,
	`clicked_at` integer,
	`publisher_id` text,
	`publisher_click_id` text,
	`source_id` text,
	`brand_id` integer,
	`campaign_id` integer,
	`pricing_model` text,
	PRIMARY KEY(`until_sequence`, `platform`, `txnid`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `conversion_history_by_publisher` ON `conversion_history` (`publisher_id`,`until_sequence`);--> statement-breakpoint
CREATE INDEX `conversion_history_by_click` ON `conversion_history` (`click_id`,`until_sequence`);--> statement-breakpoint
CREATE TABLE `report_sequence` (
	`id` integer PRIMARY KEY NOT NULL,
	`present` integer DEFAULT 0 NOT NULL,
	`marked` integer DEFAULT 0 NOT NULL,
	`marked_at` integer DEFAULT 0 NOT NULL,
	`oldest` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
DROP INDEX `adjustments_by_publisher`;--> statement-breakpoint
ALTER TABLE `adjustments` ADD `sequence` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `adjustments_by_publisher` ON `adjustments` (`publisher_id`,`date`,`sequence`);--> statement-breakpoint
DROP INDEX `clicks_paid_by_publisher`;--> statement-breakpoint
DROP INDEX `clicks_voided_by_publisher`;--> statement-breakpoint
ALTER TABLE `clicks` ADD `sequence` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `clicks_paid_by_publisher` ON `clicks` (`publisher_id`,`clicked_at`,`id`,`revenue_micros`,`reason`,`sequence`) WHERE reason IS NULL AND pricing_model = 'CPC';--> statement-breakpoint
CREATE INDEX `clicks_voided_by_publisher` ON `clicks` (`publisher_id`,`clicked_at`,`id`,`revenue_micros`,`sequence`) WHERE reason = 'voided' AND pricing_model = 'CPC';--> statement-breakpoint
DROP INDEX `conversions_paid_by_event`;--> statement-breakpoint
DROP INDEX `conversions_paid_by_click_date`;--> statement-breakpoint
ALTER TABLE `conversions` ADD `sequence` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `conversions_counted_by_click` ON `conversions` (`clicked_at`) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0 AND pricing_model = 'CPC';--> statement-breakpoint
CREATE INDEX `conversions_paid_by_event` ON `conversions` (`publisher_id`,`event_at`,`platform`,`txnid`,`stage`,`status`,`test`,`pricing_model`,`sequence`) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0 AND pricing_model = 'CPA';--> statement-breakpoint
CREATE INDEX `conversions_paid_by_click_date` ON `conversions` (`publisher_id`,`clicked_at`,`click_id`,`revenue_micros`,`stage`,`status`,`test`,`pricing_model`,`sequence`) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0 AND pricing_model = 'CPA';--> statement-breakpoint
ALTER TABLE `daily_campaigns` ADD `pending_revenue_micros` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `daily_publishers` ADD `pending_revenue_micros` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `daily_sources` ADD `pending_revenue_micros` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
INSERT INTO `report_sequence` (`id`) VALUES (1);--> statement-breakpoint
-- What is pending, of conversions that are there already.
INSERT INTO `daily_publishers` (`publisher_id`, `date`, `pending_revenue_micros`)
SELECT v.`publisher_id`, date(v.`event_at` / 1000, 'unixepoch'), sum(v.`revenue_micros`) FROM `conversions` v
WHERE v.`stage` = 'settled' AND v.`status` <> 'cancelled' AND v.`test` = 0
	AND v.`publisher_id` IS NOT NULL AND v.`campaign_id` IS NOT NULL AND v.`brand_id` IS NOT NULL
	AND v.`status` = 'pending' AND v.`revenue_micros` <> 0
GROUP BY v.`publisher_id`, date(v.`event_at` / 1000, 'unixepoch')
ON CONFLICT (`publisher_id`, `date`) DO UPDATE SET `pending_revenue_micros` = `pending_revenue_micros` + excluded.`pending_revenue_micros`;--> statement-breakpoint
INSERT INTO `daily_sources` (`publisher_id`, `date`, `source_id`, `pending_revenue_micros`)
SELECT v.`publisher_id`, date(v.`event_at` / 1000, 'unixepoch'), coalesce(v.`source_id`, ''), sum(v.`revenue_micros`) FROM `conversions` v
WHERE v.`stage` = 'settled' AND v.`status` <> 'cancelled' AND v.`test` = 0
	AND v.`publisher_id` IS NOT NULL AND v.`campaign_id` IS NOT NULL AND v.`brand_id` IS NOT NULL
	AND v.`status` = 'pending' AND v.`revenue_micros` <> 0
GROUP BY v.`publisher_id`, date(v.`event_at` / 1000, 'unixepoch'), coalesce(v.`source_id`, '')
ON CONFLICT (`publisher_id`, `date`, `source_id`) DO UPDATE SET `pending_revenue_micros` = `pending_revenue_micros` + excluded.`pending_revenue_micros`;--> statement-breakpoint
INSERT INTO `daily_campaigns` (`campaign_id`, `date`, `publisher_id`, `brand_id`, `pending_revenue_micros`)
SELECT v.`campaign_id`, date(v.`event_at` / 1000, 'unixepoch'), v.`publisher_id`, v.`brand_id`, sum(v.`revenue_micros`) FROM `conversions` v
WHERE v.`stage` = 'settled' AND v.`status` <> 'cancelled' AND v.`test` = 0
	AND v.`publisher_id` IS NOT NULL AND v.`campaign_id` IS NOT NULL AND v.`brand_id` IS NOT NULL
	AND v.`status` = 'pending' AND v.`revenue_micros` <> 0
GROUP BY v.`campaign_id`, date(v.`event_at` / 1000, 'unixepoch'), v.`publisher_id`, v.`brand_id`
ON CONFLICT (`campaign_id`, `date`, `publisher_id`, `brand_id`) DO UPDATE SET `pending_revenue_micros` = `pending_revenue_micros` + excluded.`pending_revenue_micros`;--> statement-breakpoint
-- Conversions of publishers paid by clicks go from the day of the event to that of their click, if that was ever billed.
INSERT INTO `daily_publishers` (`publisher_id`, `date`, `conversion_count`, `gross_micros`, `sales_micros`)
SELECT v.`publisher_id`, date(v.`event_at` / 1000, 'unixepoch'), -count(*), -sum(coalesce(v.`gross_micros`, 0)), -sum(coalesce(v.`sales_usd_micros`, 0)) FROM `conversions` v
WHERE v.`stage` = 'settled' AND v.`status` <> 'cancelled' AND v.`test` = 0
	AND v.`publisher_id` IS NOT NULL AND v.`campaign_id` IS NOT NULL AND v.`brand_id` IS NOT NULL
	AND v.`pricing_model` = 'CPC'
GROUP BY v.`publisher_id`, date(v.`event_at` / 1000, 'unixepoch')
ON CONFLICT (`publisher_id`, `date`) DO UPDATE SET `conversion_count` = `conversion_count` + excluded.`conversion_count`, `gross_micros` = `gross_micros` + excluded.`gross_micros`, `sales_micros` = `sales_micros` + excluded.`sales_micros`;--> statement-breakpoint
INSERT INTO `daily_publishers` (`publisher_id`, `date`, `conversion_count`, `gross_micros`, `sales_micros`)
SELECT v.`publisher_id`, date(v.`clicked_at` / 1000, 'unixepoch'), count(*), sum(coalesce(v.`gross_micros`, 0)), sum(coalesce(v.`sales_usd_micros`, 0)) FROM `conversions` v CROSS JOIN `clicks` c
WHERE v.`stage` = 'settled' AND v.`status` <> 'cancelled' AND v.`test` = 0
	AND v.`publisher_id` IS NOT NULL AND v.`campaign_id` IS NOT NULL AND v.`brand_id` IS NOT NULL
	AND v.`pricing_model` = 'CPC' AND c.`id` = v.`click_id` AND (c.`reason` IS NULL OR c.`reason` = 'voided')
GROUP BY v.`publisher_id`, date(v.`clicked_at` / 1000, 'unixepoch')
ON CONFLICT (`publisher_id`, `date`) DO UPDATE SET `conversion_count` = `conversion_count` + excluded.`conversion_count`, `gross_micros` = `gross_micros` + excluded.`gross_micros`, `sales_micros` = `sales_micros` + excluded.`sales_micros`;--> statement-breakpoint
INSERT INTO `daily_sources` (`publisher_id`, `date`, `source_id`, `conversion_count`, `gross_micros`, `sales_micros`)
SELECT v.`publisher_id`, date(v.`event_at` / 1000, 'unixepoch'), coalesce(v.`source_id`, ''), -count(*), -sum(coalesce(v.`gross_micros`, 0)), -sum(coalesce(v.`sales_usd_micros`, 0)) FROM `conversions` v
WHERE v.`stage` = 'settled' AND v.`status` <> 'cancelled' AND v.`test` = 0
	AND v.`publisher_id` IS NOT NULL AND v.`campaign_id` IS NOT NULL AND v.`brand_id` IS NOT NULL
	AND v.`pricing_model` = 'CPC'
GROUP BY v.`publisher_id`, date(v.`event_at` / 1000, 'unixepoch'), coalesce(v.`source_id`, '')
ON CONFLICT (`publisher_id`, `date`, `source_id`) DO UPDATE SET `conversion_count` = `conversion_count` + excluded.`conversion_count`, `gross_micros` = `gross_micros` + excluded.`gross_micros`, `sales_micros` = `sales_micros` + excluded.`sales_micros`;--> statement-breakpoint
INSERT INTO `daily_sources` (`publisher_id`, `date`, `source_id`, `conversion_count`, `gross_micros`, `sales_micros`)
SELECT v.`publisher_id`, date(v.`clicked_at` / 1000, 'unixepoch'), coalesce(v.`source_id`, ''), count(*), sum(coalesce(v.`gross_micros`, 0)), sum(coalesce(v.`sales_usd_micros`, 0)) FROM `conversions` v CROSS JOIN `clicks` c
WHERE v.`stage` = 'settled' AND v.`status` <> 'cancelled' AND v.`test` = 0
	AND v.`publisher_id` IS NOT NULL AND v.`campaign_id` IS NOT NULL AND v.`brand_id` IS NOT NULL
	AND v.`pricing_model` = 'CPC' AND c.`id` = v.`click_id` AND (c.`reason` IS NULL OR c.`reason` = 'voided')
GROUP BY v.`publisher_id`, date(v.`clicked_at` / 1000, 'unixepoch'), coalesce(v.`source_id`, '')
ON CONFLICT (`publisher_id`, `date`, `source_id`) DO UPDATE SET `conversion_count` = `conversion_count` + excluded.`conversion_count`, `gross_micros` = `gross_micros` + excluded.`gross_micros`, `sales_micros` = `sales_micros` + excluded.`sales_micros`;
