ALTER TABLE daily_network ADD pending_gross_micros bigint DEFAULT 0 NOT NULL;
INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason, pending_gross_micros)
SELECT date(v.event_at / 1000, 'unixepoch'), v.campaign_id, v.publisher_id, v.brand_id, v.platform, coalesce(c.country, ''), coalesce(c.kind, ''), '',
	sum(coalesce(v.gross_micros, 0))
FROM conversions v LEFT JOIN clicks c ON c.id = v.click_id
WHERE v.stage = 'settled' AND v.status = 'pending' AND v.test = 0
	AND v.publisher_id IS NOT NULL AND v.campaign_id IS NOT NULL AND v.brand_id IS NOT NULL
GROUP BY 1, 2, 3, 4, 5, 6, 7
ON CONFLICT (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason) DO UPDATE SET
	pending_gross_micros = excluded.pending_gross_micros;
