CREATE TABLE `campaign_pauses` (
	`campaign_id` integer PRIMARY KEY NOT NULL,
	`cap` text NOT NULL,
	`day` text NOT NULL,
	`paused_at` integer NOT NULL,
	`ahead_clicks` integer NOT NULL,
	`ahead_micros` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `campaign_rates` (
	`campaign_id` integer NOT NULL,
	`slot` integer NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	`spend_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`campaign_id`, `slot`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `campaign_rates_by_slot` ON `campaign_rates` (`slot`);--> statement-breakpoint
CREATE TABLE `campaign_totals` (
	`campaign_id` integer PRIMARY KEY NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	`spend_micros` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `campaign_days_by_day` ON `campaign_days` (`day`);--> statement-breakpoint
INSERT INTO `campaign_totals` (`campaign_id`, `click_count`, `spend_micros`) SELECT `campaign_id`, sum(`click_count`), sum(`spend_micros`) FROM `campaign_days` GROUP BY `campaign_id`;
