CREATE TABLE `callback_attempts` (
	`id` text PRIMARY KEY NOT NULL,
	`callback_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`http_status` integer,
	`latency_ms` integer NOT NULL,
	`answer` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `callback_attempts_by_callback` ON `callback_attempts` (`callback_id`,`started_at`);--> statement-breakpoint
CREATE TABLE `callback_health` (
	`publisher_id` text PRIMARY KEY NOT NULL,
	`failures_in_a_row` integer NOT NULL,
	`paused_at` integer,
	`next_probe_at` integer
);
--> statement-breakpoint
CREATE TABLE `callbacks` (
	`id` text PRIMARY KEY NOT NULL,
	`platform` text NOT NULL,
	`txnid` text NOT NULL,
	`seq` integer NOT NULL,
	`publisher_id` text NOT NULL,
	`status` text NOT NULL,
	`cid` text NOT NULL,
	`payout_micros` integer NOT NULL,
	`event_at` integer NOT NULL,
	`state` text NOT NULL,
	`attempt_count` integer NOT NULL,
	`created_at` integer NOT NULL,
	`next_attempt_at` integer,
	`delivered_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `callbacks_in_order` ON `callbacks` (`platform`,`txnid`,`seq`);--> statement-breakpoint
CREATE INDEX `callbacks_due` ON `callbacks` (`next_attempt_at`) WHERE state = 'due';--> statement-breakpoint
CREATE INDEX `callbacks_by_publisher` ON `callbacks` (`publisher_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `clicks` (
	`id` text PRIMARY KEY NOT NULL,
	`click_hash` text NOT NULL,
	`kind` text NOT NULL,
	`reason` text,
	`clicked_at` integer NOT NULL,
	`publisher_id` text,
	`brand_id` integer NOT NULL,
	`campaign_id` integer NOT NULL,
	`platform` text,
	`publisher_click_id` text,
	`source_id` text,
	`subi` text,
	`psorc` text,
	`pcat` text,
	`subid1` text,
	`subid2` text,
	`subid3` text,
	`subid4` text,
	`subid5` text,
	`uid` text,
	`atag` text,
	`bid_micros` integer NOT NULL,
	`revenue_micros` integer NOT NULL,
	`pricing_model` text,
	`country` text,
	`ip_prefix` text,
	`user_agent_hash` text,
	`written_by` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `clicks_billed_by_hash` ON `clicks` (`click_hash`) WHERE "clicks"."reason" is null;--> statement-breakpoint
CREATE INDEX `clicks_by_hash` ON `clicks` (`click_hash`);--> statement-breakpoint
CREATE INDEX `clicks_by_publisher_click_id` ON `clicks` (`publisher_click_id`) WHERE publisher_click_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `clicks_by_publisher` ON `clicks` (`publisher_id`,`clicked_at`,`id`) WHERE "clicks"."reason" is null;--> statement-breakpoint
CREATE TABLE `conversion_events` (
	`platform` text NOT NULL,
	`txnid` text NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`intake_id` text,
	`details` text NOT NULL,
	PRIMARY KEY(`platform`, `txnid`, `seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `conversions` (
	`platform` text NOT NULL,
	`txnid` text NOT NULL,
	`cid` text NOT NULL,
	`stage` text NOT NULL,
	`status` text NOT NULL,
	`network_status` text,
	`status_unknown` integer NOT NULL,
	`test` integer NOT NULL,
	`event_at` integer NOT NULL,
	`payout_micros` integer NOT NULL,
	`sales_micros` integer,
	`currency` text NOT NULL,
	`usd_nanos` integer,
	`gross_micros` integer,
	`sales_usd_micros` integer,
	`revenue_micros` integer,
	`attribution` text,
	`click_id` text,
	`clicked_at` integer,
	`publisher_id` text,
	`publisher_click_id` text,
	`source_id` text,
	`brand_id` integer,
	`campaign_id` integer,
	`pricing_model` text,
	`revenue_share_ppm` integer,
	`s2` text,
	`s3` text,
	`surl` text,
	`event_count` integer NOT NULL,
	`first_received_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`retry_at` integer,
	PRIMARY KEY(`platform`, `txnid`)
);
--> statement-breakpoint
CREATE INDEX `conversions_by_event` ON `conversions` (`publisher_id`,`event_at`,`platform`,`txnid`) WHERE stage = 'settled';--> statement-breakpoint
CREATE INDEX `conversions_by_click_date` ON `conversions` (`publisher_id`,`clicked_at`,`click_id`) WHERE stage = 'settled';--> statement-breakpoint
CREATE INDEX `conversions_by_click` ON `conversions` (`click_id`) WHERE "conversions"."click_id" is not null;--> statement-breakpoint
CREATE INDEX `conversions_by_cid` ON `conversions` (`cid`);--> statement-breakpoint
CREATE INDEX `conversions_waiting` ON `conversions` (`retry_at`) WHERE "conversions"."retry_at" is not null;--> statement-breakpoint
CREATE INDEX `conversions_quarantined` ON `conversions` (`currency`,`event_at`) WHERE stage = 'quarantined';--> statement-breakpoint
CREATE TABLE `postback_intake` (
	`id` text PRIMARY KEY NOT NULL,
	`received_at` integer NOT NULL,
	`platform` text,
	`method` text NOT NULL,
	`query` text NOT NULL,
	`txnid` text,
	`cid` text,
	`outcome` text NOT NULL,
	`answer` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `postback_intake_by_txnid` ON `postback_intake` (`txnid`) WHERE "postback_intake"."txnid" is not null;--> statement-breakpoint
CREATE INDEX `postback_intake_by_cid` ON `postback_intake` (`cid`) WHERE "postback_intake"."cid" is not null;--> statement-breakpoint
CREATE TABLE `campaign_days` (
	`campaign_id` integer NOT NULL,
	`day` text NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	`spend_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`campaign_id`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `daily_campaigns` (
	`campaign_id` integer NOT NULL,
	`brand_id` integer NOT NULL,
	`publisher_id` text NOT NULL,
	`date` text NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	`click_revenue_micros` integer DEFAULT 0 NOT NULL,
	`conversion_count` integer DEFAULT 0 NOT NULL,
	`conversion_revenue_micros` integer DEFAULT 0 NOT NULL,
	`gross_micros` integer DEFAULT 0 NOT NULL,
	`sales_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`campaign_id`, `date`, `publisher_id`, `brand_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `daily_publishers` (
	`publisher_id` text NOT NULL,
	`date` text NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	`click_revenue_micros` integer DEFAULT 0 NOT NULL,
	`conversion_count` integer DEFAULT 0 NOT NULL,
	`conversion_revenue_micros` integer DEFAULT 0 NOT NULL,
	`gross_micros` integer DEFAULT 0 NOT NULL,
	`sales_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`publisher_id`, `date`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `daily_sources` (
	`publisher_id` text NOT NULL,
	`date` text NOT NULL,
	`source_id` text NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	`click_revenue_micros` integer DEFAULT 0 NOT NULL,
	`conversion_count` integer DEFAULT 0 NOT NULL,
	`conversion_revenue_micros` integer DEFAULT 0 NOT NULL,
	`gross_micros` integer DEFAULT 0 NOT NULL,
	`sales_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`publisher_id`, `date`, `source_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `dead_letters` (
	`id` text PRIMARY KEY NOT NULL,
	`queue` text NOT NULL,
	`body` text NOT NULL,
	`received_at` integer NOT NULL,
	`replayed_at` integer
);
--> statement-breakpoint
CREATE TABLE `catalogue_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `publisher_names` (
	`kind` text NOT NULL,
	`value` text NOT NULL,
	`publisher_id` text NOT NULL,
	`expires_at` integer,
	PRIMARY KEY(`kind`, `value`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `publisher_names_by_publisher` ON `publisher_names` (`publisher_id`);
--> statement-breakpoint
INSERT INTO `catalogue_state` (`id`, `version`) VALUES (1, 0);--> statement-breakpoint
INSERT INTO `publisher_names` (`kind`, `value`, `publisher_id`) SELECT 'publisher_id', `publisher_id`, `id` FROM `publishers`;--> statement-breakpoint
INSERT INTO `publisher_names` (`kind`, `value`, `publisher_id`) SELECT 'publisher_identity', `publisher_identity`, `id` FROM `publishers`;
