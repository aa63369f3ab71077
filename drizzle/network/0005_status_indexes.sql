CREATE INDEX `conversions_open` ON `conversions` (`stage`) WHERE stage <> 'settled';--> statement-breakpoint
CREATE INDEX `dead_letters_open` ON `dead_letters` (`queue`) WHERE replayed_at IS NULL;