-- As in 0002, but for a week of which more clicks than one statement should move are in clicks_rest already, since nobody made it in time: they
-- stay there, with those that still come of it, and go when they are old as all of clicks_rest do.
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

-- As in 0002, but clicks that are kept are found by the conversions that came of them: nobody reads clicks meanwhile, and a week has a hundred
-- times as many.
CREATE OR REPLACE FUNCTION drop_click_week(week text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	start_ms bigint;
	kept bigint;
BEGIN
	IF week !~ '^clicks_\d{4}_\d{2}_\d{2}$' THEN RAISE EXCEPTION 'no week of clicks'; END IF;
	start_ms := CAST(extract(epoch FROM to_date(substr(week, 8), 'YYYY_MM_DD')::timestamp) * 1000 AS bigint);
	EXECUTE format('ALTER TABLE clicks DETACH PARTITION %I', week);
	EXECUTE format('INSERT INTO clicks_rest SELECT c.* FROM %I c WHERE c.id IN (SELECT v.click_id FROM conversions v WHERE v.click_id >= %L AND v.click_id < %L)',
		week, least_id_at(start_ms), least_id_at(start_ms + 7 * 86400000));
	GET DIAGNOSTICS kept = ROW_COUNT;
	EXECUTE format('DROP TABLE %I', week);
	RETURN kept;
END $$;
