CREATE TABLE `cron_jobs` (
	`name` text PRIMARY KEY NOT NULL,
	`ended_at` integer NOT NULL,
	`failing_since` integer
);
