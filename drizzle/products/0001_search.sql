ALTER TABLE `products` ADD `feed_id` text;--> statement-breakpoint
ALTER TABLE `seller_products` ADD `feed_id` text;
--> statement-breakpoint
UPDATE `products` SET `availability` = 'InStock' WHERE `availability` <> 'InStock' AND lower(replace(replace(replace(`availability`, ' ', ''), '_', ''), '-', '')) IN ('instock', 'https://schema.org/instock', 'http://schema.org/instock', 'available', 'yes', 'true', '1');
--> statement-breakpoint
CREATE VIRTUAL TABLE `products_fts` USING fts5(name, brand, category, description, facets, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
--> statement-breakpoint
CREATE TRIGGER `products_fts_insert` AFTER INSERT ON `products` WHEN new.availability = 'InStock' BEGIN
	INSERT INTO products_fts (rowid, name, brand, category, description, facets)
	VALUES (new.rowid, new.name, new.brand, new.category, new.description, 'd' || hex(new.domain) || '0');
END;
--> statement-breakpoint
CREATE TRIGGER `products_fts_delete` AFTER DELETE ON `products` WHEN old.availability = 'InStock' BEGIN
	DELETE FROM products_fts WHERE rowid = old.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `products_fts_update` AFTER UPDATE ON `products` WHEN (old.availability = 'InStock' OR new.availability = 'InStock')
	AND (old.availability = 'InStock', old.domain, old.name, old.brand, old.category, old.description)
	IS NOT (new.availability = 'InStock', new.domain, new.name, new.brand, new.category, new.description) BEGIN
	DELETE FROM products_fts WHERE rowid = old.rowid;
	INSERT INTO products_fts (rowid, name, brand, category, description, facets)
	SELECT new.rowid, new.name, new.brand, new.category, new.description, 'd' || hex(new.domain) || '0' WHERE new.availability = 'InStock';
END;
--> statement-breakpoint
INSERT INTO products_fts (rowid, name, brand, category, description, facets)
SELECT rowid, name, brand, category, description, 'd' || hex(domain) || '0' FROM products WHERE availability = 'InStock';
--> statement-breakpoint
CREATE VIRTUAL TABLE `seller_products_fts` USING fts5(name, manufacturer, category, description, asin, facets, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
--> statement-breakpoint
CREATE TRIGGER `seller_products_fts_insert` AFTER INSERT ON `seller_products` BEGIN
	INSERT INTO seller_products_fts (rowid, name, manufacturer, category, description, asin, facets)
	VALUES (new.rowid, new.name, new.manufacturer, concat_ws(' ', new.category, new.catalog_name), new.description, new.asin,
		'd' || hex(new.domain) || '0 i' || hex(lower(new.seller_id)) || '0' || iif(new.seller_name IS NULL, '', ' n' || hex(lower(new.seller_name)) || '0'));
END;
--> statement-breakpoint
CREATE TRIGGER `seller_products_fts_delete` AFTER DELETE ON `seller_products` BEGIN
	DELETE FROM seller_products_fts WHERE rowid = old.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `seller_products_fts_update` AFTER UPDATE ON `seller_products`
	WHEN (old.domain, old.seller_id, old.seller_name, old.asin, old.name, old.manufacturer, old.category, old.catalog_name, old.description)
	IS NOT (new.domain, new.seller_id, new.seller_name, new.asin, new.name, new.manufacturer, new.category, new.catalog_name, new.description) BEGIN
	DELETE FROM seller_products_fts WHERE rowid = old.rowid;
	INSERT INTO seller_products_fts (rowid, name, manufacturer, category, description, asin, facets)
	VALUES (new.rowid, new.name, new.manufacturer, concat_ws(' ', new.category, new.catalog_name), new.description, new.asin,
		'd' || hex(new.domain) || '0 i' || hex(lower(new.seller_id)) || '0' || iif(new.seller_name IS NULL, '', ' n' || hex(lower(new.seller_name)) || '0'));
END;
--> statement-breakpoint
INSERT INTO seller_products_fts (rowid, name, manufacturer, category, description, asin, facets)
SELECT rowid, name, manufacturer, concat_ws(' ', category, catalog_name), description, asin,
	'd' || hex(domain) || '0 i' || hex(lower(seller_id)) || '0' || iif(seller_name IS NULL, '', ' n' || hex(lower(seller_name)) || '0')
FROM seller_products;
