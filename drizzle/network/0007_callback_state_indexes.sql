DROP INDEX `callbacks_undelivered`;--> statement-breakpoint
DROP INDEX `callbacks_exhausted`;--> statement-breakpoint
CREATE INDEX `callbacks_undelivered` ON `callbacks` (`created_at`,`id`) WHERE state = 'due';--> statement-breakpoint
CREATE INDEX `callbacks_exhausted` ON `callbacks` (`created_at`,`id`) WHERE state = 'exhausted';