CREATE TABLE statements (
	platform text COLLATE "C" NOT NULL,
	hash text COLLATE "C" NOT NULL,
	at bigint NOT NULL,
	actor text COLLATE "C" NOT NULL,
	layout text COLLATE "C" NOT NULL,
	row_count bigint NOT NULL,
	report text COLLATE "C" NOT NULL,
	applied_count bigint NOT NULL DEFAULT 0,
	completed_at bigint,
	PRIMARY KEY (platform, hash)
);
CREATE INDEX statements_by_time ON statements (at, hash);
DROP INDEX conversions_open;
CREATE INDEX conversions_open ON conversions (stage, first_received_at, platform, txnid) WHERE stage <> 'settled';
CREATE INDEX conversions_by_receipt ON conversions (first_received_at, platform, txnid);
CREATE INDEX conversions_by_publisher ON conversions (publisher_id, first_received_at, platform, txnid) WHERE publisher_id IS NOT NULL;
CREATE INDEX postback_intake_refused ON postback_intake (platform, id) WHERE outcome <> 'accepted';
