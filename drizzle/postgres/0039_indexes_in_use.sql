DROP INDEX conversions_counted_by_event;
DROP INDEX conversions_cancelled_by_event;
DROP INDEX conversions_counted_by_click;
CREATE INDEX conversions_counted_by_platform ON conversions (platform, event_at, txnid) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0;
DROP INDEX campaign_clocks_by_time;
CREATE INDEX campaigns_with_total_budget ON campaigns (campaign_id) WHERE total_budget_micros IS NOT NULL;
