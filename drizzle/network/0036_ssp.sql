CREATE TABLE `auction_feedback` (
	`publisher_id` text NOT NULL,
	`auction_id` text NOT NULL,
	`loss` integer NOT NULL,
	`price_micros` integer,
	`batch_id` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`publisher_id`, `auction_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `auction_feedback_by_time` ON `auction_feedback` (`at`);--> statement-breakpoint
CREATE TABLE `auction_feedback_days` (
	`date` text NOT NULL,
	`publisher_id` text NOT NULL,
	`loss` integer NOT NULL,
	`auctions` integer DEFAULT 0 NOT NULL,
	`priced` integer DEFAULT 0 NOT NULL,
	`price_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`date`, `publisher_id`, `loss`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `brands` ADD `iab_categories` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `publishers` ADD `openrtb` text;--> statement-breakpoint
ALTER TABLE `publishers` ADD `response_profile` text DEFAULT 'contract' NOT NULL;