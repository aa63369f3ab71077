CREATE TABLE console_challenges (
	challenge text COLLATE "C" PRIMARY KEY,
	purpose text COLLATE "C" NOT NULL,
	person_id text COLLATE "C",
	expires_at bigint NOT NULL
);
CREATE INDEX console_challenges_by_expiry ON console_challenges (expires_at);
CREATE TABLE console_links (
	hash text COLLATE "C" PRIMARY KEY,
	person_id text COLLATE "C" NOT NULL,
	purpose text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	used_at bigint,
	session_hash text COLLATE "C"
);
CREATE INDEX console_links_by_person ON console_links (person_id);
CREATE INDEX console_links_by_expiry ON console_links (expires_at);
CREATE TABLE console_passkeys (
	credential_id text COLLATE "C" PRIMARY KEY,
	person_id text COLLATE "C" NOT NULL,
	public_key text COLLATE "C" NOT NULL,
	counter bigint NOT NULL,
	transports text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	last_used_at bigint
);
CREATE INDEX console_passkeys_by_person ON console_passkeys (person_id);
CREATE TABLE console_people (
	id text COLLATE "C" PRIMARY KEY,
	publisher_id text COLLATE "C",
	name text COLLATE "C" NOT NULL,
	email text COLLATE "C",
	role text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	disabled_at bigint
);
CREATE UNIQUE INDEX console_people_by_name ON console_people (publisher_id,name) WHERE publisher_id IS NOT NULL;
CREATE UNIQUE INDEX console_staff_by_name ON console_people (name) WHERE publisher_id IS NULL;
CREATE UNIQUE INDEX console_staff_by_email ON console_people (email) WHERE publisher_id IS NULL AND email IS NOT NULL;
CREATE TABLE console_sessions (
	hash text COLLATE "C" PRIMARY KEY,
	person_id text COLLATE "C" NOT NULL,
	method text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	fresh_at bigint,
	viewing text COLLATE "C"
);
CREATE INDEX console_sessions_by_person ON console_sessions (person_id);
CREATE INDEX console_sessions_by_creation ON console_sessions (created_at);
