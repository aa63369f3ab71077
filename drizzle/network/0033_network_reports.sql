CREATE TABLE `problem_alerts` (
	`kind` text PRIMARY KEY NOT NULL,
	`looks` integer NOT NULL,
	`standing` integer NOT NULL,
	`told` integer NOT NULL,
	`body` text,
	`message_id` text,
	`tries` integer DEFAULT 0 NOT NULL,
	`next_try_at` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `bid_hours` (
	`hour` integer NOT NULL,
	`publisher_id` text NOT NULL,
	`endpoint` text NOT NULL,
	`outcome` text NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`hour`, `publisher_id`, `endpoint`, `outcome`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `bid_hours_by_publisher` ON `bid_hours` (`publisher_id`,`hour`);--> statement-breakpoint
CREATE TABLE `bid_messages` (
	`id` text PRIMARY KEY NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `daily_network` (
	`date` text NOT NULL,
	`campaign_id` integer NOT NULL,
	`publisher_id` text NOT NULL,
	`brand_id` integer NOT NULL,
	`platform` text NOT NULL,
	`country` text NOT NULL,
	`kind` text NOT NULL,
	`reason` text NOT NULL,
	`click_count` integer DEFAULT 0 NOT NULL,
	`click_gross_micros` integer DEFAULT 0 NOT NULL,
	`click_revenue_micros` integer DEFAULT 0 NOT NULL,
	`approved_count` integer DEFAULT 0 NOT NULL,
	`pending_count` integer DEFAULT 0 NOT NULL,
	`cancelled_count` integer DEFAULT 0 NOT NULL,
	`conversion_revenue_micros` integer DEFAULT 0 NOT NULL,
	`pending_revenue_micros` integer DEFAULT 0 NOT NULL,
	`gross_micros` integer DEFAULT 0 NOT NULL,
	`sales_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`date`, `campaign_id`, `publisher_id`, `brand_id`, `platform`, `country`, `kind`, `reason`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `conversions_cancelled_by_event` ON `conversions` (`event_at`) WHERE stage = 'settled' AND status = 'cancelled' AND test = 0;
--> statement-breakpoint
INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason, click_count, click_gross_micros, click_revenue_micros)
SELECT date(clicked_at / 1000, 'unixepoch'), campaign_id, coalesce(publisher_id, ''), brand_id, coalesce(platform, ''), coalesce(country, ''), kind,
	coalesce(reason, ''), count(*), sum(CASE WHEN reason IS NULL THEN coalesce(gross_micros, bid_micros) ELSE 0 END),
	sum(CASE WHEN reason IS NULL THEN revenue_micros ELSE 0 END)
FROM clicks GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
--> statement-breakpoint
INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason, approved_count, pending_count, cancelled_count,
	conversion_revenue_micros, pending_revenue_micros, gross_micros, sales_micros)
SELECT date(v.event_at / 1000, 'unixepoch'), v.campaign_id, v.publisher_id, v.brand_id, v.platform, coalesce(c.country, ''), coalesce(c.kind, ''), '',
	sum(CASE WHEN v.status = 'approved' THEN 1 ELSE 0 END), sum(CASE WHEN v.status = 'pending' THEN 1 ELSE 0 END),
	sum(CASE WHEN v.status = 'cancelled' THEN 1 ELSE 0 END),
	sum(CASE WHEN v.status <> 'cancelled' THEN coalesce(v.revenue_micros, 0) ELSE 0 END),
	sum(CASE WHEN v.status = 'pending' THEN coalesce(v.revenue_micros, 0) ELSE 0 END),
	sum(CASE WHEN v.status <> 'cancelled' THEN coalesce(v.gross_micros, 0) ELSE 0 END),
	sum(CASE WHEN v.status <> 'cancelled' THEN coalesce(v.sales_usd_micros, 0) ELSE 0 END)
FROM conversions v LEFT JOIN clicks c ON c.id = v.click_id
WHERE v.stage = 'settled' AND v.test = 0 AND v.publisher_id IS NOT NULL AND v.campaign_id IS NOT NULL AND v.brand_id IS NOT NULL
GROUP BY 1, 2, 3, 4, 5, 6, 7
ON CONFLICT (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason) DO UPDATE SET
	approved_count = excluded.approved_count, pending_count = excluded.pending_count, cancelled_count = excluded.cancelled_count,
	conversion_revenue_micros = excluded.conversion_revenue_micros, pending_revenue_micros = excluded.pending_revenue_micros,
	gross_micros = excluded.gross_micros, sales_micros = excluded.sales_micros;
