CREATE TABLE `statements` (
	`platform` text NOT NULL,
	`hash` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`layout` text NOT NULL,
	`row_count` integer NOT NULL,
	`report` text NOT NULL,
	`applied_count` integer DEFAULT 0 NOT NULL,
	`completed_at` integer,
	PRIMARY KEY(`platform`, `hash`)
);
--> statement-breakpoint
CREATE INDEX `statements_by_time` ON `statements` (`at`,`hash`);--> statement-breakpoint
DROP INDEX `conversions_open`;--> statement-breakpoint
CREATE INDEX `conversions_by_receipt` ON `conversions` (`first_received_at`,`platform`,`txnid`);--> statement-breakpoint
CREATE INDEX `conversions_by_publisher` ON `conversions` (`publisher_id`,`first_received_at`,`platform`,`txnid`) WHERE "conversions"."publisher_id" is not null;--> statement-breakpoint
CREATE INDEX `conversions_open` ON `conversions` (`stage`,`first_received_at`,`platform`,`txnid`) WHERE stage <> 'settled';--> statement-breakpoint
CREATE INDEX `postback_intake_refused` ON `postback_intake` (`platform`,`id`) WHERE outcome <> 'accepted';