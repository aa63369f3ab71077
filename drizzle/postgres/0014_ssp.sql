CREATE TABLE auction_feedback (
	publisher_id text COLLATE "C" NOT NULL,
	auction_id text COLLATE "C" NOT NULL,
	loss bigint NOT NULL,
	price_micros bigint,
	batch_id text COLLATE "C" NOT NULL,
	at bigint NOT NULL,
	PRIMARY KEY (publisher_id, auction_id)
);
CREATE INDEX auction_feedback_by_time ON auction_feedback (at);
CREATE TABLE auction_feedback_days (
	date text COLLATE "C" NOT NULL,
	publisher_id text COLLATE "C" NOT NULL,
	loss bigint NOT NULL,
	auctions bigint NOT NULL DEFAULT 0,
	priced bigint NOT NULL DEFAULT 0,
	price_micros bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (date, publisher_id, loss)
);
ALTER TABLE brands ADD COLUMN iab_categories text COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE publishers ADD COLUMN openrtb text COLLATE "C";
ALTER TABLE publishers ADD COLUMN response_profile text COLLATE "C" NOT NULL DEFAULT 'contract';
