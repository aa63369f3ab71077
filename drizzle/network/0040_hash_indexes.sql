DROP INDEX `clicks_by_hash`;--> statement-breakpoint
CREATE INDEX `clicks_by_hash` ON `clicks` (`click_hash`) WHERE reason <> 'voided';