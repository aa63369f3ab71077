ALTER TABLE `callbacks` ADD `exposures` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `conversions` ADD `payouts` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `conversions` ADD `default_currency` text;--> statement-breakpoint
ALTER TABLE `conversions` ADD `credited` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `conversions_credited_held` ON `conversions` (`held_for`) WHERE stage = 'quarantined' AND credited = 1;--> statement-breakpoint
CREATE INDEX `conversions_unknown_words` ON `conversions` (`updated_at`,`platform`,`network_status`,`status_unknown`,`status`) WHERE status_unknown = 1 AND status = 'pending';--> statement-breakpoint
ALTER TABLE `platforms` ADD `negative_payout` text DEFAULT 'cancel' NOT NULL;--> statement-breakpoint
ALTER TABLE `publishers` ADD `amendments` text DEFAULT 'none' NOT NULL;