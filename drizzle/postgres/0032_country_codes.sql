-- What was written for the United Kingdom, UK, becomes its code, GB: a block of the one did not hold for campaigns in the other.
INSERT INTO book_dirty_slots (slot, mark)
SELECT DISTINCT k.slot, 1 FROM book_keys k JOIN brands b ON b.id = k.brand_id
WHERE b.blocked_countries LIKE '%"UK"%' OR b.id IN (SELECT brand_id FROM campaigns WHERE country = 'UK') OR b.domain IN (
	SELECT j.value ->> 'domain' FROM publishers p CROSS JOIN json_each(p.blocked_brands) j WHERE j.value ->> 'country' = 'UK')
ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark;
UPDATE catalogue_state SET version = version + 1, changes_version = changes_version + 1
WHERE EXISTS (SELECT 1 FROM campaigns WHERE country = 'UK') OR EXISTS (SELECT 1 FROM brands WHERE blocked_countries LIKE '%"UK"%')
	OR EXISTS (SELECT 1 FROM publishers WHERE blocked_brands LIKE '%"country":"UK"%');
UPDATE brand_changes SET version = (SELECT changes_version FROM catalogue_state WHERE id = 1), details_version = (SELECT changes_version FROM catalogue_state WHERE id = 1)
WHERE listed = 1 AND brand_id IN (
	SELECT brand_id FROM campaigns WHERE country = 'UK' UNION SELECT id FROM brands WHERE blocked_countries LIKE '%"UK"%');
INSERT INTO block_changes (publisher_id, domain, version)
SELECT DISTINCT p.id, j.value ->> 'domain', (SELECT changes_version FROM catalogue_state WHERE id = 1)
FROM publishers p CROSS JOIN json_each(p.blocked_brands) j WHERE j.value ->> 'country' = 'UK'
ON CONFLICT (publisher_id, domain) DO UPDATE SET version = excluded.version;
UPDATE campaigns SET country = 'GB' WHERE country = 'UK';
UPDATE brands SET blocked_countries = replace(blocked_countries, '"UK"', '"GB"') WHERE blocked_countries LIKE '%"UK"%';
UPDATE publishers SET blocked_brands = replace(blocked_brands, '"country":"UK"', '"country":"GB"') WHERE blocked_brands LIKE '%"country":"UK"%';
INSERT INTO stops (subject, domain, reason, country, since)
SELECT subject, domain, reason, 'GB', since FROM stops WHERE country = 'UK' ON CONFLICT DO NOTHING;
DELETE FROM stops WHERE country = 'UK';
UPDATE book_state SET manifest_dirty = 1 WHERE EXISTS (SELECT 1 FROM book_dirty_slots);
