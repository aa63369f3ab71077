CREATE TABLE `claims` (
	`id` text PRIMARY KEY NOT NULL,
	`publisher_id` text NOT NULL,
	`kind` text NOT NULL,
	`about_id` text NOT NULL,
	`brand` text,
	`sold_at` integer,
	`amount_micros` integer,
	`state` text NOT NULL,
	`thread` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`adjustment_id` text
);
--> statement-breakpoint
CREATE INDEX `claims_by_publisher` ON `claims` (`publisher_id`,`id`);--> statement-breakpoint
CREATE INDEX `claims_by_state` ON `claims` (`state`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `claims_under_way` ON `claims` (`publisher_id`,`about_id`,`kind`) WHERE state IN ('open', 'answered');