CREATE TABLE `stops` (
	`subject` text NOT NULL,
	`domain` text NOT NULL,
	`reason` text NOT NULL,
	`country` text NOT NULL,
	`since` integer NOT NULL,
	PRIMARY KEY(`subject`, `domain`, `reason`, `country`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `stops` (`subject`, `domain`, `reason`, `country`, `since`)
	SELECT 'publisher ' || `id`, '', 'publisher_suspended', '', unixepoch() * 1000 FROM `publishers` WHERE `status` = 'suspended'
	UNION SELECT 'publisher ' || p.`id`, b.value ->> 'domain', 'blocked', coalesce(b.value ->> 'country', ''), unixepoch() * 1000
		FROM `publishers` p, json_each(p.`blocked_brands`) b
	UNION SELECT 'brand ' || `domain`, '', 'brand_stopped', '', unixepoch() * 1000 FROM `brands` WHERE `active` = 0
	UNION SELECT 'brand ' || `domain`, '', 'blocked', c.value, unixepoch() * 1000 FROM `brands`, json_each(`brands`.`blocked_countries`) c
	UNION SELECT 'campaign ' || `campaign_id`, '', 'campaign_stopped', '', unixepoch() * 1000 FROM `campaigns` WHERE `active` = 0;
