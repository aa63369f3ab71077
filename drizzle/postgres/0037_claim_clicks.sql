ALTER TABLE claims ADD COLUMN click_hash text COLLATE "C";
