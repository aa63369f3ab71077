CREATE TABLE `written_keys` (
	`key` text PRIMARY KEY NOT NULL,
	`written_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `reconciliation_days` ADD `tries` integer DEFAULT 0 NOT NULL;