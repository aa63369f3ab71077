CREATE TABLE learning_campaigns (
	campaign_id bigint PRIMARY KEY,
	day bigint NOT NULL,
	learned text COLLATE "C",
	last_break text COLLATE "C",
	steering text COLLATE "C"
);
CREATE INDEX learning_campaigns_by_day ON learning_campaigns (day);
CREATE INDEX learning_campaigns_broken ON learning_campaigns (campaign_id) WHERE last_break IS NOT NULL;
CREATE TABLE learning_changes (
	campaign_id bigint NOT NULL,
	at bigint NOT NULL,
	keyword text COLLATE "C" NOT NULL,
	operator_micros bigint NOT NULL,
	epc_micros bigint NOT NULL,
	cause text COLLATE "C" NOT NULL,
	PRIMARY KEY (campaign_id, at, keyword)
);
CREATE INDEX learning_changes_by_time ON learning_changes (at);
CREATE TABLE learning_clicks (
	campaign_id bigint NOT NULL,
	publisher_id text COLLATE "C" NOT NULL,
	source text COLLATE "C" NOT NULL,
	keyword text COLLATE "C" NOT NULL,
	link text COLLATE "C" NOT NULL,
	day bigint NOT NULL,
	clicks bigint NOT NULL,
	gross_micros bigint NOT NULL,
	paid_micros bigint NOT NULL,
	PRIMARY KEY (campaign_id, publisher_id, source, keyword, link, day)
);
CREATE INDEX learning_clicks_by_day ON learning_clicks (day);
CREATE TABLE learning_conversions (
	platform text COLLATE "C" NOT NULL,
	txnid text COLLATE "C" NOT NULL,
	click_id text COLLATE "C" NOT NULL,
	day bigint NOT NULL,
	approved_lag bigint NOT NULL,
	reversed_lag bigint,
	net_micros bigint NOT NULL,
	size_class bigint NOT NULL,
	paid bigint NOT NULL,
	PRIMARY KEY (platform, txnid)
);
CREATE INDEX learning_conversions_by_click ON learning_conversions (click_id);
CREATE INDEX learning_conversions_by_day ON learning_conversions (day);
CREATE TABLE learning_delays (
	platform text COLLATE "C" NOT NULL,
	day bigint NOT NULL,
	lag bigint NOT NULL,
	arrivals bigint NOT NULL,
	reversals bigint NOT NULL,
	PRIMARY KEY (platform, day, lag)
);
CREATE TABLE learning_earnings (
	campaign_id bigint NOT NULL,
	publisher_id text COLLATE "C" NOT NULL,
	source text COLLATE "C" NOT NULL,
	keyword text COLLATE "C" NOT NULL,
	link text COLLATE "C" NOT NULL,
	day bigint NOT NULL,
	size_class bigint NOT NULL,
	conversions bigint NOT NULL,
	net_micros bigint NOT NULL,
	PRIMARY KEY (campaign_id, publisher_id, source, keyword, link, day, size_class)
);
CREATE TABLE learning_factors (
	level text COLLATE "C" NOT NULL,
	campaign_id bigint NOT NULL,
	publisher_id text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	published text COLLATE "C" NOT NULL,
	target text COLLATE "C" NOT NULL,
	moving bigint NOT NULL,
	PRIMARY KEY (level, campaign_id, publisher_id, name)
);
CREATE INDEX learning_factors_moving ON learning_factors (moving, campaign_id);
CREATE TABLE learning_nights (
	day bigint PRIMARY KEY,
	started_at bigint NOT NULL,
	finished_at bigint,
	progress text COLLATE "C" NOT NULL,
	fault text COLLATE "C"
);
CREATE TABLE learning_sources (
	publisher_id text COLLATE "C" NOT NULL,
	source text COLLATE "C" NOT NULL,
	from_day bigint,
	last_day bigint NOT NULL,
	PRIMARY KEY (publisher_id, source)
);
CREATE TABLE learning_traffic (
	level text COLLATE "C" NOT NULL,
	publisher_id text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	day bigint NOT NULL,
	evidence text COLLATE "C" NOT NULL,
	PRIMARY KEY (level, publisher_id, name)
);
CREATE TABLE learning_work (
	name text COLLATE "C" PRIMARY KEY,
	value text COLLATE "C" NOT NULL
);
ALTER TABLE campaigns ADD COLUMN epc_learning text COLLATE "C";
ALTER TABLE clicks ADD COLUMN link text COLLATE "C";
ALTER TABLE clicks ADD COLUMN keyword_class text COLLATE "C";
ALTER TABLE platforms ADD COLUMN epc_learning text COLLATE "C";
ALTER TABLE publishers ADD COLUMN epc_learning text COLLATE "C";
ALTER TABLE network_settings ADD COLUMN epc_learning text COLLATE "C";
CREATE INDEX campaigns_by_learning ON campaigns (campaign_id) WHERE epc_learning IS NOT NULL;
