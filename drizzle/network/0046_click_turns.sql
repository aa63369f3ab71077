CREATE TABLE `click_turns` (
	`version` integer PRIMARY KEY NOT NULL,
	`click_count` integer NOT NULL,
	`cost_micros` integer NOT NULL,
	`touched` text NOT NULL
);
