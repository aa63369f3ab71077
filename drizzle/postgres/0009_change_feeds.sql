CREATE TABLE brand_changes (
	brand_id bigint NOT NULL,
	version bigint NOT NULL,
	first_version bigint NOT NULL,
	listing_version bigint NOT NULL,
	rate_version bigint NOT NULL,
	restrictions_version bigint NOT NULL,
	details_version bigint NOT NULL,
	listed bigint NOT NULL,
	rate_hash text COLLATE "C" NOT NULL,
	restrictions_hash text COLLATE "C" NOT NULL,
	details_hash text COLLATE "C" NOT NULL,
	PRIMARY KEY (brand_id)
);
CREATE INDEX brand_changes_by_version ON brand_changes (version, brand_id);

CREATE TABLE block_changes (
	publisher_id text COLLATE "C" NOT NULL,
	domain text COLLATE "C" NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (publisher_id, domain)
);

CREATE TABLE callback_secrets (
	id text COLLATE "C" NOT NULL,
	publisher_id text COLLATE "C" NOT NULL,
	sealed text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint,
	PRIMARY KEY (id)
);
CREATE INDEX callback_secrets_by_publisher ON callback_secrets (publisher_id, created_at);

CREATE TABLE conversion_changes (
	publisher_id text COLLATE "C" NOT NULL,
	sequence bigint NOT NULL,
	platform text COLLATE "C" NOT NULL,
	txnid text COLLATE "C" NOT NULL,
	at bigint NOT NULL,
	why text COLLATE "C" NOT NULL,
	old_status text COLLATE "C",
	old_event_at bigint,
	old_revenue_micros bigint,
	old_sales_usd_micros bigint,
	old_credited_micros bigint,
	status text COLLATE "C",
	event_at bigint,
	revenue_micros bigint,
	sales_usd_micros bigint,
	credited_micros bigint,
	PRIMARY KEY (publisher_id, sequence, platform, txnid)
);
CREATE INDEX conversion_changes_by_time ON conversion_changes (at);

ALTER TABLE callbacks ADD COLUMN sales_usd_micros bigint;
ALTER TABLE catalogue_state ADD COLUMN changes_version bigint NOT NULL DEFAULT 0;
ALTER TABLE report_sequence ADD COLUMN changes_from bigint NOT NULL DEFAULT 0;
CREATE INDEX adjustments_by_sequence ON adjustments (publisher_id, sequence, id) WHERE publisher_id IS NOT NULL;
CREATE INDEX conversions_by_sequence ON conversions (publisher_id, sequence, platform, txnid) WHERE publisher_id IS NOT NULL;

UPDATE report_sequence SET changes_from = present;
UPDATE catalogue_state SET changes_version = version;
