CREATE TABLE `pause_publication` (
	`id` integer PRIMARY KEY NOT NULL,
	`changes` integer NOT NULL,
	`published` integer NOT NULL,
	`next_write_at` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `pause_publication` (`id`, `changes`, `published`, `next_write_at`) VALUES (1, 0, 0, 0);
