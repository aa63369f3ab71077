-- A row that counts is changed soon after it is made: on a page that has room for it, without an entry in any index.
ALTER TABLE daily_network SET (fillfactor = 85);
ALTER TABLE campaign_days SET (fillfactor = 85);
ALTER TABLE learning_clicks SET (fillfactor = 85);
