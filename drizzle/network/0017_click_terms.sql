ALTER TABLE `campaigns` ADD `budget_basis` text DEFAULT 'publisher' NOT NULL;--> statement-breakpoint
ALTER TABLE `clicks` ADD `revenue_share_ppm` integer;--> statement-breakpoint
ALTER TABLE `clicks` ADD `gross_micros` integer;--> statement-breakpoint
ALTER TABLE `campaign_days` ADD `gross_micros` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `campaign_rates` ADD `gross_micros` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `campaign_totals` ADD `gross_micros` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- reviewed: the column is new, and nothing else is written
UPDATE `campaign_days` SET `gross_micros` = `spend_micros`;--> statement-breakpoint
-- reviewed: the column is new, and nothing else is written
UPDATE `campaign_rates` SET `gross_micros` = `spend_micros`;--> statement-breakpoint
-- reviewed: the column is new, and nothing else is written
UPDATE `campaign_totals` SET `gross_micros` = `spend_micros`;
