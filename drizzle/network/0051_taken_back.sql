-- Of each cell and day, how many conversions were taken back: those from before this version, as size class -1 and below zero. The night folds their weeks.
INSERT INTO learning_earnings (campaign_id, publisher_id, source, keyword, link, day, size_class, conversions, net_micros)
SELECT c.campaign_id, c.publisher_id, CASE WHEN s.from_day <= l.day THEN s.source ELSE '*other' END, coalesce(c.keyword_class, ''), c.link,
	l.day, -1, -count(*), 0
FROM learning_conversions l CROSS JOIN clicks c
LEFT JOIN learning_sources s ON s.publisher_id = c.publisher_id AND s.source = coalesce(c.source_hash, c.source_id, '')
WHERE c.id = l.click_id AND l.paid = 1 AND l.reversed_lag IS NOT NULL
GROUP BY c.campaign_id, c.publisher_id, CASE WHEN s.from_day <= l.day THEN s.source ELSE '*other' END, coalesce(c.keyword_class, ''), c.link, l.day
ON CONFLICT (campaign_id, publisher_id, source, keyword, link, day, size_class) DO UPDATE SET
	conversions = learning_earnings.conversions + excluded.conversions;
