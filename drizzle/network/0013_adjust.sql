DROP INDEX `adjustments_by_undone`;--> statement-breakpoint
ALTER TABLE `adjustments` ADD `cursor` text;--> statement-breakpoint
CREATE INDEX `adjustments_by_time` ON `adjustments` (`at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `adjustments_by_undone` ON `adjustments` (`undoes`);--> statement-breakpoint
ALTER TABLE `paid_visits` ADD `voided_by` text;--> statement-breakpoint
CREATE INDEX `clicks_voided_by_publisher` ON `clicks` (`publisher_id`,`clicked_at`,`id`,`revenue_micros`,`reason`) WHERE reason = 'voided' AND pricing_model = 'CPC';--> statement-breakpoint
CREATE INDEX `clicks_by_void` ON `clicks` (`voided_by`,`id`) WHERE voided_by IS NOT NULL;