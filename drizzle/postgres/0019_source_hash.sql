-- The source that a click's bid was asked for, which prices are learned by, whatever the click's address says.
ALTER TABLE clicks ADD COLUMN source_hash text COLLATE "C";
