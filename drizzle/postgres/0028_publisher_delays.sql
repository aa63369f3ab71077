CREATE TABLE learning_publisher_delays (
	platform text COLLATE "C" NOT NULL,
	publisher_id text COLLATE "C" NOT NULL,
	day bigint NOT NULL,
	lag bigint NOT NULL,
	arrivals bigint NOT NULL,
	reversals bigint NOT NULL,
	PRIMARY KEY (platform, publisher_id, day, lag)
);
-- What is settled after this by an earlier version, `learning rebuild` adds.
INSERT INTO learning_publisher_delays (platform, publisher_id, day, lag, arrivals, reversals)
SELECT e.platform, e.publisher_id, e.day, e.lag, sum(e.arrived), sum(e.reversed)
FROM (SELECT l.platform, c.publisher_id, l.day, l.approved_lag AS lag, 1 AS arrived, 0 AS reversed
		FROM learning_conversions l JOIN clicks c ON c.id = l.click_id WHERE l.paid = 1
	UNION ALL SELECT l.platform, c.publisher_id, l.day, l.reversed_lag, 0, 1
		FROM learning_conversions l JOIN clicks c ON c.id = l.click_id WHERE l.paid = 1 AND l.reversed_lag IS NOT NULL) e
GROUP BY e.platform, e.publisher_id, e.day, e.lag;
