ALTER TABLE conversion_changes ADD old_gross_micros bigint, ADD gross_micros bigint;
