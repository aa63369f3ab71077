-- reviewed: nothing refers to it
CREATE TABLE `__new_campaign_rates` (
	`campaign_id` integer NOT NULL,
	`slot` integer NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	`spend_micros` integer DEFAULT 0 NOT NULL,
	`gross_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`slot`, `campaign_id`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_campaign_rates`("campaign_id", "slot", "click_count", "spend_micros", "gross_micros") SELECT "campaign_id", "slot", "click_count", "spend_micros", "gross_micros" FROM `campaign_rates`;
--> statement-breakpoint
-- reviewed: its rows are in the new one
DROP TABLE `campaign_rates`;--> statement-breakpoint
ALTER TABLE `__new_campaign_rates` RENAME TO `campaign_rates`;
--> statement-breakpoint
-- reviewed: nothing refers to it
CREATE TABLE `__new_daily_network` (
	`date` text NOT NULL,
	`campaign_id` integer NOT NULL,
	`publisher_id` text NOT NULL,
	`brand_id` integer NOT NULL,
	`platform` text NOT NULL,
	`country` text NOT NULL,
	`kind` text NOT NULL,
	`reason` text NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	`click_gross_micros` integer DEFAULT 0 NOT NULL,
	`click_revenue_micros` integer DEFAULT 0 NOT NULL,
	`approved_count` integer DEFAULT 0 NOT NULL,
	`pending_count` integer DEFAULT 0 NOT NULL,
	`cancelled_count` integer DEFAULT 0 NOT NULL,
	`conversion_revenue_micros` integer DEFAULT 0 NOT NULL,
	`pending_revenue_micros` integer DEFAULT 0 NOT NULL,
	`gross_micros` integer DEFAULT 0 NOT NULL,
	`sales_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`publisher_id`, `date`, `campaign_id`, `brand_id`, `platform`, `country`, `kind`, `reason`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_daily_network`("date", "campaign_id", "publisher_id", "brand_id", "platform", "country", "kind", "reason", "click_count", "click_gross_micros", "click_revenue_micros", "approved_count", "pending_count", "cancelled_count", "conversion_revenue_micros", "pending_revenue_micros", "gross_micros", "sales_micros") SELECT "date", "campaign_id", "publisher_id", "brand_id", "platform", "country", "kind", "reason", "click_count", "click_gross_micros", "click_revenue_micros", "approved_count", "pending_count", "cancelled_count", "conversion_revenue_micros", "pending_revenue_micros", "gross_micros", "sales_micros" FROM `daily_network` ORDER BY "publisher_id", "date", "campaign_id";
--> statement-breakpoint
-- reviewed: its rows are in the new one
DROP TABLE `daily_network`;--> statement-breakpoint
ALTER TABLE `__new_daily_network` RENAME TO `daily_network`;--> statement-breakpoint
-- reviewed: the days of campaigns have what these rows sum
DELETE FROM `campaign_totals` WHERE `campaign_id` NOT IN (SELECT `campaign_id` FROM `campaigns` WHERE total_budget_micros IS NOT NULL);