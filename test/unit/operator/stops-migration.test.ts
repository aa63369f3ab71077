/** What had stopped before there was a record of it counts as stopped since the migration. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";

const FOLDER = "drizzle/network";
const MIGRATION = readdirSync(FOLDER).find((file) => file.endsWith("_stops.sql")) ?? "";

function openBefore(): DatabaseSync {
	const db = new DatabaseSync(":memory:");
	for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".sql") && name < MIGRATION)) {
		db.exec(readFileSync(join(FOLDER, file), "utf8"));
	}
	return db;
}

/** A row with these values, and something in every other column that must not be empty. */
function insert(db: DatabaseSync, table: string, values: Record<string, string | number>): void {
	const required = db.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE "notnull" = 1 AND dflt_value IS NULL`).all();
	const row: Record<string, string | number> = {
		...Object.fromEntries(required.map(({ name }) => [name, `${Object.values(values)[0]}`])),
		...values,
	};
	const names = Object.keys(row);
	db.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => "?")})`).run(...Object.values(row));
}

test("unit: the migration of stops keeps what has stopped, from then on", () => {
	const db = openBefore();
	insert(db, "publishers", {
		id: "acme",
		status: "active",
		blocked_brands: '[{"domain":"a.example"},{"domain":"b.example","country":"US"}]',
	});
	insert(db, "publishers", { id: "gone", status: "suspended", blocked_brands: "[]" });
	insert(db, "brands", { domain: "a.example", id: 1, active: 1, blocked_countries: '["US","DE"]' });
	insert(db, "brands", { domain: "b.example", id: 2, active: 0, blocked_countries: "[]" });
	insert(db, "campaigns", { campaign_id: 1, active: 1 });
	insert(db, "campaigns", { campaign_id: 2, active: 0 });
	const before = Date.now();
	db.exec(readFileSync(join(FOLDER, MIGRATION), "utf8"));
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
