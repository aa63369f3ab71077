DROP INDEX `clicks_by_publisher`;--> statement-breakpoint
CREATE INDEX `clicks_paid_by_publisher` ON `clicks` (`publisher_id`,`clicked_at`,`id`,`revenue_micros`,`reason`) WHERE reason IS NULL AND pricing_model = 'CPC';--> statement-breakpoint
DROP INDEX `conversions_by_event`;--> statement-breakpoint
DROP INDEX `conversions_by_click_date`;--> statement-breakpoint
CREATE INDEX `conversions_paid_by_event` ON `conversions` (`publisher_id`,`event_at`,`platform`,`txnid`,`stage`,`status`,`test`,`pricing_model`) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0 AND pricing_model = 'CPA';--> statement-breakpoint
CREATE INDEX `conversions_paid_by_click_date` ON `conversions` (`publisher_id`,`clicked_at`,`click_id`,`revenue_micros`,`stage`,`status`,`test`,`pricing_model`) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0 AND pricing_model = 'CPA';