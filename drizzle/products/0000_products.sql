CREATE TABLE `import_rows` (
	`import_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`section` text NOT NULL,
	`seq` integer NOT NULL,
	`row` text NOT NULL,
	PRIMARY KEY(`import_id`, `section`, `seq`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `products` (
	`id` text PRIMARY KEY NOT NULL,
	`domain` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`brand` text,
	`category` text,
	`url` text NOT NULL,
	`image_url` text,
	`currency` text NOT NULL,
	`regular_price_micros` integer,
	`final_price_micros` integer NOT NULL,
	`availability` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `products_by_domain` ON `products` (`domain`);--> statement-breakpoint
CREATE TABLE `seller_products` (
	`asin` text NOT NULL,
	`seller_id` text NOT NULL,
	`domain` text NOT NULL,
	`seller_name` text,
	`name` text,
	`description` text,
	`manufacturer` text,
	`category` text,
	`catalog_name` text,
	`current_price_micros` integer,
	`image_url` text,
	`stock_availability` text,
	`url` text NOT NULL,
	PRIMARY KEY(`asin`, `seller_id`)
);
--> statement-breakpoint
CREATE INDEX `seller_products_by_domain` ON `seller_products` (`domain`);