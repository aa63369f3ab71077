CREATE TABLE `retention` (
	`name` text PRIMARY KEY NOT NULL,
	`cursor` text NOT NULL
);
