CREATE TABLE `book_dirty_slots` (
	`slot` integer PRIMARY KEY NOT NULL,
	`mark` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `book_garbage` (
	`key` text PRIMARY KEY NOT NULL,
	`replaced_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `book_shards` (
	`bits` integer NOT NULL,
	`shard` integer NOT NULL,
	`version` text NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`bits`, `shard`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `book_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL,
	`bits` integer NOT NULL,
	`next_bits` integer,
	`next_done` integer NOT NULL,
	`manifest_dirty` integer NOT NULL,
	`lease_token` text,
	`lease_until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `book_keys` (
	`slot` integer NOT NULL,
	`key` text NOT NULL,
	`brand_id` integer NOT NULL,
	PRIMARY KEY(`slot`, `key`, `brand_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `book_keys_by_brand` ON `book_keys` (`brand_id`);--> statement-breakpoint
CREATE TABLE `brand_aliases` (
	`alias` text PRIMARY KEY NOT NULL,
	`brand_id` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `brand_aliases_by_brand` ON `brand_aliases` (`brand_id`);--> statement-breakpoint
CREATE TABLE `brands` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`domain` text NOT NULL,
	`name` text NOT NULL,
	`category` text,
	`active` integer NOT NULL,
	`marketplace` integer NOT NULL,
	`new_deal` integer NOT NULL,
	`last_updated_date` text,
	`aliases` text NOT NULL,
	`restricted_traffic` text NOT NULL,
	`traffic_types` text NOT NULL,
	`blocked_countries` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `brands_by_domain` ON `brands` (`domain`);--> statement-breakpoint
CREATE TABLE `campaigns` (
	`campaign_id` integer PRIMARY KEY NOT NULL,
	`brand_id` integer NOT NULL,
	`merchant_id` integer NOT NULL,
	`platform` text NOT NULL,
	`active` integer NOT NULL,
	`country` text NOT NULL,
	`homepage_url` text,
	`deeplink_url` text,
	`deeplink_verified` integer NOT NULL,
	`epc_micros` integer,
	`default_keyword_epc_micros` integer,
	`keyword_epc_micros` text NOT NULL,
	`commission_rate` text,
	`flat_fee_micros` integer,
	`rate_type` text,
	`rate_basis` text,
	`max_rate` text,
	`daily_click_cap` integer,
	`daily_budget_micros` integer,
	`total_budget_micros` integer,
	`timezone` text NOT NULL,
	`allowed_hours` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `campaigns_by_brand` ON `campaigns` (`brand_id`);--> statement-breakpoint
CREATE TABLE `import_rows` (
	`import_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`section` text NOT NULL,
	`seq` integer NOT NULL,
	`row` text NOT NULL,
	PRIMARY KEY(`import_id`, `section`, `seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `exchange_rates` (
	`id` text PRIMARY KEY NOT NULL,
	`currency` text NOT NULL,
	`date` text NOT NULL,
	`usd_nanos` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `platforms` (
	`id` text PRIMARY KEY NOT NULL,
	`platform_id` integer,
	`name` text NOT NULL,
	`currency` text NOT NULL,
	`status_map` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `access_keys` (
	`hash` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`owner_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`last_used_on` text
);
--> statement-breakpoint
CREATE INDEX `access_keys_by_owner` ON `access_keys` (`kind`,`owner_id`);--> statement-breakpoint
CREATE TABLE `publishers` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`publisher_id` text NOT NULL,
	`publisher_identity` text NOT NULL,
	`serving_engine_enabled` integer NOT NULL,
	`openrtb_enabled` integer NOT NULL,
	`seat` text,
	`revenue_share_ppm` integer NOT NULL,
	`pricing_model` text NOT NULL,
	`cashback_enabled` integer NOT NULL,
	`sales_data_enabled` integer NOT NULL,
	`campaign_id_enabled` integer NOT NULL,
	`marketplace_tag` text,
	`callback_url` text,
	`blocked_brands` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `publishers_by_publisher_id` ON `publishers` (`publisher_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `publishers_by_identity` ON `publishers` (`publisher_identity`);
--> statement-breakpoint
INSERT INTO `book_state` (`id`, `version`, `bits`, `next_done`, `manifest_dirty`, `lease_until`) VALUES (1, 0, 0, 0, 0, 0);
