CREATE TABLE network_versions (
	version bigint NOT NULL,
	id text COLLATE "C" NOT NULL,
	kind text COLLATE "C" NOT NULL,
	at bigint NOT NULL,
	actor text COLLATE "C" NOT NULL,
	file_hash text COLLATE "C",
	undoes text COLLATE "C",
	PRIMARY KEY (version)
);

CREATE INDEX network_versions_by_id ON network_versions (id);

CREATE TABLE network_changes (
	version bigint NOT NULL,
	seq bigint NOT NULL,
	entries text COLLATE "C" NOT NULL,
	PRIMARY KEY (version, seq)
);
