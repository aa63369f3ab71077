ALTER TABLE book_shards ADD COLUMN written_at bigint DEFAULT 0 NOT NULL;
ALTER TABLE book_state ADD COLUMN published_at bigint DEFAULT 0 NOT NULL;
CREATE INDEX book_garbage_by_age ON book_garbage (replaced_at);
