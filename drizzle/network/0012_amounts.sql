ALTER TABLE `conversions` ADD `held_for` text;--> statement-breakpoint
ALTER TABLE `conversions` ADD `approval_hashes` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `conversions` SET `held_for` = CASE WHEN `usd_nanos` IS NULL THEN 'no_rate' ELSE 'amount' END WHERE stage = 'quarantined';--> statement-breakpoint
CREATE INDEX `conversions_held` ON `conversions` (`held_for`,`publisher_id`) WHERE stage = 'quarantined';