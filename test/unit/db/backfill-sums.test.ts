/** The migration that brings what is pending, and sales of paid clicks to the day of their click, does so with what is stored already. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";

const FOLDER = join(import.meta.dirname, "..", "..", "..", "drizzle", "network");
const NAMES = readdirSync(FOLDER)
	.filter((name) => name.endsWith(".sql"))
	.sort();
const AT = NAMES.findIndex((name) => name.endsWith("_reports_still.sql"));

function run(db: DatabaseSync, names: readonly string[]): void {
	for (const name of names) db.exec(readFileSync(join(FOLDER, name), "utf8"));
}

const DAY = (day: number) => Date.parse(`2026-11-${day}T12:00:00Z`);

const CLICK = `INSERT INTO clicks (id, click_hash, kind, reason, clicked_at, publisher_id, brand_id, campaign_id, source_id, bid_micros, revenue_micros,
	pricing_model, written_by) VALUES (?, ?, 'link', ?, ${DAY(10)}, ?, 1, 11, ?, 0, 0, ?, '')`;
const CONVERSION = `INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency, gross_micros,
	sales_usd_micros, revenue_micros, click_id, clicked_at, publisher_id, source_id, brand_id, campaign_id, pricing_model, event_count, first_received_at,
	updated_at)
	SELECT 'p', ?, '', ?, ?, 0, 0, ${DAY(12)}, 0, 'USD', 10, 100, ?, c.id, c.clicked_at, c.publisher_id, c.source_id, 1, 11, c.pricing_model, 1, 0, 0
	FROM clicks c WHERE c.id = ?`;

describe("unit: the migration of sums", () => {
	it("adds what is pending of platforms' money, by the country and kind of the click", () => {
		const db = new DatabaseSync(":memory:");
		const before = NAMES.findIndex((name) => name.endsWith("_pending_gross.sql"));
		run(db, NAMES.slice(0, before));
		db.prepare(CLICK).run("one", "one", null, "pa", "s", "CPA");
		db.exec("UPDATE clicks SET country = 'US'");
		const convert = (txnid: string, status: string, stage = "settled") => db.prepare(CONVERSION).run(txnid, stage, status, 4, "one");
		for (const txnid of ["first", "second"]) convert(txnid, "pending");
		convert("approved", "approved");
		convert("cancelled", "cancelled");
		convert("held", "pending", "quarantined");
		const key = "date, campaign_id, publisher_id, brand_id, platform, country, kind, reason";
		db.exec(`INSERT INTO daily_network (${key}, gross_micros) VALUES ('2026-11-12', 11, 'pa', 1, 'p', 'US', 'link', '', 30)`);
		run(db, NAMES.slice(before));
		expect(
			db
				.prepare(`SELECT ${key}, gross_micros, pending_gross_micros FROM daily_network`)
				.all()
				.map((row) => Object.values(row)),
		).toEqual([["2026-11-12", 11, "pa", 1, "p", "US", "link", "", 30, 20]]);
	});

	it("moves conversions of billed clicks to their day, takes those of unpaid ones out, and adds what is pending", () => {
		const db = new DatabaseSync(":memory:");
		run(db, NAMES.slice(0, AT));
		const click = (id: string, publisher: string, model: string, reason: string | null) =>
			db.prepare(CLICK).run(id, id, reason, publisher, publisher === "pc" ? null : "s", model);
		click("paid", "pc", "CPC", null);
		click("voided", "pc", "CPC", "voided");
		click("unpaid", "pc", "CPC", "bot");
		click("other", "pa", "CPA", "bot");
		const convert = (txnid: string, clickId: string, revenue: number, status = "approved", stage = "settled") =>
			db.prepare(CONVERSION).run(txnid, stage, status, revenue, clickId);
		for (const id of ["paid", "voided", "unpaid"]) convert(id, id, 0);
		convert("cancelled", "paid", 0, "cancelled");
		convert("approved", "other", 4);
		convert("pending", "other", 5, "pending");
		convert("held", "other", 6, "pending", "quarantined");
		const before = "conversion_count, gross_micros, sales_micros, conversion_revenue_micros";
		db.exec(`INSERT INTO daily_publishers (publisher_id, date, ${before}) VALUES ('pc', '2026-11-12', 3, 30, 300, 0), ('pa', '2026-11-12', 2, 20, 200, 9);
			INSERT INTO daily_sources (publisher_id, date, source_id, ${before}) VALUES ('pc', '2026-11-12', '', 3, 30, 300, 0), ('pa', '2026-11-12', 's', 2, 20, 200, 9);
			INSERT INTO daily_campaigns (campaign_id, brand_id, publisher_id, date, ${before}) VALUES (11, 1, 'pc', '2026-11-12', 3, 30, 300, 0), (11, 1, 'pa', '2026-11-12', 2, 20, 200, 9)`);
		run(db, NAMES.slice(AT));
		const read = (table: string) =>
			db
				.prepare(`SELECT publisher_id, date, ${before}, pending_revenue_micros FROM ${table} ORDER BY 1, 2`)
				.all()
				.map((row) => Object.values(row));
		const moved = [
			["pa", "2026-11-12", 2, 20, 200, 9, 5],
			["pc", "2026-11-10", 2, 20, 200, 0, 0],
			["pc", "2026-11-12", 0, 0, 0, 0, 0],
		];
		expect([read("daily_publishers"), read("daily_sources")]).toEqual([moved, moved]);
		expect(read("daily_campaigns")).toEqual([
			["pa", "2026-11-12", 2, 20, 200, 9, 5],
			["pc", "2026-11-12", 3, 30, 300, 0, 0],
		]);
	});
});
