DROP INDEX `conversions_counted_by_event`;--> statement-breakpoint
DROP INDEX `conversions_cancelled_by_event`;--> statement-breakpoint
DROP INDEX `conversions_counted_by_click`;--> statement-breakpoint
CREATE INDEX `conversions_counted_by_platform` ON `conversions` (`platform`,`event_at`,`txnid`) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0;--> statement-breakpoint
DROP INDEX `campaign_clocks_by_time`;--> statement-breakpoint
CREATE INDEX `campaigns_with_total_budget` ON `campaigns` (`campaign_id`) WHERE "campaigns"."total_budget_micros" is not null;