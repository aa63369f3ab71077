-- Spreads the network's tables over the nodes of Citus: docs/operations/postgresql.md. Once, after the migrations; no move may be under way.
-- What is in none of these lists stays on the coordinator: it is written by everybody and joined with little (docs/decisions/0034).
BEGIN;

-- What clicks and counters are joined with has a copy on every node. Conversions and callbacks are a hundredth of the clicks.
SELECT create_reference_table('adjustments');
SELECT create_reference_table('brands');
SELECT create_reference_table('callback_health');
SELECT create_reference_table('callbacks');
SELECT create_reference_table('campaigns');
SELECT create_reference_table('conversion_history');
SELECT create_reference_table('conversions');
SELECT create_reference_table('platforms');
SELECT create_reference_table('publishers');

-- By the click hash: one node finds what a postback names, and bills a hash once.
SELECT create_distributed_table('clicks', 'click_hash');

-- By publisher.
SELECT create_distributed_table('daily_publishers', 'publisher_id', colocate_with => 'none');
SELECT create_distributed_table('auction_feedback', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('auction_feedback_days', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('bid_hours', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('click_history', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('conversion_changes', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('daily_campaigns', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('daily_network', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('daily_sources', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('day_digests', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('paid_networks', 'publisher_id', colocate_with => 'daily_publishers');
SELECT create_distributed_table('paid_visits', 'publisher_id', colocate_with => 'daily_publishers');

-- By what they are asked for with.
SELECT create_distributed_table('callback_attempts', 'callback_id', colocate_with => 'none');
SELECT create_distributed_table('conversion_events', 'platform', colocate_with => 'none');
SELECT create_distributed_table('postback_intake', 'id', colocate_with => 'none');

COMMIT;
