-- Visits are removed by their clicks' ids, which sort by time. A plan that goes by time reads the visits of all connections for each.
DROP INDEX paid_visits_by_time;

-- Of thousands, texts that are joined one by one are copied as often.
CREATE FUNCTION join_list(list text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT CASE WHEN cardinality(array_remove(list, NULL)) > 0 THEN array_to_string(list, ',') END $$;
DROP AGGREGATE group_concat(text);
DROP FUNCTION add_to_list(text, text);
CREATE AGGREGATE group_concat(text) (SFUNC = array_append, STYPE = text[], FINALFUNC = join_list);
