/** A night over tables: it learns what the pure one does, wherever it is cut off, and one that breaks leaves what was learned before. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { type DelayRow, dayOf, type EarningRow, OTHER_PUBLISHERS } from "../../src/learning/cohorts.ts";
import { learnNight } from "../../src/learning/night.ts";
import { learnCurves } from "../../src/learning/platform-delays.ts";
import { campaignPolicy, networkSettings } from "../../src/learning/policy.ts";
import { HISTORY_DAYS } from "../../src/learning/settings.ts";
import { sizeClassOf, TAKEN_BACK_CLASS } from "../../src/learning/size-class.ts";
import type { StoredLearning } from "../../src/learning/stored.ts";
import { pairKey, type SourceEvidence } from "../../src/learning/traffic.ts";
import { underLease } from "../../src/learning-night/lease.ts";
import { readCurves } from "../../src/learning-night/read-curves.ts";
import { readHistories } from "../../src/learning-night/read-histories.ts";
import { runNight } from "../../src/learning-night/run-night.ts";
import { sweepLearning } from "../../src/learning-night/sweep-learning.ts";
import type { LinkType } from "../../src/lib/enums.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/lib/time.ts";
import { rowsOf } from "../support/click-messages.ts";
import { ON_BOTH, ON_D1 } from "../support/engine.ts";
import { brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { clickRow, conversionRow, store as storeRows } from "../support/report-rows.ts";

const db = openDatabase(env.DB);
const NOW = Date.parse("2026-11-18T00:10:00Z");
const TODAY = dayOf(NOW);
const NETWORK = { mode: "automatic" } as const;
const CAMPAIGNS = [6001, 6002, 6003];
const KEYWORDS = new Map([["boots", 600_000]]);

type Row = {
	campaign: number;
	publisher: string;
	source: string;
	keyword: string;
	link: LinkType;
	age: number;
	clicks: number;
	conversions: number;
	takenBack: number;
	payout: number;
};

const rowArbitrary: fc.Arbitrary<Row> = fc.record({
	campaign: fc.constantFrom(...CAMPAIGNS),
	publisher: fc.constantFrom("p1", "p2"),
	source: fc.constantFrom("s1", "s2", "*other"),
	keyword: fc.constantFrom("", "*", "boots"),
	link: fc.constantFrom<LinkType>("homepage", "deeplink"),
	age: fc.integer({ min: 0, max: 60 }),
	clicks: fc.integer({ min: 1, max: 400 }),
	conversions: fc.integer({ min: 0, max: 30 }),
	takenBack: fc.integer({ min: 0, max: 20 }),
	payout: fc.integer({ min: 100_000, max: 90_000_000 }),
});

/** What most rows here have in common. */
const CELL = { publisher: "p1", source: "s1", keyword: "", link: "homepage", takenBack: 0 } as const;

const cellOf = ({ campaign, publisher, source, keyword, link, age }: Row) =>
	[campaign, publisher, source, keyword, link, TODAY - 1 - age] as const;

async function clear(): Promise<void> {
	const tables = ["clicks", "earnings", "publisher_delays", "campaigns", "traffic", "factors", "changes", "nights", "work"];
	await env.DB.batch(tables.map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)));
}

/** 0: the rows that are stored here are all there is to learn from. */
function setGap(week: number | null): Promise<unknown> {
	return env.DB.prepare("UPDATE click_sequence SET learning_gap = ?").bind(week).run();
}

async function store(rows: readonly Row[]): Promise<void> {
	await env.DB.batch(
		rows.flatMap((row) => [
			env.DB.prepare("INSERT INTO learning_clicks VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)").bind(
				...cellOf(row),
				row.clicks,
				row.clicks * 90_000,
			),
			env.DB.prepare("INSERT INTO learning_earnings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)").bind(
				...cellOf(row),
				sizeClassOf(row.payout),
				row.conversions,
				row.conversions * row.payout,
			),
			env.DB.prepare("INSERT INTO learning_earnings VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)").bind(
				...cellOf(row),
				TAKEN_BACK_CLASS,
				-row.takenBack,
			),
			env.DB.prepare(
				`INSERT INTO learning_publisher_delays VALUES ('northwind', ?, ?, 0, ?, ?)
					ON CONFLICT (platform, publisher_id, day, lag) DO UPDATE SET arrivals = learning_publisher_delays.arrivals + excluded.arrivals,
						reversals = learning_publisher_delays.reversals + excluded.reversals`,
			).bind(row.publisher, TODAY - 1 - row.age, row.conversions + row.takenBack, row.takenBack),
		]),
	);
}

