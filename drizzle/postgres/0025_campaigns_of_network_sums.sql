-- Sums of campaigns are those of the network. Of paid clicks that were removed before there were such, daily_campaigns alone knows: of no platform,
-- country or kind here. What they cost is known no more: at least what they earned their publishers.
INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason, click_count, click_gross_micros, click_revenue_micros)
SELECT k.date, k.campaign_id, k.publisher_id, k.brand_id, '', '', '', '', k.click_count - k.known_count, k.click_revenue_micros - k.known_micros,
	k.click_revenue_micros - k.known_micros
FROM (SELECT d.date, d.campaign_id, d.publisher_id, d.brand_id, d.click_count, d.click_revenue_micros,
		(SELECT coalesce(sum(n.click_count), 0) FROM daily_network n WHERE n.publisher_id = d.publisher_id AND n.date = d.date
			AND n.campaign_id = d.campaign_id AND n.brand_id = d.brand_id AND n.reason = '') AS known_count,
		(SELECT coalesce(sum(n.click_revenue_micros), 0) FROM daily_network n WHERE n.publisher_id = d.publisher_id AND n.date = d.date
			AND n.campaign_id = d.campaign_id AND n.brand_id = d.brand_id AND n.reason = '') AS known_micros
	FROM daily_campaigns d WHERE d.click_count > 0) k
WHERE k.click_count > k.known_count
ON CONFLICT (publisher_id, date, campaign_id, brand_id, platform, country, kind, reason) DO UPDATE SET
	click_count = daily_network.click_count + excluded.click_count,
	click_gross_micros = daily_network.click_gross_micros + excluded.click_gross_micros,
	click_revenue_micros = daily_network.click_revenue_micros + excluded.click_revenue_micros;

-- reviewed: daily_campaigns is not compared any more
DELETE FROM sum_differences WHERE counter = 'daily_campaigns';
