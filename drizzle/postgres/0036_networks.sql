CREATE TABLE paid_networks (
	publisher_id text COLLATE "C" NOT NULL,
	network text COLLATE "C" NOT NULL,
	hour bigint NOT NULL,
	click_count bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (publisher_id, network, hour)
);
CREATE INDEX paid_networks_by_hour ON paid_networks (hour);
