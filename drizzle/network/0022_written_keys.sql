CREATE TABLE `written_keys` (
	`key` text PRIMARY KEY NOT NULL,
	`written_at` integer NOT NULL
) WITHOUT ROWID;
