CREATE TABLE `audit` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`role` text NOT NULL,
	`verb` text NOT NULL,
	`subject_kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`before` text,
	`after` text,
	`counts` text,
	`request_id` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_by_actor` ON `audit` (`actor`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_subject` ON `audit` (`subject_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_verb` ON `audit` (`verb`,`id`);--> statement-breakpoint
ALTER TABLE `access_keys` ADD `role` text;--> statement-breakpoint
ALTER TABLE `access_keys` ADD `last_used_at` integer;--> statement-breakpoint
CREATE TRIGGER `audit_keeps_rows` BEFORE UPDATE ON `audit` BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_keeps_all_rows` BEFORE DELETE ON `audit` BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_replaces_no_row` BEFORE INSERT ON `audit` WHEN EXISTS (SELECT 1 FROM `audit` WHERE `id` = NEW.`id`)
BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
