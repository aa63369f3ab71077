-- The search indexes anew, with one of beginnings of two letters: a search for those merged the lists of thousands of words.
-- reviewed: an index of rows that stand in their own table; it is built again from them below
DROP TABLE `products_fts`;
--> statement-breakpoint
CREATE VIRTUAL TABLE `products_fts` USING fts5(name, brand, category, description, facets, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2', prefix='2');
--> statement-breakpoint
INSERT INTO products_fts (rowid, name, brand, category, description, facets)
SELECT rowid, name, brand, category, description, 'd' || hex(domain) || '0' FROM products WHERE availability = 'InStock';
--> statement-breakpoint
-- reviewed: an index of rows that stand in their own table; it is built again from them below
DROP TABLE `seller_products_fts`;
--> statement-breakpoint
CREATE VIRTUAL TABLE `seller_products_fts` USING fts5(name, manufacturer, category, description, asin, facets, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2', prefix='2');
--> statement-breakpoint
INSERT INTO seller_products_fts (rowid, name, manufacturer, category, description, asin, facets)
SELECT rowid, name, manufacturer, concat_ws(' ', category, catalog_name), description, asin,
	'd' || hex(domain) || '0 i' || hex(lower(seller_id)) || '0' || iif(seller_name IS NULL, '', ' n' || hex(lower(seller_name)) || '0')
FROM seller_products;
