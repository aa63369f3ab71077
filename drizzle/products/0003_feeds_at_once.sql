CREATE TABLE `feeds` (
	`id` text PRIMARY KEY NOT NULL,
	`began_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `products` ADD `fed_at` integer;--> statement-breakpoint
ALTER TABLE `seller_products` ADD `fed_at` integer;