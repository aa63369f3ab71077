-- What the statements of src use and SQLite has by itself.

-- The elements of a JSON array or object, in order. `atom` is an element that is no array or object, as text.
-- Not STRICT: such a function is never made part of the statement that calls it, which costs a run of its own each time.
CREATE FUNCTION json_each(list text) RETURNS TABLE (key bigint, value jsonb, atom text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 100 AS $$
	SELECT place - 1, element, CASE WHEN jsonb_typeof(element) IN ('array', 'object') THEN NULL ELSE element #>> '{}' END
	FROM jsonb_array_elements(list::jsonb) WITH ORDINALITY AS of_list (element, place)
$$;

-- date(seconds, 'unixepoch'): the UTC day.
CREATE FUNCTION date(seconds bigint, modifier text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
	SELECT to_char(to_timestamp(seconds) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
$$;

-- Of two values the larger; NULL where one is NULL.
CREATE FUNCTION max(one bigint, other bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT greatest(one, other) $$;

CREATE FUNCTION add_to_list(list text, element text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT CASE WHEN element IS NULL THEN list WHEN list IS NULL THEN element ELSE list || ',' || element END $$;
CREATE AGGREGATE group_concat(text) (SFUNC = add_to_list, STYPE = text);

-- Members of JSON that is kept as text. The text between them stays as it was written.
CREATE FUNCTION json_member(object text, member text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT object::json ->> member $$;
CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_member);
CREATE FUNCTION json_part(object text, member text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT (object::json -> member)::text $$;
CREATE OPERATOR -> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_part);

-- Locked by each transaction that writes: one at a time.
CREATE TABLE writer_turn ();
