-- Before a week is attached, PostgreSQL reads all of clicks_rest for rows of it, and nobody else reads or writes there meanwhile. A constraint that
-- says that there are none spares that. It is added (1), validated beside traffic (2) and dropped by make_click_weeks (3), in a transaction each.

-- 1: of weeks that begin in two weeks or later. What breaks off here stays until the next run, and would refuse clicks of these weeks.
CREATE FUNCTION expect_click_weeks(at_ms bigint, weeks bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	week_ms CONSTANT bigint := 7 * 86400000;
	-- 1970-01-05 was a Monday.
	monday_ms CONSTANT bigint := 4 * 86400000;
	start_ms bigint := at_ms - mod(at_ms - monday_ms, week_ms);
	first_ms bigint;
	end_ms bigint;
BEGIN
	FOR number IN 1..weeks LOOP
		IF start_ms >= at_ms + 2 * week_ms AND to_regclass('clicks_' || to_char(to_timestamp(start_ms / 1000) AT TIME ZONE 'UTC', 'YYYY_MM_DD')) IS NULL THEN
			first_ms := coalesce(first_ms, start_ms);
			end_ms := start_ms + week_ms;
		END IF;
		start_ms := start_ms + week_ms;
	END LOOP;
	IF first_ms IS NULL
		OR EXISTS (SELECT 1 FROM clicks_rest WHERE id >= least_id_at(first_ms) AND id < least_id_at(end_ms))
		OR EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass('clicks_rest') AND conname = 'clicks_rest_has_none_to_come') THEN
		RETURN 0;
	END IF;
	EXECUTE format('ALTER TABLE clicks_rest ADD CONSTRAINT clicks_rest_has_none_to_come CHECK (id < %L OR id >= %L) NOT VALID',
		least_id_at(first_ms), least_id_at(end_ms));
	RETURN 1;
END $$;

-- 2: where one came meanwhile, there is no constraint, and (3) moves it.
CREATE FUNCTION validate_click_weeks() RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
	ALTER TABLE clicks_rest VALIDATE CONSTRAINT clicks_rest_has_none_to_come;
	RETURN 1;
EXCEPTION WHEN check_violation THEN
	ALTER TABLE clicks_rest DROP CONSTRAINT clicks_rest_has_none_to_come;
	RETURN 0;
END $$;

-- 3: as in 0024.
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
	IF EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass('clicks_rest') AND conname = 'clicks_rest_has_none_to_come') THEN
		ALTER TABLE clicks_rest DROP CONSTRAINT clicks_rest_has_none_to_come;
	END IF;
	RETURN made;
END $$;
