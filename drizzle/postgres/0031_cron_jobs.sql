CREATE TABLE cron_jobs (
	name text COLLATE "C" PRIMARY KEY,
	ended_at bigint NOT NULL,
	failing_since bigint
);

-- As in 0029; a cron that ran on the empty database also notes how its jobs fared.

-- Makes this database the target of a move: empty, and written to by the move alone. Does nothing where it is that already.
-- Clicks get the weeks that they are stored by, from `oldest_at` on.
-- Returns the tables, with commas between them, that hold what no earlier move has put there; then nothing was changed.
CREATE OR REPLACE FUNCTION begin_move(new_id text, at bigint, oldest_at bigint) RETURNS text LANGUAGE plpgsql AS $$
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
		-- Rows that migrations or a cron without a network make.
		CONTINUE WHEN move.phase = 'cancelled' OR one::text IN ('book_garbage', 'book_state', 'catalogue_state', 'click_sequence', 'cron_jobs', 'day_digest_state',
			'learning_work', 'ledger_check', 'network_settings', 'pause_publication', 'problem_alerts', 'reconciliation', 'reconciliation_days',
			'report_sequence', 'retention');
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
