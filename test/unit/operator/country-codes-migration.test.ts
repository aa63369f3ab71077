/** What was written for the United Kingdom as UK is GB from the migration on, wherever countries are compared. */
import { expect, test } from "vitest";
import { insertRow, openBefore } from "../../support/node/before-migration.ts";

test("unit: the migration of country codes makes GB of UK, and publishes and lists anew what changes by it", () => {
	const { db, migrate } = openBefore("country_codes");
	const blocks = '[{"domain":"uk.example"},{"domain":"c.example","country":"UK"},{"domain":"UK","country":"US"}]';
	insertRow(db, "publishers", { id: "acme", blocked_brands: blocks });
	const brands = { "a.example": [], "b.example": ["UK", "US"], "c.example": [], "d.example": ["US"] };
	for (const [at, [domain, blocked]] of Object.entries(brands).entries()) {
		insertRow(db, "brands", { domain, id: at, active: 1, blocked_countries: JSON.stringify(blocked) });
		insertRow(db, "campaigns", { campaign_id: at, brand_id: at, country: at === 0 ? "UK" : "US" });
		insertRow(db, "book_keys", { slot: at, key: domain, brand_id: at });
		insertRow(db, "brand_changes", { brand_id: at, version: 0, listed: 1, details_version: 0 });
	}
	insertRow(db, "stops", { subject: "brand b.example", domain: "", reason: "blocked", country: "UK", since: 5 });
	db.exec(
		"UPDATE catalogue_state SET version = 7, changes_version = 7; UPDATE book_state SET manifest_dirty = 0; DELETE FROM book_dirty_slots",
	);
	migrate();
	const all = (statement: string) =>
		db
			.prepare(statement)
			.all()
			.map((row) => Object.values(row).join(" "));
	expect(all("SELECT country FROM campaigns ORDER BY campaign_id")).toEqual(["GB", "US", "US", "US"]);
	expect(all("SELECT blocked_countries FROM brands ORDER BY id")).toEqual(["[]", '["GB","US"]', "[]", '["US"]']);
	expect(all("SELECT blocked_brands FROM publishers")).toEqual([blocks.replace('"country":"UK"', '"country":"GB"')]);
	expect(all("SELECT country, since FROM stops")).toEqual(["GB 5"]);
	expect(all("SELECT slot FROM book_dirty_slots ORDER BY slot")).toEqual(["0", "1", "2"]);
	expect(all("SELECT manifest_dirty FROM book_state")).toEqual(["1"]);
	expect(all("SELECT version, changes_version FROM catalogue_state")).toEqual(["8 8"]);
	expect(all("SELECT brand_id FROM brand_changes WHERE version = 8 AND details_version = 8 ORDER BY 1")).toEqual(["0", "1"]);
	expect(all("SELECT publisher_id, domain, version FROM block_changes")).toEqual(["acme c.example 8"]);
	db.close();
});
