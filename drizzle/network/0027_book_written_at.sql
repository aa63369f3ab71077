ALTER TABLE `book_shards` ADD `written_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `book_state` ADD `published_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `book_garbage_by_age` ON `book_garbage` (`replaced_at`);