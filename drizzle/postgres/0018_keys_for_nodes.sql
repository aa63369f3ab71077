-- Keys hold what their tables can be distributed by (scripts/postgres/distribute.sql): Citus, as any database of several nodes, holds a key
-- within a node alone. A click has one hash and one publisher, and an attempt one callback, so they stay as unique as they were.
ALTER TABLE callback_attempts DROP CONSTRAINT callback_attempts_pkey, ADD PRIMARY KEY (id, callback_id);
ALTER TABLE click_history DROP CONSTRAINT click_history_pkey, ADD PRIMARY KEY (until_sequence, click_id, publisher_id);
ALTER TABLE clicks DROP CONSTRAINT clicks_pkey, ADD PRIMARY KEY (id, click_hash);
ALTER TABLE paid_visits DROP CONSTRAINT paid_visits_pkey, ADD PRIMARY KEY (click_id, publisher_id);

-- A billed click is in the unique index of its week already.
DROP INDEX clicks_by_hash;
CREATE INDEX clicks_by_hash ON clicks (click_hash) WHERE reason <> 'voided';
