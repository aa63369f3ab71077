-- Whether clicks are added to what prices are learned from. Where there are such rows none are missing: PostgreSQL always had them. Where there
-- are none, the cron begins.
ALTER TABLE click_sequence ADD COLUMN learning_gap bigint;
UPDATE click_sequence SET learning_gap = 0 WHERE EXISTS (SELECT 1 FROM learning_clicks);
