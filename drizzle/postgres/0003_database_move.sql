CREATE TABLE database_move (
	id bigint NOT NULL,
	phase text COLLATE "C" NOT NULL,
	move_id text COLLATE "C" NOT NULL DEFAULT '',
	started_at bigint,
	PRIMARY KEY (id)
);

CREATE TABLE database_move_progress (
	step text COLLATE "C" NOT NULL,
	of_table text COLLATE "C" NOT NULL,
	last_key text COLLATE "C" NOT NULL DEFAULT '',
	row_count bigint NOT NULL DEFAULT 0,
	difference_count bigint NOT NULL DEFAULT 0,
	sums text COLLATE "C" NOT NULL DEFAULT '{}',
	done bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (step, of_table)
);

INSERT INTO database_move (id, phase) VALUES (1, 'none');

-- The tables that a move fills.
CREATE FUNCTION network_tables() RETURNS SETOF regclass LANGUAGE sql STABLE AS $$
	SELECT oid::regclass FROM pg_class
	WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
		AND relname NOT IN ('database_move', 'database_move_progress', 'applied_migrations')
$$;

-- Refuses whoever does not say that it is the move. 55: the object is not in a state for it.
CREATE FUNCTION refuse_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('clickbourse.move', true) IS DISTINCT FROM (SELECT move_id FROM database_move WHERE id = 1) THEN
		RAISE EXCEPTION 'the network database is being moved' USING ERRCODE = '55000';
	END IF;
	RETURN NULL;
END $$;

CREATE FUNCTION hold_writes() RETURNS void LANGUAGE plpgsql AS $$
DECLARE held regclass;
BEGIN
	FOR held IN SELECT network_tables() LOOP
		EXECUTE format('CREATE OR REPLACE TRIGGER move_holds_writes BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s EXECUTE FUNCTION refuse_write()', held);
	END LOOP;
END $$;

CREATE FUNCTION release_writes() RETURNS void LANGUAGE plpgsql AS $$
DECLARE held regclass;
BEGIN
	FOR held IN SELECT network_tables() LOOP
		EXECUTE format('DROP TRIGGER IF EXISTS move_holds_writes ON %s', held);
	END LOOP;
END $$;

-- Makes this database the target of a move: empty, and written to by the move alone. Does nothing where it is that already.
-- Clicks get the weeks that they are stored by, from `oldest_at` on.
-- Returns the tables, with commas between them, that hold what no earlier move has put there; then nothing was changed.
CREATE FUNCTION begin_move(new_id text, at bigint, oldest_at bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	move database_move;
	one regclass;
	has_rows boolean;
	holding text[] := '{}';
BEGIN
	SELECT * INTO move FROM database_move WHERE id = 1 FOR UPDATE;
	IF move.phase = 'moving' AND move.move_id = new_id THEN RETURN ''; END IF;
	IF move.phase NOT IN ('none', 'cancelled') THEN RETURN 'database_move'; END IF;
	FOR one IN SELECT network_tables() LOOP
		EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', one);
		-- Rows that migrations or the first minute of a cron make.
		CONTINUE WHEN move.phase = 'cancelled' OR one::text IN ('book_state', 'catalogue_state', 'click_sequence', 'day_digest_state',
			'ledger_check', 'network_settings', 'pause_publication', 'reconciliation', 'reconciliation_days', 'report_sequence', 'retention');
		EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s)', one) INTO has_rows;
		IF has_rows THEN holding := holding || one::text; END IF;
	END LOOP;
	IF holding <> '{}' THEN RETURN array_to_string(holding, ', '); END IF;
	UPDATE database_move SET phase = 'moving', move_id = new_id, started_at = at WHERE id = 1;
	PERFORM set_config('clickbourse.move', new_id, true);
	FOR one IN SELECT network_tables() LOOP
		EXECUTE format('TRUNCATE %s', one);
	END LOOP;
	DELETE FROM database_move_progress;
	PERFORM make_click_weeks(oldest_at, least(600, (at - oldest_at) / (7 * 86400000) + 6));
	PERFORM hold_writes();
	RETURN '';
END $$;

-- The network has switched to this database: from now on it takes writes. Returns how it stands.
CREATE FUNCTION take_over() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	UPDATE database_move SET phase = 'used' WHERE id = 1 AND phase = 'moved';
	IF FOUND THEN PERFORM release_writes(); END IF;
	RETURN (SELECT phase FROM database_move WHERE id = 1);
END $$;
