ALTER TABLE `publishers` ADD `privacy` text DEFAULT 'strip' NOT NULL;--> statement-breakpoint
CREATE INDEX `clicks_by_uid` ON `clicks` (`uid`) WHERE uid IS NOT NULL;