/** `npm run backtest` over a ledger: read from the tables that there are, walked forward, and judged. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSqliteLedger } from "../../../scripts/backtest/read-ledger.ts";
import { describeReport, reportLedger } from "../../../scripts/backtest/report-ledger.ts";
import { type Ledger, walkLedger } from "../../../scripts/backtest/walk-ledger.ts";
import { DAY_MS } from "../../../src/lib/time.ts";

const START = Date.UTC(2026, 5, 1);
const DAYS = 90;
const CLICKS_A_DAY = 40;

/** Campaign 1 earns half of what its operator says, campaign 2 what it says: a conversion of 10 USD every so many clicks, a day later. */
function makeLedger(): Ledger {
	const clicks: Ledger["clicks"][number][] = [];
	const words: Ledger["words"][number][] = [];
	const earnedMicros = new Map<string, number>();
	for (let day = 0; day < DAYS; day++) {
		for (let n = 0; n < CLICKS_A_DAY; n++) {
			for (const [campaign, every] of [
				["1", 40],
				["2", 20],
			] as const) {
				const id = `${campaign}-${day}-${n}`;
				const at = START + day * DAY_MS + n * 60_000;
				clicks.push({ id, at, campaign, publisher: "cents", source: "s", keyword: "", link: "homepage" });
				if (n % every !== 0) continue;
				words.push({ at: at + DAY_MS, platform: "p", txnid: id, click: id, status: "approved", grossMicros: 10_000_000 });
				earnedMicros.set(id, 10_000_000);
			}
		}
	}
	const terms = (id: string) => ({
		id,
		platform: "p",
		epcMicros: 500_000,
		defaultKeywordEpcMicros: null,
		keywordEpcMicros: new Map<string, number>(),
	});
	return {
		publishers: [{ id: "cents", sharePpm: 900_000, paidByClick: true }],
		campaigns: [terms("1"), terms("2")],
		clicks,
		words,
		earnedMicros,
	};
}

describe("walking forward", () => {
	const ledger = makeLedger();
	const judged = walkLedger(ledger, 30);
	const report = reportLedger(judged);

	it("prices each click by what was known before it, and judges none whose conversions are still to come", () => {
		expect(judged).toHaveLength((DAYS - 30) * CLICKS_A_DAY * 2);
		expect(judged[0]?.predictedMicros).toBe(500_000);
		const last = judged.slice(-2);
		expect(last[0]?.predictedMicros).toBeGreaterThan(200_000);
		expect(last[0]?.predictedMicros).toBeLessThan(310_000);
		expect(last[1]?.predictedMicros).toBeGreaterThan(430_000);
	});

	it("tells what the same clicks would have left by either number, and who is overpaid", () => {
		expect(report.all.earnedMicros).toBeLessThan(report.all.predictedMicros * 1.1);
		expect(report.margin.learnedMicros).toBeGreaterThan(report.margin.operatorMicros);
		expect(report.overpaid).toEqual({ campaigns: 2, operator: 1, learned: expect.any(Number) });
		expect(report.deciles.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(judged.length);
		expect(describeReport(report, 30)).toContain("What it cannot know");
	});

	it("says that nothing can be judged where nothing is old enough", () => {
		expect(describeReport(reportLedger(walkLedger(ledger, 400)), 400)).toContain("nothing can be judged");
	});
});

describe("reading a database", () => {
	let folder = "";
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "backtest-"));
	});
	afterAll(() => rmSync(folder, { recursive: true }));

	it("takes paid clicks, what was said of their conversions, and what those are worth", async () => {
		const file = join(folder, "network.sqlite");
		const db = new DatabaseSync(file);
		for (const name of readdirSync("drizzle/network")
			.filter((each) => each.endsWith(".sql"))
			.sort()) {
			db.exec(readFileSync(join("drizzle/network", name), "utf8"));
		}
		const insert = (table: string, row: Record<string, string | number | null>) => {
			const columns = db.prepare(`PRAGMA table_info(${table})`).all() as {
				name: string;
				notnull: number;
				type: string;
				dflt_value: unknown;
			}[];
			const whole = columns.filter(({ name, notnull, dflt_value }) => name in row || (notnull === 1 && dflt_value === null));
			db.prepare(`INSERT INTO ${table} (${whole.map(({ name }) => name).join(", ")}) VALUES (${whole.map(() => "?").join(", ")})`).run(
				...whole.map(({ name, type }) => (name in row ? (row[name] ?? null) : type.toLowerCase() === "integer" ? 0 : "")),
			);
		};
		insert("publishers", { id: "acme", revenue_share_ppm: 800_000, pricing_model: "CPC" });
		insert("campaigns", { campaign_id: 7, platform: "p", epc_micros: 400_000, keyword_epc_micros: '{"red":500000}' });
		for (const [id, reason] of [
			["a", null],
			["b", "bot"],
		] as const)
			insert("clicks", {
				id,
				click_hash: id,
				clicked_at: START,
				campaign_id: 7,
				publisher_id: "acme",
				reason,
				keyword: "red",
				link: "deeplink",
			});
		insert("conversions", { platform: "p", txnid: "t", click_id: "a", stage: "settled", status: "approved", gross_micros: 9_000_000 });
		insert("conversion_events", { id: "1", platform: "p", txnid: "t", seq: 1, at: START + 5, details: '{"set":{"status":"pending"}}' });
		insert("conversion_events", { id: "2", platform: "p", txnid: "t", seq: 2, at: START + 9, details: '{"set":{"status":"approved"}}' });
		db.close();
		expect(await readSqliteLedger(file)).toEqual({
			publishers: [{ id: "acme", sharePpm: 800_000, paidByClick: true }],
			campaigns: [
				{ id: "7", platform: "p", epcMicros: 400_000, defaultKeywordEpcMicros: null, keywordEpcMicros: new Map([["red", 500_000]]) },
			],
			clicks: [{ id: "a", at: START, campaign: "7", publisher: "acme", source: "", keyword: "red", link: "deeplink" }],
			words: [{ at: START + 9, platform: "p", txnid: "t", click: "a", status: "approved", grossMicros: 9_000_000 }],
			earnedMicros: new Map([["a", 9_000_000]]),
		});
	});
});
