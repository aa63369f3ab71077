-- Clicks are stored by the week of their redirect, which their id begins with. What fits no week, and what is kept for good of a week that is
-- dropped, is in clicks_rest.

CREATE TABLE clicks_rest PARTITION OF clicks DEFAULT;
CREATE UNIQUE INDEX clicks_rest_billed_by_hash ON clicks_rest (click_hash) WHERE reason IS NULL OR reason = 'voided';

-- What every time-ordered id of this moment or later is greater than: as leastIdAt of src/lib/ids.ts.
CREATE FUNCTION least_id_at(at_ms bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
	SELECT substr(digits, 1, 8) || '-' || substr(digits, 9) FROM (SELECT lpad(to_hex(at_ms), 12, '0') AS digits) AS time
$$;

-- Makes the weeks (Monday to Monday, UTC) from that of `at_ms` on that are missing. A click of such a week that came before it is moved there.
-- One hash is billed once a week by an index, and once at all by the turns that writers of clicks take (click_sequence).
CREATE FUNCTION make_click_weeks(at_ms bigint, weeks bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	week_ms CONSTANT bigint := 7 * 86400000;
	-- 1970-01-05 was a Monday.
	monday_ms CONSTANT bigint := 4 * 86400000;
	start_ms bigint := at_ms - mod(at_ms - monday_ms, week_ms);
	made bigint := 0;
	week text;
BEGIN
	FOR number IN 1..weeks LOOP
		week := 'clicks_' || to_char(to_timestamp(start_ms / 1000) AT TIME ZONE 'UTC', 'YYYY_MM_DD');
		IF to_regclass(week) IS NULL THEN
			EXECUTE format('CREATE TABLE %I (LIKE clicks INCLUDING DEFAULTS)', week);
			EXECUTE format('WITH early AS (DELETE FROM clicks_rest WHERE id >= %L AND id < %L RETURNING *) INSERT INTO %I SELECT * FROM early',
				least_id_at(start_ms), least_id_at(start_ms + week_ms), week);
			EXECUTE format('CREATE UNIQUE INDEX %I ON %I (click_hash) WHERE reason IS NULL OR reason = %L', week || '_billed_by_hash', week, 'voided');
			EXECUTE format('ALTER TABLE clicks ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
				week, least_id_at(start_ms), least_id_at(start_ms + week_ms));
			made := made + 1;
		END IF;
		start_ms := start_ms + week_ms;
	END LOOP;
	RETURN made;
END $$;

-- The weeks that ended by then: names of their partitions, and when each ended, Unix milliseconds.
CREATE FUNCTION click_weeks_before(at_ms bigint) RETURNS TABLE (name text, end_ms bigint)
LANGUAGE sql STABLE STRICT AS $$
	SELECT name, end_ms FROM (
		SELECT c.relname::text AS name,
			CAST(extract(epoch FROM to_date(substr(c.relname, 8), 'YYYY_MM_DD')::timestamp + interval '7 days') * 1000 AS bigint) AS end_ms
		FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'clicks'::regclass AND c.relname ~ '^clicks_\d{4}_\d{2}_\d{2}$') AS weeks
	WHERE end_ms <= at_ms ORDER BY end_ms
$$;

-- Drops a week of clicks, but for those that a conversion came of: they are kept for good. Returns how many those are.
CREATE FUNCTION drop_click_week(week text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	kept bigint;
BEGIN
	IF week !~ '^clicks_\d{4}_\d{2}_\d{2}$' THEN RAISE EXCEPTION 'no week of clicks'; END IF;
	EXECUTE format('ALTER TABLE clicks DETACH PARTITION %I', week);
	EXECUTE format('INSERT INTO clicks_rest SELECT c.* FROM %I c WHERE EXISTS (SELECT 1 FROM conversions v WHERE v.click_id = c.id)', week);
	GET DIAGNOSTICS kept = ROW_COUNT;
	EXECUTE format('DROP TABLE %I', week);
	RETURN kept;
END $$;

SELECT make_click_weeks(CAST(extract(epoch FROM now()) * 1000 AS bigint), 5);
