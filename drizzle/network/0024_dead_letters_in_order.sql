DROP INDEX `dead_letters_open`;--> statement-breakpoint
CREATE INDEX `dead_letters_open` ON `dead_letters` (`queue`,`received_at`,`id`) WHERE replayed_at IS NULL;