CREATE TABLE `paid_networks` (
	`publisher_id` text NOT NULL,
	`network` text NOT NULL,
	`hour` integer NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`hour`, `publisher_id`, `network`)
);
