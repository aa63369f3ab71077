ALTER TABLE `conversion_changes` ADD `old_gross_micros` integer;--> statement-breakpoint
ALTER TABLE `conversion_changes` ADD `gross_micros` integer;