/** What the pure night learns of the same rows. */
async function learnAlike(rows: readonly Row[]) {
	const delays = await rowsOf<DelayRow>("SELECT publisher_id AS publisher, day, lag, arrivals, reversals FROM learning_publisher_delays");
	const { settings } = campaignPolicy(NETWORK, null);
	const clicked = CAMPAIGNS.filter((id) => rows.some(({ campaign }) => campaign === id));
	return learnNight({
		today: TODAY,
		settings: networkSettings(NETWORK),
		curves: new Map([["northwind", learnCurves(delays, TODAY)]]),
		campaigns: clicked.map((id) => ({
			terms: { id: String(id), platform: "northwind", epcMicros: 400_000, defaultKeywordEpcMicros: null, keywordEpcMicros: KEYWORDS },
			settings,
			lastBreak: null,
			cells: rows
				.filter(({ campaign }) => campaign === id)
				.map((row) => ({
					cell: { campaign: String(id), publisher: row.publisher, source: row.source, keyword: row.keyword, link: row.link },
					clicks: [{ day: TODAY - 1 - row.age, clicks: row.clicks, paidMicros: row.clicks * 90_000 }],
					earnings: [earningOf(row)],
					takenBack: [{ day: TODAY - 1 - row.age, conversions: row.takenBack }],
				})),
		})),
	});
}

function earningOf({ age, conversions, payout }: Row): EarningRow {
	return { day: TODAY - 1 - age, sizeClass: sizeClassOf(payout), conversions, netMicros: conversions * payout };
}

beforeAll(async () => {
	const brands = CAMPAIGNS.map((id) => brandEntry(`brand-${id}.example`, id, {}, { keyword_epc: { boots: "0.6000" } }));
	await importFile({ epc_learning: NETWORK, platforms: [NORTHWIND], brands });
	await setGap(0);
});
beforeEach(clear);

