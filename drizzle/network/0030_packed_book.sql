CREATE TABLE `book_chunks` (
	`kind` text NOT NULL,
	`bits` integer NOT NULL,
	`chunk` integer NOT NULL,
	`version` text NOT NULL,
	`bytes` integer NOT NULL,
	`written_at` integer NOT NULL,
	PRIMARY KEY(`kind`, `bits`, `chunk`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `publisher_numbers` (
	`publisher_id` text PRIMARY KEY NOT NULL,
	`number` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `book_state` ADD `format` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `book_state` ADD `next_format` integer;--> statement-breakpoint
CREATE INDEX `stops_by_domain` ON `stops` (`domain`) WHERE reason = 'blocked' AND domain <> '';