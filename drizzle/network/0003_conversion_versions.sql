ALTER TABLE `conversions` ADD `last_intake_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `conversions` ADD `version` integer DEFAULT 0 NOT NULL;