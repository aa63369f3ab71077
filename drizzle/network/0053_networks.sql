CREATE TABLE `paid_networks` (
	`publisher_id` text NOT NULL,
	`network` text NOT NULL,
	`hour` integer NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`publisher_id`, `network`, `hour`)
);
--> statement-breakpoint
CREATE INDEX `paid_networks_by_hour` ON `paid_networks` (`hour`);