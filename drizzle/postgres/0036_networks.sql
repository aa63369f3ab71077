CREATE TABLE paid_networks (
	publisher_id text COLLATE "C" NOT NULL,
	network text COLLATE "C" NOT NULL,
	hour bigint NOT NULL,
	click_count bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (hour, publisher_id, network)
);
