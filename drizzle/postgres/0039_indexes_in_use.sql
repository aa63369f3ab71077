-- Dropping an index keeps everyone from its table until the end: that comes last.
CREATE INDEX conversions_counted_by_platform ON conversions (platform, event_at, txnid) WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0;
CREATE INDEX campaigns_with_total_budget ON campaigns (campaign_id) WHERE total_budget_micros IS NOT NULL;
DROP INDEX conversions_counted_by_event;
DROP INDEX conversions_cancelled_by_event;
DROP INDEX conversions_counted_by_click;
DROP INDEX campaign_clocks_by_time;
