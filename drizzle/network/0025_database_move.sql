CREATE TABLE `database_move` (
	`id` integer PRIMARY KEY NOT NULL,
	`phase` text NOT NULL,
	`move_id` text DEFAULT '' NOT NULL,
	`started_at` integer
);
--> statement-breakpoint
CREATE TABLE `database_move_progress` (
	`step` text NOT NULL,
	`of_table` text NOT NULL,
	`last_key` text DEFAULT '' NOT NULL,
	`row_count` integer DEFAULT 0 NOT NULL,
	`difference_count` integer DEFAULT 0 NOT NULL,
	`sums` text DEFAULT '{}' NOT NULL,
	`done` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`step`, `of_table`)
);
--> statement-breakpoint
INSERT INTO `database_move` (`id`, `phase`) VALUES (1, 'none');
