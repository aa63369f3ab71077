-- Keys by which a batch of clicks writes fewer pages: what it adds to the pace of campaigns is side by side, and the network's sums need no
-- second index for a publisher's.
ALTER TABLE campaign_rates DROP CONSTRAINT campaign_rates_pkey, ADD PRIMARY KEY (slot, campaign_id);
DROP INDEX campaign_rates_by_slot;
ALTER TABLE daily_network DROP CONSTRAINT daily_network_pkey,
	ADD PRIMARY KEY (publisher_id, date, campaign_id, brand_id, platform, country, kind, reason);
DROP INDEX daily_network_by_publisher;

-- Totals are kept where a total budget is held against them. An import that brings one makes them of the days.
DELETE FROM campaign_totals WHERE campaign_id NOT IN (SELECT campaign_id FROM campaigns WHERE total_budget_micros IS NOT NULL);
