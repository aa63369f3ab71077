CREATE INDEX daily_network_by_publisher ON daily_network (publisher_id, date);
