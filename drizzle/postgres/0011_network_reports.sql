CREATE TABLE problem_alerts (
	kind text COLLATE "C" PRIMARY KEY,
	looks bigint NOT NULL,
	standing bigint NOT NULL,
	told bigint NOT NULL,
	body text COLLATE "C",
	message_id text COLLATE "C",
	tries bigint NOT NULL DEFAULT 0,
	next_try_at bigint
);
CREATE TABLE bid_hours (
	hour bigint NOT NULL,
	publisher_id text COLLATE "C" NOT NULL,
	endpoint text COLLATE "C" NOT NULL,
	outcome text COLLATE "C" NOT NULL,
	requests bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (hour, publisher_id, endpoint, outcome)
);
CREATE INDEX bid_hours_by_publisher ON bid_hours (publisher_id,hour);
CREATE TABLE bid_messages (
	id text COLLATE "C" PRIMARY KEY
);
CREATE INDEX conversions_cancelled_by_event ON conversions (event_at) WHERE stage = 'settled' AND status = 'cancelled' AND test = 0;
CREATE TABLE daily_network (
	date text COLLATE "C" NOT NULL,
	campaign_id bigint NOT NULL,
	publisher_id text COLLATE "C" NOT NULL,
	brand_id bigint NOT NULL,
	platform text COLLATE "C" NOT NULL,
	country text COLLATE "C" NOT NULL,
	kind text COLLATE "C" NOT NULL,
	reason text COLLATE "C" NOT NULL,
	click_count bigint NOT NULL DEFAULT 0,
	click_gross_micros bigint NOT NULL DEFAULT 0,
	click_revenue_micros bigint NOT NULL DEFAULT 0,
	approved_count bigint NOT NULL DEFAULT 0,
	pending_count bigint NOT NULL DEFAULT 0,
	cancelled_count bigint NOT NULL DEFAULT 0,
	conversion_revenue_micros bigint NOT NULL DEFAULT 0,
	pending_revenue_micros bigint NOT NULL DEFAULT 0,
	gross_micros bigint NOT NULL DEFAULT 0,
	sales_micros bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason)
);

INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason, click_count, click_gross_micros, click_revenue_micros)
SELECT date(clicked_at / 1000, 'unixepoch'), campaign_id, coalesce(publisher_id, ''), brand_id, coalesce(platform, ''), coalesce(country, ''), kind,
	coalesce(reason, ''), count(*), sum(CASE WHEN reason IS NULL THEN coalesce(gross_micros, bid_micros) ELSE 0 END),
	sum(CASE WHEN reason IS NULL THEN revenue_micros ELSE 0 END)
FROM clicks GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
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
