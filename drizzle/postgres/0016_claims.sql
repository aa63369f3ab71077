CREATE TABLE claims (
	id text COLLATE "C" PRIMARY KEY,
	publisher_id text COLLATE "C" NOT NULL,
	kind text COLLATE "C" NOT NULL,
	about_id text COLLATE "C" NOT NULL,
	brand text COLLATE "C",
	sold_at bigint,
	amount_micros bigint,
	state text COLLATE "C" NOT NULL,
	thread text COLLATE "C" NOT NULL,
	version bigint NOT NULL,
	created_at bigint NOT NULL,
	changed_at bigint NOT NULL,
	adjustment_id text COLLATE "C"
);
CREATE INDEX claims_by_publisher ON claims (publisher_id, id);
CREATE INDEX claims_by_state ON claims (state, id);
CREATE UNIQUE INDEX claims_under_way ON claims (publisher_id, about_id, kind) WHERE state IN ('open', 'answered');
