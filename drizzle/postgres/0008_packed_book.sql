CREATE TABLE book_chunks (
	kind text COLLATE "C" NOT NULL,
	bits bigint NOT NULL,
	chunk bigint NOT NULL,
	version text COLLATE "C" NOT NULL,
	bytes bigint NOT NULL,
	written_at bigint NOT NULL,
	PRIMARY KEY (kind, bits, chunk)
);

CREATE TABLE publisher_numbers (
	publisher_id text COLLATE "C" NOT NULL,
	number bigint NOT NULL,
	PRIMARY KEY (publisher_id)
);

ALTER TABLE book_state ADD COLUMN format bigint DEFAULT 1 NOT NULL;
ALTER TABLE book_state ADD COLUMN next_format bigint;
CREATE INDEX stops_by_domain ON stops (domain) WHERE reason = 'blocked' AND domain <> '';
