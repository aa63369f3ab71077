CREATE TABLE audit (
	id text COLLATE "C" NOT NULL,
	at bigint NOT NULL,
	actor text COLLATE "C" NOT NULL,
	role text COLLATE "C" NOT NULL,
	verb text COLLATE "C" NOT NULL,
	subject_kind text COLLATE "C" NOT NULL,
	subject_id text COLLATE "C" NOT NULL,
	before text COLLATE "C",
	after text COLLATE "C",
	counts text COLLATE "C",
	request_id text COLLATE "C" NOT NULL,
	PRIMARY KEY (id)
);
CREATE INDEX audit_by_actor ON audit (actor,id);
CREATE INDEX audit_by_subject ON audit (subject_id,id);
CREATE INDEX audit_by_verb ON audit (verb,id);

ALTER TABLE access_keys ADD COLUMN role text COLLATE "C";
ALTER TABLE access_keys ADD COLUMN last_used_at bigint;

-- Rows are only ever added. What a cancelled move has left here was never used: the next move may empty it (begin_move).
CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'TRUNCATE' AND current_setting('clickbourse.move', true) = (SELECT move_id FROM database_move WHERE id = 1 AND phase = 'moving') THEN
		RETURN NULL;
	END IF;
	RAISE EXCEPTION 'the audit is only added to' USING ERRCODE = '23001';
END $$;
CREATE TRIGGER audit_keeps_rows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit EXECUTE FUNCTION keep_audit();
