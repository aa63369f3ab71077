-- As in 0021, but beside writers of clicks: one that came of a week between what was moved of it and the week itself would have refused the week.
-- They wait, where the week has clicks already or may get some now.
CREATE OR REPLACE FUNCTION make_click_weeks(at_ms bigint, weeks bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	week_ms CONSTANT bigint := 7 * 86400000;
	-- 1970-01-05 was a Monday.
	monday_ms CONSTANT bigint := 4 * 86400000;
	most CONSTANT bigint := 10000;
	start_ms bigint := at_ms - mod(at_ms - monday_ms, week_ms);
	made bigint := 0;
	early bigint;
	week text;
BEGIN
	FOR number IN 1..weeks LOOP
		week := 'clicks_' || to_char(to_timestamp(start_ms / 1000) AT TIME ZONE 'UTC', 'YYYY_MM_DD');
		IF to_regclass(week) IS NULL THEN
			SELECT count(*) INTO early FROM (
				SELECT 1 FROM clicks_rest WHERE id >= least_id_at(start_ms) AND id < least_id_at(start_ms + week_ms) LIMIT most + 1) AS found;
			IF early <= most THEN
				IF early > 0 OR start_ms <= at_ms THEN
					LOCK TABLE ONLY clicks IN SHARE ROW EXCLUSIVE MODE;
				END IF;
				EXECUTE format('CREATE TABLE %I (LIKE clicks INCLUDING DEFAULTS)', week);
				EXECUTE format('WITH early AS (DELETE FROM clicks_rest WHERE id >= %L AND id < %L RETURNING *) INSERT INTO %I SELECT * FROM early',
					least_id_at(start_ms), least_id_at(start_ms + week_ms), week);
				EXECUTE format('CREATE UNIQUE INDEX %I ON %I (click_hash) WHERE reason IS NULL OR reason = %L', week || '_billed_by_hash', week, 'voided');
				EXECUTE format('ALTER TABLE clicks ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
					week, least_id_at(start_ms), least_id_at(start_ms + week_ms));
				made := made + 1;
			END IF;
		END IF;
		start_ms := start_ms + week_ms;
	END LOOP;
	RETURN made;
END $$;
