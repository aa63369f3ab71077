ALTER TABLE conversions ADD COLUMN click_unseen bigint NOT NULL DEFAULT 0;
