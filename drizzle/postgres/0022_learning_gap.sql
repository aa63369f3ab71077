-- Whether clicks are added to what prices are learned from. Where anyone learns already, no rows are missing.
ALTER TABLE click_sequence ADD COLUMN learning_gap bigint;
UPDATE click_sequence SET learning_gap = 0 WHERE EXISTS (SELECT 1 FROM network_settings WHERE epc_learning ->> 'mode' IN ('advise', 'automatic'))
	OR EXISTS (SELECT 1 FROM campaigns WHERE epc_learning IS NOT NULL AND epc_learning ->> 'mode' IN ('advise', 'automatic'));
