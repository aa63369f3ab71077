/** `npm run backtest` over a ledger: read from the tables that there are, walked forward, and judged. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConversionLog, type Word } from "../../../scripts/backtest/conversion-log.ts";
import { readSqliteLedger } from "../../../scripts/backtest/read-ledger.ts";
import { describeReport, reportLedger } from "../../../scripts/backtest/report-ledger.ts";
import { type Ledger, walkLedger } from "../../../scripts/backtest/walk-ledger.ts";
import { Failure } from "../../../scripts/local/failure.ts";
import { DEFAULT_SETTINGS } from "../../../src/learning/settings.ts";
import { leastIdAt } from "../../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/time.ts";

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
				words.push({
					at: at + DAY_MS,
					platform: "p",
					txnid: id,
					click: id,
					status: "approved",
					grossMicros: 10_000_000,
					isConfirmed: false,
				});
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
		completeFrom: null,
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

	it("a payout far above all others counts once a person has let go of it, and not before", () => {
		const large = (isConfirmed: boolean): Ledger => {
			const [click] = ledger.clicks;
			const word = { at: START + 20 * DAY_MS, platform: "p", txnid: "large", click: click?.id ?? "", status: "approved" } as const;
			const words = [...ledger.words, { ...word, grossMicros: 1_000_000_000, isConfirmed }].toSorted((a, b) => a.at - b.at);
			return { ...ledger, words };
		};
		// Published as they move: a step that is just taken, or just not, is of more than what is asked here.
		const settings = { ...DEFAULT_SETTINGS, publishStep: 0.001 };
		const predicted = (of: Ledger) => reportLedger(walkLedger(of, 30, settings)).all.predictedMicros;
		// It is known that such payouts come: what a conversion weighs is a little more.
		expect(Math.abs(predicted(large(false)) / predicted(ledger) - 1)).toBeLessThan(0.011);
		expect(predicted(large(true))).toBeGreaterThan(predicted(large(false)) * 1.02);
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

	it("that is none says what to name instead", async () => {
		await expect(readSqliteLedger(join(folder, "nowhere.sqlite"))).rejects.toThrow(
			/^.*nowhere\.sqlite is no database of this network \(.*by --database\.$/,
		);
		const text = join(folder, "text.sqlite");
		writeFileSync(text, "no database ".repeat(100));
		await expect(readSqliteLedger(text)).rejects.toThrow(Failure);
		const empty = join(folder, "empty.sqlite");
		new DatabaseSync(empty).close();
		await expect(readSqliteLedger(empty)).rejects.toThrow(Failure);
	});

	it("takes paid clicks, when their conversions came to count and when no more, and what those are worth", async () => {
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
		const conversion = { platform: "p", click_id: "a", stage: "settled", status: "approved" };
		insert("conversions", { ...conversion, txnid: "held", gross_micros: 900_000_000, verdict: "released" });
		insert("conversions", { ...conversion, txnid: "voided", status: "cancelled", gross_micros: 0, verdict: "voided" });
		insert("conversions", { ...conversion, txnid: "moved", gross_micros: 1_000_000 });
		let seq = 0;
		const tell = (txnid: string, at: number, set: Record<string, string>, kind = "changed") => {
			seq++;
			insert("conversion_events", { id: `${seq}`, platform: "p", txnid, seq, at: START + at, kind, details: JSON.stringify({ set }) });
		};
		tell("t", 5, { stage: "settled", status: "pending" }, "received");
		tell("t", 9, { status: "approved" });
		tell("held", 4, { stage: "quarantined", status: "approved" }, "quarantined");
		tell("held", 12, { stage: "settled", verdict: "released" }, "judged");
		tell("voided", 3, { stage: "settled", status: "approved" }, "received");
		tell("voided", 14, { status: "cancelled", verdict: "voided" }, "judged");
		tell("moved", 6, { stage: "settled", status: "approved" }, "received");
		tell("moved", 7, { stage: "unmatched" }, "detached");
		tell("moved", 8, { stage: "settled" }, "attached");
		// Of before the first click some have been removed; those of an hour may stand under ids of the next.
		insert("retention", { name: "clicks", cursor: leastIdAt(START - HOUR_MS) });
		insert("clicks", { id: "old", click_hash: "old", clicked_at: START - 1, campaign_id: 7, publisher_id: "acme", reason: null });
		db.close();
		const word = (txnid: string, at: number, said: Partial<Ledger["words"][number]>) => {
			return { at: START + at, platform: "p", txnid, click: "a", status: "approved", isConfirmed: false, ...said };
		};
		expect(await readSqliteLedger(file)).toEqual({
			publishers: [{ id: "acme", sharePpm: 800_000, paidByClick: true }],
			campaigns: [
				{ id: "7", platform: "p", epcMicros: 400_000, defaultKeywordEpcMicros: null, keywordEpcMicros: new Map([["red", 500_000]]) },
			],
			clicks: [{ id: "a", at: START, campaign: "7", publisher: "acme", source: "", keyword: "red", link: "deeplink" }],
			completeFrom: START,
			words: [
				word("voided", 3, { grossMicros: 0 }),
				word("moved", 8, { grossMicros: 1_000_000 }),
				word("t", 9, { grossMicros: 9_000_000 }),
				word("held", 12, { grossMicros: 900_000_000, isConfirmed: true }),
				word("voided", 14, { grossMicros: 0, status: "voided" }),
			],
			earnedMicros: new Map([["a", 910_000_000]]),
		});
	});

	it("a voided conversion never was, while it is voided", () => {
		const approved = { at: START + 1, status: "approved", payoutMicros: 5 } as const;
		const voided = { at: START + 5, status: "voided", payoutMicros: 5 } as const;
		const facts = { clickedAt: START, approvedAt: START + 1, reversedAt: null, netMicros: 5, isConfirmed: false };
		const readFacts = (words: readonly Word[], clickedAt: number) => {
			const log = new ConversionLog();
			for (const word of words) log.add(word);
			return log.read(clickedAt);
		};
		expect(readFacts([approved, voided], START)).toBeNull();
		expect(readFacts([voided, approved], START)).toBeNull();
		expect(readFacts([approved, voided, { ...approved, at: START + 9 }], START)).toEqual(facts);
		expect(readFacts([approved, voided, { ...voided, at: START + 9, status: "cancelled" }], START)).toEqual({
			...facts,
			reversedAt: START + 5,
		});
	});
});
