/** What had stopped before there was a record of it counts as stopped since the migration. */
import { expect, test } from "vitest";
import { insertRow, openBefore } from "../../support/node/before-migration.ts";

test("unit: the migration of stops keeps what has stopped, from then on", () => {
	const { db, migrate } = openBefore("stops");
	insertRow(db, "publishers", {
		id: "acme",
		status: "active",
		blocked_brands: '[{"domain":"a.example"},{"domain":"b.example","country":"US"}]',
	});
	insertRow(db, "publishers", { id: "gone", status: "suspended", blocked_brands: "[]" });
	insertRow(db, "brands", { domain: "a.example", id: 1, active: 1, blocked_countries: '["US","DE"]' });
	insertRow(db, "brands", { domain: "b.example", id: 2, active: 0, blocked_countries: "[]" });
	insertRow(db, "campaigns", { campaign_id: 1, active: 1 });
	insertRow(db, "campaigns", { campaign_id: 2, active: 0 });
	const before = Date.now();
	migrate();
	const rows = db.prepare("SELECT subject, domain, reason, country, since FROM stops ORDER BY subject, domain, country").all();
	expect(rows.map(({ subject, domain, reason, country }) => [subject, domain, reason, country])).toEqual([
		["brand a.example", "", "blocked", "DE"],
		["brand a.example", "", "blocked", "US"],
		["brand b.example", "", "brand_stopped", ""],
		["campaign 2", "", "campaign_stopped", ""],
		["publisher acme", "a.example", "blocked", ""],
		["publisher acme", "b.example", "blocked", "US"],
		["publisher gone", "", "publisher_suspended", ""],
	]);
	for (const { since } of rows) expect(Math.abs(Number(since) - before)).toBeLessThan(60_000);
	db.close();
});
