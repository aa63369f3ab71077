/** Learned prices from rows to bids, through the cron: the night learns, the hours publish, the book has it, the bid is moved. */
import { createScheduledController } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Explanation } from "../../src/bidding/explain-answer.ts";
import { MANIFEST_KEY } from "../../src/campaign-book/format.ts";
import { LEARNED_KEY, type LearnedWire } from "../../src/campaign-book/learned.ts";
import { publishBook } from "../../src/campaign-book/publisher/publish.ts";
import { openDatabase } from "../../src/db/client.ts";
import { OTHER_SOURCES } from "../../src/learning/cell.ts";
import { dayOf } from "../../src/learning/cohorts.ts";
import { sizeClassOf } from "../../src/learning/size-class.ts";
import { sweepLearning } from "../../src/learning-night/sweep-learning.ts";
import { hashSource } from "../../src/lib/hash.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/lib/time.ts";
import worker from "../../src/worker.ts";
import { rowsOf } from "../support/click-messages.ts";
import { setNow } from "../support/load-network.ts";
import { ACME, brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS, priceFor } from "../support/network-import.ts";

const db = openDatabase(env.DB);
const START = Date.parse("2026-11-18T00:10:00Z");
const CLICKER = {
	...ACME,
	id: "clicker",
	publisher_id: "1002",
	publisher_identity: "clicker_rtb",
	access_key: "access-key-clicker",
	publisher_key: "publisher-key-clicker",
	pricing_model: "CPC",
};

let time = START;

/** An hour later, the cron of two minutes: the second publishes what the first has marked, whatever their order. */
async function passByCron(): Promise<void> {
	time += HOUR_MS;
	for (const at of [time, time + 5 * MINUTE_MS]) {
		setNow(new Date(at).toISOString());
		await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date(at) }), env);
	}
	setNow(new Date(time + HOUR_MS / 2).toISOString());
}

/** Some hours later, the cron's job of learning alone. */
async function learn(hours: number): Promise<void> {
	time += hours * HOUR_MS;
	setNow(new Date(time).toISOString());
	await sweepLearning({ db, kv: env.BOOK, now: () => Date.now() }, () => true);
}

/** Likewise, and what it has marked. */
async function pass(hours: number): Promise<void> {
	await learn(hours);
	await publish(1);
}

/** As many nights, of which nobody sees the book before the last. */
async function passNights(count: number): Promise<void> {
	for (let night = 1; night < count; night++) await learn(25.5);
	await pass(25);
}

type Row = {
	campaign: number;
	publisher?: string;
	source?: string;
	keyword?: string;
	link?: string;
	clicks: number;
	conversions: number;
	payout: number;
	paid?: number;
};

/** A source as rows have it. */
const placeOf = (source: string) => (source === OTHER_SOURCES ? source : hashSource(source));

/** Clicks of each of the last days, and what they earned. */
async function store(days: number, rows: readonly Row[]): Promise<void> {
	const statements = rows.flatMap(
		({ campaign, publisher = "acme", source = "s", keyword = "", link = "homepage", clicks, conversions, payout, paid = 0 }) =>
			Array.from({ length: days }, (_, at) => {
				const cell = [campaign, publisher, placeOf(source), keyword, link, dayOf(time) - 1 - at];
				return [
					env.DB.prepare("INSERT INTO learning_clicks VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)").bind(...cell, clicks, paid),
					env.DB.prepare("INSERT INTO learning_earnings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)").bind(
						...cell,
						sizeClassOf(payout),
						conversions,
						conversions * payout,
					),
				];
			}).flat(),
	);
	await env.DB.batch(statements);
}

/** That so many conversions of each of the last days came on the day of their click. */
async function tellAtOnce(days: number, conversions: number): Promise<void> {
	const insert = env.DB.prepare("INSERT INTO learning_publisher_delays VALUES (?, 'acme', ?, 0, ?, 0)");
	const last = dayOf(time) - 1;
	await env.DB.batch(Array.from({ length: days }, (_, at) => insert.bind(NORTHWIND.id, last - at, conversions)));
}

async function importNetwork(learning: object, ofAcme: object = {}, epc = "0.4000"): Promise<void> {
	const links = { deeplink_url: "https://track.example/d?sub={click_id}&to={deeplink}", deeplink_verified: true };
	await importFile({
		epc_learning: learning,
		platforms: [NORTHWIND],
		publishers: [{ ...ACME, ...ofAcme }, CLICKER],
		brands: [
			brandEntry("good.example", 5001, {}, { epc, keyword_epc: { boots: "0.6000", hats: "0.2000" } }),
			brandEntry("bad.example", 5002),
			brandEntry("pinned.example", 5004, {}, { epc_learning: { pin: true } }),
			brandEntry("new.example", 5003, {}, links),
		],
	});
}

