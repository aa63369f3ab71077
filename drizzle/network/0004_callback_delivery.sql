DROP INDEX `callbacks_due`;--> statement-breakpoint
ALTER TABLE `callbacks` ADD `schedule_step` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `callbacks` ADD `held_for` text;--> statement-breakpoint
ALTER TABLE `callbacks` ADD `lease` text;--> statement-breakpoint
ALTER TABLE `callbacks` ADD `queued_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `callbacks_sweep` ON `callbacks` (max(`next_attempt_at`, `queued_until`)) WHERE state = 'due';--> statement-breakpoint
CREATE INDEX `callbacks_paused` ON `callbacks` (`publisher_id`,`created_at`) WHERE held_for = 'pause';--> statement-breakpoint
CREATE INDEX `callbacks_undelivered` ON `callbacks` (`created_at`) WHERE state = 'due';--> statement-breakpoint
CREATE INDEX `callbacks_exhausted` ON `callbacks` (`created_at`) WHERE state = 'exhausted';--> statement-breakpoint
CREATE INDEX `callbacks_by_txnid` ON `callbacks` (`txnid`);--> statement-breakpoint
CREATE INDEX `callbacks_by_time` ON `callbacks` (`created_at`,`id`);--> statement-breakpoint
ALTER TABLE `callback_health` ADD `url` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `callback_health` ADD `releasing` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `callback_health_paused` ON `callback_health` (`paused_at`) WHERE paused_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `callback_health_releasing` ON `callback_health` (`publisher_id`) WHERE releasing = 1;