CREATE INDEX conversions_other_by_publisher ON conversions (publisher_id,event_at,platform,txnid) WHERE publisher_id IS NOT NULL AND (stage <> 'settled' OR status = 'cancelled' OR test = 1 OR pricing_model IS NULL OR pricing_model <> 'CPA');
CREATE INDEX conversions_with_click_by_publisher ON conversions (publisher_id,clicked_at) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0 AND pricing_model = 'CPC';
CREATE INDEX daily_campaigns_by_publisher ON daily_campaigns (publisher_id,date);