/** A price of the Serving Engine. */
async function priceOf(query: Record<string, string>): Promise<number> {
	const asked = new URLSearchParams({ pubi: "1001", cc: "US", ...query });
	const response = await exports.default.fetch(`https://rtb.example/serving-engine?${asked}`);
	if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
	return Number((await response.json<{ bid_amount: string }>()).bid_amount);
}

/** What an operator is told of that price. */
async function explainedPrice(query: Record<string, string>) {
	const explained = await exports.default.fetch("https://base.example/operator/explain", {
		method: "POST",
		headers: { ...OPERATOR_HEADERS, "content-type": "application/json" },
		body: JSON.stringify({ publisher_id: "1001", query: { cc: "US", ...query } }),
	});
	const { prices } = await explained.json<Explanation>();
	return prices?.[0];
}

beforeAll(async () => {
	setNow(new Date(START).toISOString());
	await importNetwork({ mode: "automatic" });
	// The rows that are stored here are all there is to learn from.
	await env.DB.prepare("UPDATE click_sequence SET learning_gap = 0").run();
});

beforeEach(async () => {
	const tables = ["clicks", "earnings", "sources", "campaigns", "traffic", "factors", "changes", "nights", "work"];
	await env.DB.batch(tables.map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)));
	await env.BOOK.delete(LEARNED_KEY);
	time += 2 * DAY_MS;
	setNow(new Date(time).toISOString());
	await publishAll();
});

async function markAll(): Promise<void> {
	await env.DB.prepare(
		"INSERT INTO book_dirty_slots (slot, mark) SELECT DISTINCT slot, 1 FROM book_keys WHERE true ON CONFLICT (slot) DO NOTHING",
	).run();
}

async function publishAll(): Promise<void> {
	await markAll();
	await publish(1);
}

/** Publishes the book in a format, to be read by the next bid. */
async function publish(bookFormat: 1 | 2): Promise<void> {
	await publishBook({ db, kv: env.BOOK, now: () => Date.now(), bookFormat });
	time += HOUR_MS / 2;
	setNow(new Date(time).toISOString());
}

/** A statement whose answer comes late. */
function holdBackAnswer(statement: D1PreparedStatement, held: Promise<void>, onRead: () => void): D1PreparedStatement {
	const late =
		<Values extends unknown[], Answer>(read: (...values: Values) => Promise<Answer>) =>
		async (...values: Values): Promise<Answer> => {
			const answer = await read(...values);
			onRead();
			await held;
			return answer;
		};
	const bind = statement.bind.bind(statement);
	statement.bind = (...values) => holdBackAnswer(bind(...values), held, onRead);
	statement.all = late(statement.all.bind(statement)) as D1PreparedStatement["all"];
	statement.raw = late(statement.raw.bind(statement) as () => Promise<unknown>) as unknown as D1PreparedStatement["raw"];
	return statement;
}

const DOMAINS = ["good.example", "bad.example", "new.example"];
const pricesOf = () => Promise.all(DOMAINS.flatMap((domain) => [priceFor(domain), priceFor(domain, "clicker_rtb")]));

