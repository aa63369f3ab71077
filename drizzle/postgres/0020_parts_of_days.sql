ALTER TABLE reconciliation_days ADD COLUMN part text COLLATE "C";
