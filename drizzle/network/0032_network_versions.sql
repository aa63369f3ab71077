CREATE TABLE `network_changes` (
	`version` integer NOT NULL,
	`seq` integer NOT NULL,
	`entries` text NOT NULL,
	PRIMARY KEY(`version`, `seq`)
);
--> statement-breakpoint
CREATE TABLE `network_versions` (
	`version` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`kind` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`file_hash` text,
	`undoes` text
);
--> statement-breakpoint
CREATE INDEX `network_versions_by_id` ON `network_versions` (`id`);