describe("worker: learned prices", () => {
	it("what clicks earned moves the next bids, by the day's limits", async () => {
		// Of 40 clicks a day at 0.40 each 16 USD are expected: one earns twice as much, the other a quarter.
		await store(30, [
			{ campaign: 5001, clicks: 40, conversions: 4, payout: 8_000_000 },
			{ campaign: 5002, clicks: 40, conversions: 1, payout: 4_000_000 },
		]);
		expect(await Promise.all(DOMAINS.map((domain) => priceFor(domain)))).toEqual([0.2, 0.2, 0.2]);
		await passByCron();
		expect(await rowsOf("SELECT day, fault, finished_at > 0 AS done FROM learning_nights")).toEqual([
			{ day: dayOf(time), fault: null, done: 1 },
		]);
		// Of a day's rise to 1.25, and fall to 0.6, a campaign's own factor makes its part: others may move the same way.
		expect(await priceFor("good.example")).toBe(0.2338);
		expect(await priceFor("bad.example")).toBe(0.163);
		expect(await priceFor("new.example")).toBe(0.2);
		// Publishers who are paid by click are bid less while little was seen of a campaign.
		expect(await priceFor("new.example", "clicker_rtb")).toBe(0.1423);
		expect(await priceFor("good.example", "clicker_rtb")).toBeGreaterThan(0.2);
		expect(
			await rowsOf("SELECT keyword, operator_micros, epc_micros FROM learning_changes WHERE campaign_id = 5002 AND keyword = ''"),
		).toEqual([{ keyword: "", operator_micros: 400_000, epc_micros: 326_077 }]);
		await pass(1);
		expect(await priceFor("good.example")).toBe(0.2338);
		const before = await pricesOf();
		await publish(2);
		expect((await env.BOOK.get(MANIFEST_KEY))?.startsWith('{"format":2')).toBe(true);
		expect(await pricesOf()).toEqual(before);
		await publish(1);
		await passNights(9);
		expect(await priceFor("good.example")).toBeGreaterThan(0.35);
		expect(await priceFor("bad.example")).toBeLessThan(0.08);
		expect(await priceFor("new.example")).toBe(0.2);
		// A publisher that is only advised is bid the operator's numbers, in either format; the others go on.
		const learned = await priceFor("bad.example", "clicker_rtb");
		await importNetwork({ mode: "automatic" }, { epc_learning: { mode: "advise" } });
		for (const format of [2, 1] as const) {
			await publish(format);
			expect(await Promise.all([...DOMAINS.map((domain) => priceFor(domain)), priceFor("bad.example", "clicker_rtb")])).toEqual([
				0.2,
				0.2,
				0.2,
				learned,
			]);
			expect(await priceOf({ bd: "good.example", kw: "boots" })).toBe(0.3);
		}
		// Off, nothing of it is left.
		await importNetwork({ mode: "off" }, { epc_learning: {} });
		await publish(1);
		expect(await pricesOf()).toEqual([0.2, 0.2, 0.2, 0.2, 0.2, 0.2]);
		await importNetwork({ mode: "automatic" });
		await publish(1);
	});

	it("keywords, publishers, sources and kinds of links have their own", async () => {
		await store(20, [
			{ campaign: 5001, keyword: "boots", clicks: 40, conversions: 6, payout: 8_000_000 },
			{ campaign: 5001, keyword: "*", clicks: 40, conversions: 1, payout: 8_000_000 },
			{ campaign: 5002, clicks: 80, conversions: 4, payout: 8_000_000 },
			{ campaign: 5002, source: "rotten", clicks: 80, conversions: 1, payout: 4_000_000 },
			{ campaign: 5003, link: "deeplink", clicks: 80, conversions: 8, payout: 8_000_000 },
			{ campaign: 5003, clicks: 80, conversions: 4, payout: 8_000_000 },
		]);
		await passNights(10);
		const learned = await env.BOOK.get<LearnedWire>(LEARNED_KEY, "json");
		expect(learned?.publishers?.acme?.s?.[hashSource("rotten")]).toBeLessThan(0.5);
		expect(await priceFor("good.example")).not.toBe(0.2);
		const ask = (query: Record<string, string>) => priceOf({ bd: "bad.example", ...query });
		expect(await ask({ subid: "rotten" })).toBeLessThan((await ask({ subid: "other" })) * 0.6);
		const explained = await explainedPrice({ bd: "bad.example", subid: "rotten" });
		expect(explained).toMatchObject({ source: "rotten", price: (await ask({ subid: "rotten" })).toFixed(4) });
		expect(explained?.factors.find(({ level }) => level === "source")?.in_force).toBe(learned?.publishers?.acme?.s?.[hashSource("rotten")]);
		expect(await priceOf({ bd: "good.example", kw: "boots" })).toBeGreaterThan(0.3);
		expect(await priceOf({ bd: "good.example", kw: "socks" })).toBeLessThan(await priceOf({ bd: "good.example" }));
		expect(await priceOf({ bd: "new.example", dl: "https://new.example/a" })).toBeGreaterThan(await priceOf({ bd: "new.example" }));
		expect(await priceOf({ bd: "pinned.example", subid: "rotten" })).toBe(0.2);
		const before = await Promise.all([ask({ subid: "rotten" }), priceOf({ bd: "good.example", kw: "boots" })]);
		await publish(2);
		expect(await Promise.all([ask({ subid: "rotten" }), priceOf({ bd: "good.example", kw: "boots" })])).toEqual(before);
		await publish(1);
		// A tracking link is priced when it is clicked, by the same.
		const list = await exports.default.fetch("https://base.example/api/brands-list", { headers: { AccessKey: ACME.access_key } });
		const { data } = await list.json<{ data: { domain: string; click_url_homepage: string }[] }>();
		const link = data.find(({ domain }) => domain === "bad.example")?.click_url_homepage.replace("{subi}", "rotten") ?? "";
		await exports.default.fetch(link, { redirect: "manual", headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64)" } });
		const price = await ask({ subid: "rotten" });
		const clicks = () => rowsOf<{ bid: number }>("SELECT bid_micros AS bid FROM clicks WHERE source_id = 'rotten' AND reason IS NULL");
		await vi.waitUntil(async () => (await clicks()).length > 0, { timeout: 20_000 });
		expect(await clicks()).toEqual([{ bid: Math.round(price * 1_000_000) }]);
	});

	it("a keyword without clicks keeps its number, and one that the operator sets low ends what is bid", async () => {
		await store(30, [{ campaign: 5001, clicks: 40, conversions: 4, payout: 4_000_000 }]);
		await passNights(2);
		const own = (await priceOf({ bd: "good.example" })) / 0.2;
		expect(own).toBeGreaterThan(0.9);
		expect(own).toBeLessThan(1.2);
		expect(await priceOf({ bd: "good.example", kw: "boots" })).toBeCloseTo(0.3 * own, 2);
		expect(await priceOf({ bd: "good.example", kw: "hats" })).toBeCloseTo(0.1 * own, 2);
		await env.DB.prepare("UPDATE campaigns SET epc_micros = 400 WHERE campaign_id = 5001").run();
		await publishAll();
		expect(await priceOf({ bd: "good.example" })).toBeLessThanOrEqual(0.0002 * 5);
		await env.DB.prepare("UPDATE campaigns SET epc_micros = 400000 WHERE campaign_id = 5001").run();
		await publishAll();
	});

	it("clicks without a source, and of sources beyond those that are followed, are bid by what such clicks earn", async () => {
		const followed = Array.from({ length: 200 }, (_, at) => `s${at}`);
		await env.DB.batch(
			[...followed, "*other"].map((source) =>
				env.DB.prepare("INSERT INTO learning_sources VALUES ('acme', ?, ?, ?)").bind(
					placeOf(source),
					source === "*other" ? null : 0,
					dayOf(time) + 30,
				),
			),
		);
		const half = (campaign: number, source: string, conversions: number) => ({
			campaign,
			source,
			clicks: 80,
			conversions,
			payout: 4_000_000,
		});
		const of = (campaign: number) => [half(campaign, "s1", 12), half(campaign, "*other", 1), half(campaign, "", 3)];
		await store(20, [...of(5001), ...of(5002)]);
		await passNights(10);
		const ask = (subid?: string) => priceOf({ bd: "bad.example", ...(subid === undefined ? {} : { subid }) });
		for (const format of [2, 1] as const) {
			await publish(format);
			const usual = await ask("s2");
			expect(await ask("fresh")).toBeLessThan(usual * 0.5);
			expect(await ask("s1")).toBeGreaterThan(usual * 1.2);
			expect(await ask()).toBeLessThan(usual * 0.8);
			expect(await ask()).toBeGreaterThan(await ask("fresh"));
		}
		await env.DB.prepare("DELETE FROM learning_sources").run();
	});

	it("a click is learned of the source that its bid was asked for, whatever its address says", async () => {
		await store(20, [{ campaign: 5002, source: "fine", clicks: 40, conversions: 2, payout: 8_000_000 }]);
		const ask = new URLSearchParams({ pubi: "1001", cc: "US", bd: "bad.example", subid: "rotten" });
		for (let at = 0; at < 80; at++) {
			const bid = await exports.default.fetch(`https://rtb.example/serving-engine?${ask}`);
			const { redirect_url: url } = await bid.json<{ redirect_url: string }>();
			expect(url).toContain("&subi=rotten");
			const headers = { "user-agent": `Mozilla/5.0 (X11; Linux x86_64) Chrome/${100 + at}`, "cf-connecting-ip": `203.0.113.${at}` };
			const answer = await exports.default.fetch(url.replace("&subi=rotten", "&subi=fine"), { redirect: "manual", headers });
			expect(answer.status).toBe(302);
		}
		const relabelled = () => rowsOf<{ n: number }>("SELECT count(*) AS n FROM clicks WHERE source_id = 'fine' AND reason IS NULL");
		await vi.waitUntil(async () => (await relabelled())[0]?.n === 80, { timeout: 20_000 });
		await passNights(6);
		const usual = await priceOf({ bd: "bad.example", subid: "unseen" });
		expect(await priceOf({ bd: "bad.example", subid: "rotten" })).toBeLessThan(usual * 0.85);
		expect(await priceOf({ bd: "bad.example", subid: "fine" })).toBeGreaterThan(usual * 0.95);
	});

	it("prices that were advised set out from the operator's numbers once they are bid", async () => {
		await importNetwork({ mode: "advise" });
		await store(30, [
			{ campaign: 5001, clicks: 40, conversions: 4, payout: 12_000_000 },
			{ campaign: 5001, source: "rotten", clicks: 40, conversions: 1, payout: 1_000_000 },
		]);
		await passNights(4);
		const ask = () => Promise.all([priceOf({ bd: "good.example" }), priceOf({ bd: "good.example", subid: "rotten" })]);
		expect(await ask()).toEqual([0.2, 0.2]);
		await importNetwork({ mode: "automatic" });
		await publish(1);
		const prices = [await ask()];
		expect(prices[0]).toEqual([0.2, 0.2]);
		for (let day = 0; day < 4; day++) {
			await pass(25);
			prices.push(await ask());
		}
		for (const [day, [good, rotten]] of prices.slice(1).entries()) {
			expect((good ?? 0) / (prices[day]?.[0] ?? 0)).toBeLessThanOrEqual(1.25 + 1e-3);
			expect((rotten ?? 0) / (prices[day]?.[1] ?? 0)).toBeGreaterThanOrEqual(0.6 - 1e-3);
		}
		expect(prices.at(-1)?.[0]).toBeGreaterThan(0.25);
		// Advised for a moment, in which no hour has let go of what was in force.
		await importNetwork({ mode: "advise" });
		await publish(1);
		expect(await ask()).toEqual([0.2, 0.2]);
		await importNetwork({ mode: "automatic" });
		await publish(1);
		const [good, rotten] = await ask();
		expect(good).toBeLessThanOrEqual(0.25);
		expect(rotten).toBeGreaterThanOrEqual(0.12);
		expect(Number((await explainedPrice({ bd: "good.example" }))?.price)).toBe(good);
		// Advised again, and bid again: nothing is left of what was in force.
		await importNetwork({ mode: "advise" });
		await pass(25);
		await importNetwork({ mode: "automatic" });
		await publish(1);
		expect(await ask()).toEqual([0.2, 0.2]);
	});

	it("a number that was changed while it was advised is bid on where the campaign becomes automatic that day", async () => {
		await importNetwork({ mode: "advise" });
		await store(30, [{ campaign: 5001, clicks: 40, conversions: 4, payout: 8_000_000 }]);
		await passNights(2);
		// As who accepts what is advised, which is twice the number.
		await importNetwork({ mode: "advise" }, {}, "0.8000");
		await publishAll();
		expect(await priceFor("good.example")).toBe(0.4);
		await importNetwork({ mode: "automatic" }, {}, "0.8000");
		await publishAll();
		expect(await priceFor("good.example")).toBeCloseTo(0.4, 2);
		const explained = await explainedPrice({ bd: "good.example" });
		expect(Number(explained?.price)).toBeCloseTo(0.4, 2);
		await pass(25);
		expect(await priceFor("good.example")).toBeCloseTo(0.4, 1);
		await importNetwork({ mode: "automatic" });
	});

	it("an overpaid campaign is bid less at night and by the hour, and one whose number changes is learned against at once", async () => {
		await store(28, [{ campaign: 5001, publisher: "clicker", clicks: 40, conversions: 2, payout: 8_000_000, paid: 16_000_000 }]);
		await pass(1);
		const held = async () => ((await priceFor("good.example", "clicker_rtb")) ?? 0) / ((await priceFor("good.example")) ?? 0);
		// Of 16 USD that are expected, and were paid, a day, as many came: nothing is held back but for caution.
		expect(await held()).toBeGreaterThan(0.9);
		const today = [5001, "clicker", "s", "", "homepage", dayOf(time)];
		await env.DB.prepare("INSERT INTO learning_clicks VALUES (?, ?, ?, ?, ?, ?, 10, 4000000, 500000000)")
			.bind(...today)
			.run();
		await pass(1);
		// (28 × 16 + 4 + 15) of (28 × 16 + 500) USD.
		const guarded = await held();
		expect(guarded).toBeGreaterThan(0.44);
		expect(guarded).toBeLessThan(0.5);
		// The number is halved: what was learned is reckoned against it, and the night after leaves the price where it is.
		await importNetwork({ mode: "automatic" }, {}, "0.2000");
		await publish(1);
		const after = await priceFor("good.example");
		expect(after).toBeGreaterThan(0.15);
		await pass(25);
		expect(Math.abs(((await priceFor("good.example")) ?? 0) / (after ?? 1) - 1)).toBeLessThan(0.1);
		expect(
			await rowsOf(
				"SELECT CASE WHEN CAST(published ->> 'factor' AS REAL) > 1.6 THEN 1 ELSE 0 END AS jumped FROM learning_factors WHERE campaign_id = 5001 AND name = ''",
			),
		).toEqual([{ jumped: 1 }]);
		await importNetwork({ mode: "automatic" });
	});

	it.each([
		["a hundredth more", "0.4040", [0.99, 1.01]],
		["twice as much", "0.8000", [0.99, 1.2]],
		["half as much", "0.2000", [0.8, 1.01]],
	] as const)("a price on its way goes on by a day's movement where its number is %s", async (_name, epc, [least, most]) => {
		await store(30, [{ campaign: 5001, clicks: 40, conversions: 12, payout: 8_000_000 }]);
		const all = () => Promise.all(["", "boots", "hats", "socks"].map((kw) => priceOf({ bd: "good.example", ...(kw !== "" && { kw }) })));
		const told = async () => {
			const prices = await Promise.all(
				["", "boots", "hats", "socks"].map((kw) => explainedPrice({ bd: "good.example", ...(kw !== "" && { kw }) })),
			);
			return prices.map((price) => Number(price?.price));
		};
		await pass(25);
		let before = await all();
		await importNetwork({ mode: "automatic" }, {}, epc);
		await publish(1);
		const changed = await all();
		expect(await told()).toEqual(changed);
		// What much was learned of stays about where it is.
		expect((changed[0] ?? 0) / (before[0] ?? 1)).toBeGreaterThan(least);
		expect((changed[0] ?? 0) / (before[0] ?? 1)).toBeLessThan(most);
		before = changed;
		const [fromNumber = 0] = changed;
		for (let day = 0; day < 3; day++) {
			await pass(25);
			const after = await all();
			for (const [at, price] of after.entries()) {
				expect(price / (before[at] ?? 1)).toBeLessThanOrEqual(1.25);
				expect(price / (before[at] ?? 1)).toBeGreaterThan(1.1);
			}
			expect(await told()).toEqual(after);
			// Whatever else has the book built again.
			await publishAll();
			expect(await all()).toEqual(after);
			before = after;
		}
		const changes = await rowsOf<{ keyword: string; operator_micros: number; epc_micros: number; why: string }>(
			"SELECT keyword, operator_micros, epc_micros, cause ->> 'why' AS why FROM learning_changes WHERE campaign_id = 5001 ORDER BY at, keyword",
		);
		const ofNumber = changes.find(({ keyword, why }) => keyword === "" && why === "number");
		expect(ofNumber?.operator_micros).toBe(Number(epc) * 1_000_000);
		expect((ofNumber?.epc_micros ?? 0) / 2_000_000).toBeCloseTo(fromNumber, 4);
		expect(changes.findLast(({ keyword }) => keyword === "")?.why).toBe("learned");
		await importNetwork({ mode: "automatic" });
	});

	it("starved campaigns creep upward where that is asked for, and those without any click, too", async () => {
		await importNetwork({ mode: "automatic", creep: 0.05 });
		await store(30, [{ campaign: 5001, clicks: 200, conversions: 20, payout: 4_000_000 }]);
		await tellAtOnce(30, 20);
		await store(3, [{ campaign: 5002, clicks: 1, conversions: 0, payout: 4_000_000 }]);
		const before = await priceFor("good.example");
		await passNights(3);
		expect(await priceFor("new.example")).toBeCloseTo(0.2 * 1.05 ** 2, 3);
		expect(await priceFor("bad.example")).toBeGreaterThan(0.19);
		expect(await priceFor("good.example")).toBeLessThan((before ?? 0) * 1.1);
		await passNights(3);
		expect(await priceFor("new.example")).toBeGreaterThan(0.2 * 1.05 ** 3);
		await importNetwork({ mode: "automatic", creep: 0 });
	});

	it("what crept ends at once where the operator ends creep, with clicks and without any", async () => {
		await importNetwork({ mode: "automatic", creep: 0.5 });
		await store(3, [{ campaign: 5002, clicks: 1, conversions: 0, payout: 4_000_000 }]);
		await passNights(2);
		const steered = async (): Promise<{ campaignId: number; creep: number }[]> =>
			db.all(sql`SELECT campaign_id AS "campaignId", CAST(steering ->> 'bidCreep' AS REAL) AS creep FROM learning_campaigns
				WHERE campaign_id IN (5002, 5003) ORDER BY campaign_id`);
		const crept = await Promise.all(["bad.example", "new.example"].map((domain) => priceFor(domain)));
		const creeps = (await steered()).map(({ creep }) => creep);
		expect(creeps).toEqual([1.5 ** 2, 1.5 ** 2]);
		await importNetwork({ mode: "automatic", creep: 0 });
		const after = await Promise.all(["bad.example", "new.example"].map((domain) => priceFor(domain)));
		for (const [at, price] of after.entries()) expect(price).toBeCloseTo((crept[at] ?? 0) / 1.5 ** 2, 3);
		await pass(25);
		// Whoever lets them creep again begins anew.
		expect((await steered()).map(({ creep }) => creep)).toEqual([1, null]);
	});

	it("what was learned of clicks that are forgotten leaves the book in that night", async () => {
		// Steps so large that no factor moves: guards alone do.
		await importNetwork({ mode: "automatic", publish_step: 0.2 });
		await store(30, [{ campaign: 5001, clicks: 40, conversions: 4, payout: 4_000_000 }]);
		await passNights(2);
		expect(await priceFor("good.example", "clicker_rtb")).toBeGreaterThan(0.18);
		await env.DB.batch(["clicks", "earnings"].map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)));
		await pass(25);
		// As a campaign that nothing is known of.
		expect(await priceFor("good.example", "clicker_rtb")).toBe(0.1423);
		await importNetwork({ mode: "automatic", publish_step: 0.06 });
	});

	it("a run that lasts into the next day is not overtaken", async () => {
		const rows = { campaign: 5001, clicks: 40, conversions: 4, payout: 4_000_000, publisher: "clicker", paid: 16_000_000 };
		await store(30, [rows]);
		await pass(25);
		const cell = [5001, "clicker", hashSource("s"), "", "homepage", dayOf(time)];
		await env.DB.prepare("INSERT INTO learning_clicks VALUES (?, ?, ?, ?, ?, ?, 40, 0, 400000000)")
			.bind(...cell)
			.run();
		// Two minutes before midnight, and five later.
		time = (dayOf(time) + 1) * DAY_MS - 2 * MINUTE_MS;
		setNow(new Date(time).toISOString());
		let goOn: (() => void) | undefined;
		const held = new Promise<void>((resolve) => {
			goOn = resolve;
		});
		let hasRead: (() => void) | undefined;
		const reading = new Promise<void>((resolve) => {
			hasRead = resolve;
		});
		const late = openDatabase({
			...(env.DB as object),
			batch: env.DB.batch.bind(env.DB),
			prepare: (text: string) => {
				const statement = env.DB.prepare(text);
				return text.includes("FROM learning_clicks k LEFT JOIN") ? holdBackAnswer(statement, held, () => hasRead?.()) : statement;
			},
		} as D1Database);
		const slow = sweepLearning({ db: late, kv: env.BOOK, now: () => Date.now() }, () => true);
		await reading;
		await pass(5 / 60);
		goOn?.();
		await slow;
		await pass(1);
		const paid = await rowsOf("SELECT steering ->> 'balance' AS balance FROM learning_campaigns WHERE campaign_id = 5001");
		// Four weeks of 16 USD a day, give or take a week that is one row, and what was paid that day.
		expect(JSON.parse(String(paid[0]?.balance)).paidMicros).toBeGreaterThan(15 * 16_000_000 + 400_000_000);
	});

	it("an hour that was cut off and goes on a day later moves prices by a day's limits of then, and the next hour no further", async () => {
		await store(30, [{ campaign: 5001, clicks: 40, conversions: 8, payout: 8_000_000 }]);
		await learn(25);
		const factorOf = async () => {
			const [row] = await rowsOf("SELECT published FROM learning_factors WHERE level = 'price' AND campaign_id = 5001 AND name = ''");
			return Number(JSON.parse(String(row?.published)).factor);
		};
		const before = await factorOf();
		const hourOf = async () => JSON.parse(String((await rowsOf("SELECT value FROM learning_work WHERE name = 'publishing'"))[0]?.value));
		time += 25 * HOUR_MS;
		setNow(new Date(time).toISOString());
		// One slice a run.
		for (let runs = 0; runs < 20 && (await hourOf()).step !== "factors"; runs++) {
			let slices = 1;
			await sweepLearning({ db, kv: env.BOOK, now: () => Date.now() }, () => slices-- > 0);
		}
		expect(await hourOf()).toMatchObject({ step: "factors", at: time });
		await learn(26);
		await learn(1);
		expect((await factorOf()) / before).toBeGreaterThan(1.1);
		expect((await factorOf()) / before).toBeLessThanOrEqual(1.25 ** 0.7 + 1e-9);
	});

	it("guards hold until the last learned price has left the book", async () => {
		await store(30, [{ campaign: 5001, clicks: 40, conversions: 4, payout: 8_000_000, publisher: "clicker", paid: 16_000_000 }]);
		await passNights(2);
		const guarded = await priceFor("good.example", "clicker_rtb");
		expect(guarded).toBeLessThan((await priceFor("good.example")) ?? 0);
		await env.DB.prepare("UPDATE network_settings SET epc_learning = NULL").run();
		await markAll();
		// No room for any chunk: the book says what it is made of, and goes on the next minute.
		const cut = await publishBook({ db, kv: env.BOOK, now: () => Date.now(), bookFormat: 1 }, false, { statements: 35, keys: 40 });
		expect(cut.complete).toBe(false);
		time += HOUR_MS / 2;
		setNow(new Date(time).toISOString());
		expect(await priceFor("good.example", "clicker_rtb")).toBe(guarded);
		await publish(1);
		expect(await priceFor("good.example", "clicker_rtb")).toBe(0.2);
		expect(await env.BOOK.get(MANIFEST_KEY)).not.toContain("learned");
		await importNetwork({ mode: "automatic", rise: 1.3 });
		await importNetwork({ mode: "automatic" });
	});

	it("a night that breaks once campaigns are closed leaves yesterday's prices until one ends; guards go on", async () => {
		const sold = { clicks: 40, conversions: 2, payout: 8_000_000 };
		await store(30, [
			{ campaign: 5001, publisher: "clicker", paid: 16_000_000, ...sold },
			{ campaign: 5002, ...sold },
		]);
		await passNights(3);
		const prices = () => Promise.all([priceFor("good.example"), priceFor("bad.example")]);
		const before = await prices();
		const held = await priceFor("good.example", "clicker_rtb");
		const size = sizeClassOf(1_000_000);
		await env.DB.prepare("UPDATE learning_earnings SET conversions = 1, net_micros = 1000000, size_class = ? WHERE campaign_id = 5002")
			.bind(size)
			.run();
		const cell = [5001, "clicker", placeOf("s"), "", "homepage", dayOf(time) + 1];
		await env.DB.prepare("ALTER TABLE learning_traffic RENAME TO learning_traffic_gone").run();
		try {
			time = (dayOf(time) + 1) * DAY_MS;
			for (let hour = 0; hour < 3; hour++) {
				await expect(pass(1)).rejects.toThrow();
				await publish(1);
				if (hour === 0) {
					const paid = env.DB.prepare("INSERT INTO learning_clicks VALUES (?, ?, ?, ?, ?, ?, 10, 4000000, 500000000)");
					await paid.bind(...cell).run();
				}
			}
			expect(await prices()).toEqual(before);
			expect(await priceFor("good.example", "clicker_rtb")).toBeLessThan((held ?? 0) * 0.7);
		} finally {
			await env.DB.prepare("ALTER TABLE learning_traffic_gone RENAME TO learning_traffic").run();
		}
		await pass(1);
		expect((await prices())[1]).toBeLessThan((before[1] ?? 0) * 0.95);
	});

	it("a day of which a run whose clock was ahead had its night already has one when it comes", async () => {
		await store(30, [{ campaign: 5001, clicks: 40, conversions: 2, payout: 8_000_000 }]);
		await learn(25);
		for (const ahead of [24, 48]) {
			await learn(ahead);
			await learn(-ahead);
		}
		for (let day = 0; day < 2; day++) {
			await learn(24);
			const [row] = await rowsOf("SELECT day FROM learning_campaigns WHERE campaign_id = 5001");
			const [night] = await rowsOf(`SELECT finished_at FROM learning_nights WHERE day = ${dayOf(time)}`);
			expect({ ...row, ...night }).toEqual({ day: dayOf(time), finished_at: time });
		}
	});

	it("a run whose clock is far ahead changes nothing and says so; one that stays ahead is believed in a day", async () => {
		await store(30, [
			{ campaign: 5001, clicks: 40, conversions: 4, payout: 8_000_000 },
			{ campaign: 5002, clicks: 40, conversions: 1, payout: 4_000_000 },
		]);
		await passNights(2);
		const kept = async () => [
			await rowsOf("SELECT count(*) AS rows FROM learning_clicks"),
			await rowsOf("SELECT count(*) AS rows FROM learning_earnings"),
			await rowsOf("SELECT day, finished_at FROM learning_nights ORDER BY day"),
			await rowsOf("SELECT * FROM learning_factors ORDER BY campaign_id, level, name"),
		];
		const before = await kept();
		const was = time;
		await pass(365 * 24);
		time = was;
		setNow(new Date(time).toISOString());
		expect(await kept()).toEqual(before);
		const state = await exports.default.fetch("https://base.example/operator/learning", { headers: OPERATOR_HEADERS });
		expect((await state.json<{ publishing: object }>()).publishing).toMatchObject({
			fault: { message: expect.stringContaining("365 days beyond") },
		});
		await pass(1);
		expect(await rowsOf("SELECT name FROM learning_work WHERE name IN ('clock ahead', 'publishing fault')")).toEqual([]);
		// A few days without clicks or runs are no fault, and of more the clock is believed once it has stayed.
		await pass(3 * 24);
		let refused = 0;
		for (let run = 0; run < 70; run++) {
			await learn(run === 0 ? 20 * 24 : 1);
			refused += (await rowsOf("DELETE FROM learning_work WHERE name = 'publishing fault' RETURNING name")).length;
		}
		expect(refused).toBe(59);
		const [night] = await rowsOf<{ day: number }>("SELECT max(day) AS day FROM learning_nights WHERE finished_at IS NOT NULL");
		expect(night?.day).toBe(dayOf(time));
	});
});
