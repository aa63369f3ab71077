CREATE TABLE `campaign_clocks` (
	`campaign_id` integer PRIMARY KEY NOT NULL,
	`changed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `campaign_clocks_by_time` ON `campaign_clocks` (`changed_at`);--> statement-breakpoint
CREATE TABLE `reconciliation` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`selected_at` integer NOT NULL,
	`turn_day` text,
	`totals_after` integer NOT NULL,
	`compared_at` integer
);
--> statement-breakpoint
CREATE TABLE `reconciliation_days` (
	`day` text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sum_differences` (
	`day` text NOT NULL,
	`counter` text NOT NULL,
	`key` text NOT NULL,
	`column_name` text NOT NULL,
	`stored` integer NOT NULL,
	`counted` integer NOT NULL,
	`found_at` integer NOT NULL,
	PRIMARY KEY(`day`, `counter`, `key`, `column_name`)
);
--> statement-breakpoint
CREATE INDEX `clicks_other_by_publisher` ON `clicks` (`publisher_id`,`clicked_at`,`id`,`reason`,`pricing_model`) WHERE reason IS NOT NULL OR pricing_model = 'CPA';--> statement-breakpoint
CREATE INDEX `conversions_counted_by_event` ON `conversions` (`event_at`) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0;--> statement-breakpoint
CREATE INDEX `conversions_by_update` ON `conversions` (`updated_at`,`event_at`);
--> statement-breakpoint
INSERT INTO `reconciliation` (`id`, `version`, `selected_at`, `totals_after`) VALUES (1, 0, 0, 0);
