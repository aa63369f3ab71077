CREATE TABLE `console_challenges` (
	`challenge` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`person_id` text,
	`expires_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `console_challenges_by_expiry` ON `console_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `console_links` (
	`hash` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`purpose` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`session_hash` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `console_links_by_person` ON `console_links` (`person_id`);--> statement-breakpoint
CREATE INDEX `console_links_by_expiry` ON `console_links` (`expires_at`);--> statement-breakpoint
CREATE TABLE `console_passkeys` (
	`credential_id` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`transports` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `console_passkeys_by_person` ON `console_passkeys` (`person_id`);--> statement-breakpoint
CREATE TABLE `console_people` (
	`id` text PRIMARY KEY NOT NULL,
	`publisher_id` text,
	`name` text NOT NULL,
	`email` text,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	`disabled_at` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `console_people_by_name` ON `console_people` (`publisher_id`,`name`) WHERE publisher_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `console_staff_by_name` ON `console_people` (`name`) WHERE publisher_id IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `console_staff_by_email` ON `console_people` (`email`) WHERE publisher_id IS NULL AND email IS NOT NULL;--> statement-breakpoint
CREATE TABLE `console_sessions` (
	`hash` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`method` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`fresh_at` integer,
	`viewing` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `console_sessions_by_person` ON `console_sessions` (`person_id`);--> statement-breakpoint
CREATE INDEX `console_sessions_by_creation` ON `console_sessions` (`created_at`);