describe("worker: a night", () => {
	it("learns what the pure one does of the same rows, wherever it is cut off, and however few are read at a time", async () => {
		const cells = fc.uniqueArray(rowArbitrary, { minLength: 4, maxLength: 40, selector: (row) => JSON.stringify(cellOf(row)) });
		await fc.assert(
			fc.asyncProperty(cells, fc.boolean(), fc.boolean(), async (rows, isCut, isPaged) => {
				await clear();
				await store(rows);
				let runs = 1;
				// As many as the largest campaign has: the others' pages end in the midst of one.
				const campaignRows = Math.max(...CAMPAIGNS.map((id) => rows.filter(({ campaign }) => campaign === id).length));
				const limits = { rows: isCut ? 1 : 1_000_000, mayGoOn: () => true, ...(isPaged && { campaignRows }) };
				while (!(await runNight({ db, now: () => NOW }, NETWORK, TODAY, limits))) runs++;
				expect(runs > 1).toBe(isCut);
				const pure = await learnAlike(rows);
				const stored = await rowsOf<{ id: number; learned: string; lastBreak: string | null }>(
					`SELECT campaign_id AS id, learned, last_break AS "lastBreak" FROM learning_campaigns`,
				);
				expect(stored.map(({ id }) => String(id)).toSorted()).toEqual([...pure.campaigns.keys()].toSorted());
				for (const { id, learned, lastBreak } of stored) {
					const known = pure.campaigns.get(String(id));
					const { campaign, keywords, publishers, balance, loading } = JSON.parse(learned) as StoredLearning;
					expect(campaign.factor).toBeCloseTo(known?.factors.campaign.factor ?? 0, 9);
					expect(loading).toBeCloseTo(pure.loading, 9);
					expect(balance.paidMicros).toBe(known?.balance.paidMicros);
					expect(balance.projectedMicros / 1e6).toBeCloseTo((known?.balance.projectedMicros ?? 0) / 1e6, 6);
					for (const [keyword, { factor }] of Object.entries(keywords))
						expect(factor).toBeCloseTo(known?.factors.keywords.get(keyword)?.factor ?? 0, 9);
					for (const [publisher, { factor }] of Object.entries(publishers)) {
						expect(factor).toBeCloseTo(known?.factors.publishers.get(publisher)?.factor ?? 0, 9);
					}
					expect(lastBreak === null).toBe(known?.lastBreak === null);
				}
				const traffic = await rowsOf<{ level: string; publisher: string; name: string; evidence: string }>(
					"SELECT level, publisher_id AS publisher, name, evidence FROM learning_traffic WHERE level IN ('link', 'source')",
				);
				for (const { level, publisher, name, evidence } of traffic) {
					const { factor, reversalLevel } = JSON.parse(evidence) as SourceEvidence;
					if (level === "link") expect(factor).toBeCloseTo(pure.shared.links.get(name as LinkType)?.factor ?? 0, 9);
					else {
						const known = pure.shared.sources.get(pairKey(publisher, name));
						expect(factor).toBeCloseTo(known?.factor ?? 0, 9);
						expect(reversalLevel).toBeCloseTo(known?.reversalLevel ?? 0, 9);
					}
				}
				expect(await rowsOf("SELECT name FROM learning_work")).toEqual([]);
			}),
			{ numRuns: Number(env.PROPERTY_RUNS) || 8 },
		);
	});

	it("reads delays of so many publishers singly, and together of the others", async () => {
		const row = { ...CELL, campaign: 6001, clicks: 400, payout: 8_000_000 };
		await store([
			{ ...row, age: 3, conversions: 60 },
			{ ...row, age: 5, conversions: 30 },
			{ ...row, age: 3, publisher: "p2", conversions: 20 },
			{ ...row, age: 4, publisher: "p3", conversions: 9 },
		]);
		const rows = await rowsOf<DelayRow>("SELECT publisher_id AS publisher, day, lag, arrivals, reversals FROM learning_publisher_delays");
		for (const followed of [["p1", "p2", "p3"], ["p1", "p2"], ["p1"]]) {
			const expected = rows.map((each) => (followed.includes(each.publisher) ? each : { ...each, publisher: OTHER_PUBLISHERS }));
			const curves = (await readCurves(db, TODAY, followed.length)).get("northwind");
			expect(Object.keys(curves?.ofPublishers ?? {}).toSorted()).toEqual(followed);
			expect(curves?.ofPublishers).toEqual(learnCurves(expected, TODAY).ofPublishers);
		}
	});

	it("that breaks leaves what was learned before, says of what, and is tried again", async () => {
		const row = { ...CELL, campaign: 6001, age: 3, clicks: 400, conversions: 60, payout: 8_000_000 };
		await store([row]);
		let time = NOW;
		const sweep = () => sweepLearning({ db, kv: env.BOOK, now: () => time }, () => true);
		await sweep();
		const factors = () => rowsOf("SELECT level, name, published FROM learning_factors ORDER BY level, name");
		const before = await factors();
		expect(before.length).toBeGreaterThan(0);
		time += 24 * HOUR_MS;
		await env.DB.prepare("ALTER TABLE learning_publisher_delays RENAME TO learning_publisher_delays_gone").run();
		try {
			await expect(sweep()).rejects.toThrow();
			const nights = await rowsOf<{ day: number; finished: number | null; fault: string | null }>(
				"SELECT day, finished_at AS finished, fault FROM learning_nights ORDER BY day",
			);
			expect(nights).toMatchObject([
				{ day: TODAY, fault: null },
				{ day: TODAY + 1, finished: null, fault: expect.stringContaining("learning_publisher_delays") },
			]);
			time += MINUTE_MS;
			await sweep();
		} finally {
			await env.DB.prepare("ALTER TABLE learning_publisher_delays_gone RENAME TO learning_publisher_delays").run();
		}
		expect((await factors()).length).toBe(before.length);
		time += 10 * MINUTE_MS;
		await sweep();
		expect(await rowsOf("SELECT count(*) AS count FROM learning_nights WHERE fault IS NULL AND finished_at IS NOT NULL")).toEqual([
			{ count: 2 },
		]);
	});

	it("whose rows cannot be made of older clicks says so, too", async () => {
		await setGap(null);
		const sweep = (minutes: number) => sweepLearning({ db, kv: env.BOOK, now: () => NOW + minutes * MINUTE_MS }, () => true);
		const nights = () => rowsOf("SELECT day, started_at, finished_at, fault FROM learning_nights");
		await env.DB.prepare("ALTER TABLE learning_earnings RENAME TO learning_earnings_gone").run();
		try {
			await expect(sweep(0)).rejects.toThrow();
			expect(await nights()).toEqual([
				{ day: TODAY, started_at: NOW, finished_at: null, fault: expect.stringContaining("learning_earnings") },
			]);
		} finally {
			await env.DB.prepare("ALTER TABLE learning_earnings_gone RENAME TO learning_earnings").run();
		}
		await sweep(10);
		expect(await nights()).toMatchObject([{ day: TODAY, finished_at: NOW + 10 * MINUTE_MS, fault: null }]);
	});

	it("is told from an hour that fails, which keeps what it failed of until one ends", async () => {
		const faults = () => rowsOf("SELECT value FROM learning_work WHERE name = 'publishing fault'");
		const kv = new Proxy(env.BOOK, {
			get: (book, name: keyof KVNamespace) => {
				if (name === "get") return () => Promise.reject(new Error("KV was away"));
				return (book[name] as () => unknown).bind(book);
			},
		});
		await expect(sweepLearning({ db, kv, now: () => NOW }, () => true)).rejects.toThrow("KV was away");
		expect(await faults()).toEqual([{ value: JSON.stringify({ at: NOW, message: "Error: KV was away" }) }]);
		expect(await rowsOf("SELECT fault FROM learning_nights")).toEqual([{ fault: null }]);
		await sweepLearning({ db, kv: env.BOOK, now: () => NOW + MINUTE_MS }, () => true);
		expect(await faults()).toEqual([]);
	});

	it("waits until rows are made of the clicks that were stored before anyone learned", async () => {
		await setGap(null);
		const nights = () => rowsOf("SELECT finished_at FROM learning_nights WHERE finished_at IS NOT NULL");
		let left = 4;
		await sweepLearning({ db, kv: env.BOOK, now: () => NOW }, () => left-- > 0);
		expect(await nights()).toEqual([]);
		expect((await rowsOf<{ gap: number }>("SELECT learning_gap AS gap FROM click_sequence"))[0]?.gap).toBe(
			Math.floor((TODAY - HISTORY_DAYS) / 7) * 7 + 4 * 7,
		);
		await sweepLearning({ db, kv: env.BOOK, now: () => NOW }, () => true);
		expect(await nights()).toHaveLength(1);
		expect(await rowsOf("SELECT learning_gap AS gap FROM click_sequence")).toEqual([{ gap: 0 }]);
	});

	it("one run is at it at a time; one that has ended without giving it back holds the next ones up for a quarter of an hour", async () => {
		const done: string[] = [];
		const run = (name: string, now: number, meanwhile = async () => {}) =>
			underLease(db, now, async () => {
				done.push(name);
				await meanwhile();
			});
		await run("first", NOW, () => run("beside it", NOW + MINUTE_MS));
		await run("after it", NOW + MINUTE_MS);
		await run("dies", NOW, async () => {
			await rowsOf(
				"UPDATE learning_work SET value = ? WHERE name = 'lease'",
				JSON.stringify({ until: NOW + 15 * MINUTE_MS, token: "gone" }),
			);
		});
		await run("too early", NOW + 15 * MINUTE_MS - 1);
		await run("in time", NOW + 15 * MINUTE_MS);
		// What died a year ahead holds nobody up until then.
		await run("dies ahead", NOW, async () => {
			await rowsOf(
				"UPDATE learning_work SET value = ? WHERE name = 'lease'",
				JSON.stringify({ until: NOW + 365 * 24 * HOUR_MS, token: "gone" }),
			);
		});
		await run("in its year", NOW);
		expect(done).toEqual(["first", "after it", "dies", "in time", "dies ahead", "in its year"]);
	});

	it("where nobody learns, forgets the factors of when someone did", async () => {
		const [settings] = await rowsOf<{ epc_learning: string }>("SELECT epc_learning FROM network_settings");
		await rowsOf(
			"INSERT INTO learning_factors (level, campaign_id, publisher_id, name, published, target, moving) VALUES ('price', 6001, '', '', ?, '0.5', 0)",
			JSON.stringify({ factor: 0.5, at: NOW, before: [] }),
		);
		const factors = () => rowsOf("SELECT target FROM learning_factors");
		const sweep = () => sweepLearning({ db, kv: env.BOOK, now: () => NOW }, () => true);
		await sweep();
		expect(await factors()).toHaveLength(1);
		await rowsOf("UPDATE network_settings SET epc_learning = NULL");
		await sweep();
		expect(await factors()).toEqual([]);
		await rowsOf("UPDATE network_settings SET epc_learning = ?", settings?.epc_learning ?? "");
	});

	it("where nobody learns, clicks are summed up to be learned from on PostgreSQL alone", async () => {
		const [settings] = await rowsOf<{ epc_learning: string }>("SELECT epc_learning FROM network_settings");
		await rowsOf("UPDATE network_settings SET epc_learning = NULL");
		await setGap(null);
		const sweep = () => sweepLearning({ db, kv: env.BOOK, now: () => NOW }, () => true);
		await sweep();
		// What is tidied already, and not summed up, such as after a move from D1.
		await setGap(null);
		await sweep();
		// Of both at once it is asked as of D1.
		expect(await rowsOf("SELECT learning_gap AS gap FROM click_sequence")).toEqual([{ gap: ON_D1 || ON_BOTH ? null : 0 }]);
		expect(await rowsOf("SELECT day FROM learning_nights")).toEqual([]);
		await rowsOf("UPDATE network_settings SET epc_learning = ?", settings?.epc_learning ?? "");
		await setGap(0);
	});

	it("takes the sources of a campaign together that has more rows than are held in memory, and learns the same of all but sources", async () => {
		const rows = [6001, 6002].flatMap((campaign) =>
			Array.from({ length: 30 }, (_, at): Row => {
				const sized = { clicks: 60, conversions: 4, payout: 9_000_000 };
				return { ...CELL, campaign, source: `s${at % 3}`, age: Math.floor(at / 3), ...sized };
			}),
		);
		await store([...rows, { ...(rows[0] as Row), campaign: 6003 }]);
		const learn = async (campaignRows?: number) => {
			await env.DB.batch(["campaigns", "traffic", "factors", "nights"].map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)));
			const limits = { rows: 1_000_000, mayGoOn: () => true, ...(campaignRows !== undefined && { campaignRows }) };
			expect(await runNight({ db, now: () => NOW }, NETWORK, TODAY, limits)).toBe(true);
			const learned = await rowsOf<{ learned: string }>("SELECT learned FROM learning_campaigns ORDER BY campaign_id");
			const sources = await rowsOf<{ name: string }>("SELECT name FROM learning_traffic WHERE level = 'source' ORDER BY name");
			return {
				factors: learned.map((row) => (JSON.parse(row.learned) as StoredLearning).campaign.factor.toPrecision(9)),
				sources: sources.map(({ name }) => name),
			};
		};
		const whole = await learn();
		expect(whole.sources).toEqual(["s0", "s1", "s2"]);
		const folded = await learn(12);
		expect(folded.sources).toEqual(["*other", "s0"]);
		expect(folded.factors).toHaveLength(3);
		for (const [at, factor] of folded.factors.entries()) expect(Number(factor)).toBeCloseTo(Number(whole.factors[at]), 1);
	});

	it("reads all earnings of campaigns that have more of them than one statement reads", async () => {
		const row = { ...CELL, age: 0, clicks: 400, conversions: 0, payout: 1_000_000 };
		await store([6001, 6002].map((campaign) => ({ ...row, campaign })));
		const cells = [6001, 6002].flatMap((campaign) =>
			Array.from({ length: 6_000 }, (_, at) => [campaign, TODAY - 2 - Math.floor(at / 100), at % 100]),
		);
		await env.DB.prepare(
			`INSERT INTO learning_earnings SELECT CAST(value ->> 0 AS BIGINT), 'p1', 's1', '', 'homepage', CAST(value ->> 1 AS BIGINT),
				CAST(value ->> 2 AS BIGINT), 1, 1000000 FROM json_each(?)`,
		)
			.bind(JSON.stringify(cells))
			.run();
		const { histories } = await readHistories(db, NETWORK, 0);
		const earned = histories.map(({ terms, cells: [cell] }) => [
			terms.id,
			cell?.earnings.reduce((sum, { conversions }) => sum + conversions, 0),
		]);
		expect(earned).toEqual([
			["6001", 6_000],
			["6002", 6_000],
		]);
	});

	it("learns singly of the sources with the most clicks where there are more than are held in memory, and of the others together", async () => {
		const of = (campaign: number, source: string, clicks: number, conversions: number): Row => {
			return { ...CELL, campaign, source, age: 2, clicks, conversions, payout: 8_000_000 };
		};
		const rows = [6001, 6002].flatMap((id) => [of(id, "s1", 900, 40), of(id, "s2", 600, 60), of(id, "s3", 300, 3), of(id, "s4", 200, 2)]);
		await store(rows);
		await env.DB.batch(
			["s1", "s2", "s3", "s4"].map((source) => env.DB.prepare("INSERT INTO learning_sources VALUES ('p1', ?, 0, ?)").bind(source, TODAY)),
		);
		const learn = async (sources: number, rowsARun: number) => {
			await env.DB.batch(["campaigns", "traffic", "factors", "nights"].map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)));
			const limits = { rows: rowsARun, mayGoOn: () => true, sources };
			while (!(await runNight({ db, now: () => NOW }, NETWORK, TODAY, limits)));
			expect(await rowsOf("SELECT name FROM learning_work")).toEqual([]);
			const learned = await rowsOf<{ name: string; clicks: number; factor: number }>(
				`SELECT s.name, CAST(s.evidence ->> 'clicks' AS DOUBLE PRECISION) AS clicks,
						CAST(s.evidence ->> 'factor' AS DOUBLE PRECISION) * CAST(p.evidence ->> 'factor' AS DOUBLE PRECISION) AS factor
					FROM learning_traffic s JOIN learning_traffic p ON p.publisher_id = s.publisher_id AND p.level = 'publisher'
					WHERE s.level = 'source' ORDER BY s.name`,
			);
			return learned.map(({ name, clicks, factor }) => ({ name, clicks: Math.round(clicks), factor }));
		};
		const whole = await learn(4, 1_000_000);
		expect(whole.map(({ name }) => name)).toEqual(["s1", "s2", "s3", "s4"]);
		const bounded = await learn(2, 1_000_000);
		expect(bounded.map(({ name }) => name)).toEqual(["*other", "s1", "s2"]);
		expect(bounded[0]?.clicks).toBe((whole[2]?.clicks ?? 0) + (whole[3]?.clicks ?? 0));
		expect(bounded[0]?.factor).toBeLessThan(0.7);
		for (const [at, { factor }] of bounded.slice(1).entries()) expect(factor).toBeCloseTo(whole[at]?.factor ?? 0, 1);
		// Cut off after every row, it is the same.
		expect(await learn(2, 1)).toEqual(bounded);
		await env.DB.prepare("DELETE FROM learning_sources").run();
	});

	it.skipIf(!ON_D1)("that is cut off writes of its traffic what has changed since the last run", async () => {
		const of = (campaign: number, source: string): Row => {
			return { ...CELL, campaign, source, age: 3, clicks: 400, conversions: 4, payout: 8_000_000 };
		};
		await store([6001, 6002, 6003].map((campaign) => of(campaign, `s${campaign}`)));
		const limits = { rows: 1, mayGoOn: () => true };
		const step = async () => {
			await runNight({ db, now: () => NOW }, NETWORK, TODAY, limits);
			const [night] = await rowsOf<{ progress: string }>("SELECT progress FROM learning_nights");
			return (JSON.parse(night?.progress ?? "{}") as { step: string }).step;
		};
		while ((await step()) !== "breaks");
		// A pass that adds nothing to what traffic says leaves what is kept of it alone.
		await env.DB.prepare(
			"CREATE TRIGGER no_writes BEFORE UPDATE ON learning_work WHEN new.name LIKE 'traffic %' BEGIN SELECT RAISE(ABORT, 'written again'); END",
		).run();
		try {
			while ((await step()) !== "done");
		} finally {
			await env.DB.prepare("DROP TRIGGER no_writes").run();
		}
		expect(await rowsOf("SELECT name FROM learning_work")).toEqual([]);
	});

	it("looks for breaks by the hour where conversions have changed, and goes on where it was cut off", async () => {
		const of = (campaign: number, age: number): Row => {
			return { ...CELL, campaign, age, clicks: 200, conversions: 8, payout: 10_000_000 };
		};
		await store([6001, 6002].flatMap((campaign) => Array.from({ length: 60 }, (_, age) => of(campaign, age))));
		let time = NOW;
		const sweep = (mayGoOn = () => true) => sweepLearning({ db, kv: env.BOOK, now: () => time }, mayGoOn);
		await sweep();
		const breaks = () =>
			rowsOf<{ id: number; z: number }>(
				`SELECT campaign_id AS id, CAST(last_break ->> 'z' AS DOUBLE PRECISION) AS z FROM learning_campaigns
					WHERE last_break IS NOT NULL ORDER BY campaign_id`,
			);
		const targetOf = async (id: number) =>
			Number(
				(
					await rowsOf<{ target: string }>(
						`SELECT target FROM learning_factors WHERE level = 'price' AND campaign_id = ${id} AND name = '' `,
					)
				)[0]?.target ?? 1,
			);
		expect(await breaks()).toEqual([]);
		// At noon one platform takes back what came of the last two weeks of both, and one conversion of each is told to have changed.
		time += 12 * HOUR_MS;
		await env.DB.prepare("UPDATE learning_earnings SET conversions = 1, net_micros = 10000000 WHERE day >= ?")
			.bind(TODAY - 14)
			.run();
		await sweep();
		expect(await breaks()).toEqual([]);
		const clicks = [6001, 6002].map((campaign_id) => clickRow({ campaign_id, clicked_at: time - 24 * HOUR_MS }));
		await storeRows(
			clicks,
			clicks.map((click) => conversionRow(click, { updated_at: time + MINUTE_MS })),
		);
		const before = await targetOf(6001);
		time += HOUR_MS;
		let left = 2;
		await sweep(() => left-- > 0);
		expect((await breaks()).map(({ id }) => id)).toEqual([6001]);
		await sweep();
		const found = await breaks();
		expect(found.map(({ id }) => id)).toEqual([6001, 6002]);
		for (const { z } of found) expect(z).toBeLessThan(-2.6);
		expect(await targetOf(6001)).toBeLessThan(before * 0.7);
		// More than ever came of one, on a day that is not over: a rise is told where it is more than the whole day would bring.
		await clear();
		time = NOW;
		await store(Array.from({ length: 60 }, (_, age) => of(6003, age)));
		await sweep();
		time += 12 * HOUR_MS;
		await env.DB.prepare("UPDATE learning_earnings SET conversions = 30, net_micros = 300000000 WHERE day >= ?")
			.bind(TODAY - 7)
			.run();
		const click = clickRow({ campaign_id: 6003 });
		await storeRows([click], [conversionRow(click, { updated_at: time })]);
		await sweep();
		expect((await breaks()).map(({ id, z }) => [id, z > 4])).toEqual([[6003, true]]);
	});

	it("leaves no factor of a source that no click tells of any more", async () => {
		const of = (campaign: number, source: string): Row => {
			return { ...CELL, campaign, source, age: 3, clicks: 400, conversions: 4, payout: 8_000_000 };
		};
		await store([6001, 6002].flatMap((campaign) => [of(campaign, "s1"), { ...of(campaign, "s2"), conversions: 80 }]));
		let time = NOW;
		const sweep = () => sweepLearning({ db, kv: env.BOOK, now: () => time }, () => true);
		await sweep();
		const factorsOf = (name: string) => rowsOf<{ published: string }>(`SELECT published FROM learning_factors WHERE name = '${name}'`);
		expect(await factorsOf("s2")).toHaveLength(1);
		await env.DB.prepare("DELETE FROM learning_clicks WHERE source = 's2'").run();
		for (let day = 0; day < 6; day++) {
			time += 25 * HOUR_MS;
			await sweep();
		}
		expect(await factorsOf("s2")).toEqual([]);
	});
});
