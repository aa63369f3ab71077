CREATE TABLE click_turns (
	version bigint NOT NULL,
	click_count bigint NOT NULL,
	cost_micros bigint NOT NULL,
	touched text COLLATE "C" NOT NULL,
	PRIMARY KEY (version)
);
