/** The consumer of the click queue on real D1: each click once, whatever the queue does. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MAX_SOURCES_PER_DAY } from "../../src/clicks/consumer/batch-bounds.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { openDatabase } from "../../src/db/client.ts";
import { CLICKED_AT, capDeps, checkCounters, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const CPC = {
	...ACME,
	id: "cpc",
	publisher_id: "1002",
	publisher_identity: "cpc_rtb",
	access_key: "access-key-cpc",
	publisher_key: "publisher-key-cpc",
	pricing_model: "CPC",
};
/** Notes how long the values are that a statement is given. */
function measured(statement: D1PreparedStatement, sizes: number[]): D1PreparedStatement {
	const bind = statement.bind.bind(statement);
	statement.bind = (...values) => {
		for (const value of values) if (typeof value === "string") sizes.push(value.length);
		return bind(...values);
	};
	return statement;
}

const reasons = async () => (await rowsOf("SELECT reason FROM clicks ORDER BY clicked_at, id")).map(({ reason }) => reason);

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [ACME, CPC],
		brands: [brandEntry("shoes.example", 5001, {}, { timezone: "America/New_York" }), brandEntry("boots.example", 5002)],
	});
});

beforeEach(async () => {
	await forgetTraffic();
});

describe("worker: clicks are written once and counted once", () => {
	it("a message that comes twice, in one batch or in two, changes nothing", async () => {
		const [first, second] = [clickMessage(), clickMessage()];
		await consumeClicks(capDeps(), letters(first, first));
		await consumeClicks(capDeps(), letters(first, second, first));
		expect(await reasons()).toEqual([null, null]);
		expect(await checkCounters()).toBe(2);
	});

	it("a batch of the longest texts there can be is written whole: no value passes what the database takes", async () => {
		const long = "\\".repeat(2_048);
		const texts = { clickid: long, subi: long, psorc: long, pcat: long, subid1: long, subid2: long, subid3: long };
		const messages = Array.from({ length: 100 }, () => clickMessage({ texts }));
		const sizes: number[] = [];
		const prepare: D1Database["prepare"] = (query) => measured(env.DB.prepare(query), sizes);
		const db = openDatabase({ prepare, batch: (all: D1PreparedStatement[]) => env.DB.batch(all) } as D1Database);
		await consumeClicks({ ...capDeps(), db }, letters(...messages));
		expect(await checkCounters()).toBe(100);
		expect(Math.max(...sizes)).toBeLessThan(2_000_000);
		expect(await rowsOf("SELECT DISTINCT publisher_click_id AS clickid, subi, psorc, pcat, subid1, subid2, subid3 FROM clicks")).toEqual([
			texts,
		]);
	});

	it("of the calls of one auction's URL one is billed, and the others are recorded as duplicates", async () => {
		const first = clickMessage();
		const again = { ...clickMessage({ at: CLICKED_AT + 1 }), hash: first.hash };
		const later = { ...clickMessage({ at: CLICKED_AT + 2 }), hash: first.hash };
		await consumeClicks(capDeps(), letters(again, first));
		await consumeClicks(capDeps(), letters(later, again));
		expect(await reasons()).toEqual([null, "duplicate", "duplicate"]);
		expect(await checkCounters()).toBe(1);
	});

	it("those of an IPv6 network of 48 bits are counted by hour and publisher, however often they come, and only paid ones", async () => {
		const ipPrefix = "2001:db8:85a3::/48";
		const messages = [
			clickMessage({ ipPrefix }),
			clickMessage({ ipPrefix, at: CLICKED_AT + 1 }),
			clickMessage({ ipPrefix, reason: "bot" }),
			clickMessage({ ipPrefix, at: CLICKED_AT + 3_600_000 }),
			clickMessage({ ipPrefix, publisher: "cpc_rtb" }),
			clickMessage({ ipPrefix: "203.0.113.0/24" }),
		];
		for (let time = 0; time < 2; time++) await consumeClicks(capDeps(), letters(...messages));
		await consumeClicks(capDeps(), letters(clickMessage({ ipPrefix })));
		const hour = CLICKED_AT / 3_600_000;
		expect(await rowsOf("SELECT publisher_id, network, hour, click_count FROM paid_networks ORDER BY publisher_id, hour")).toEqual([
			{ publisher_id: "acme", network: ipPrefix, hour, click_count: 3 },
			{ publisher_id: "acme", network: ipPrefix, hour: hour + 1, click_count: 1 },
			{ publisher_id: "cpc", network: ipPrefix, hour, click_count: 1 },
		]);
	});

	it("a call that does not count never uses up the click that follows it", async () => {
		const { hash } = clickMessage();
		for (const reason of ["head", "prefetch", "bot", "test", "expired"] as const) {
			await consumeClicks(capDeps(), letters(clickMessage({ hash, reason })));
		}
		await consumeClicks(capDeps(), letters(clickMessage({ hash, at: CLICKED_AT + 1 })));
		expect((await reasons()).filter((reason) => reason === null)).toHaveLength(1);
		expect(await checkCounters()).toBe(1);
	});

	it("property: any order, any repetition, any batches: one billed click a hash, and counters that agree", async () => {
		const hashes = Array.from({ length: 4 }, (_, at) => String(at).repeat(32));
		const message = fc.record({
			hash: fc.constantFrom(...hashes),
			publisher: fc.constantFrom("acme_rtb", "cpc_rtb", "nobody"),
			campaignId: fc.constantFrom(5001, 5002, 9999),
			reason: fc.constantFrom(undefined, undefined, undefined, "bot" as const),
			at: fc.integer({ min: CLICKED_AT - 86_400_000, max: CLICKED_AT }),
			subi: fc.constantFrom(undefined, "a", "b"),
		});
		const deliveries = fc
			.array(message, { minLength: 1, maxLength: 8 })
			.chain((of) =>
				fc.tuple(fc.constant(of), fc.array(fc.array(fc.nat({ max: of.length - 1 }), { minLength: 1, maxLength: 8 }), { maxLength: 5 })),
			);
		await fc.assert(
			fc
				.asyncProperty(deliveries, async ([facts, batches]) => {
					const messages = facts.map(({ subi, reason, ...fields }, at) =>
						clickMessage({
							...fields,
							id: `click-${at}`,
							...(reason !== undefined && { reason }),
							...(subi !== undefined && { texts: { subi } }),
						}),
					);
					for (const batch of batches) await consumeClicks(capDeps(), letters(...batch.map((at) => messages[at])));
					// In the end the queue has delivered everything at least once.
					await consumeClicks(capDeps(), letters(...messages));
					const billable = new Set(messages.filter(({ reason }) => reason === undefined).map(({ hash }) => hash));
					const [written] = await rowsOf<{ count: number }>("SELECT count(*) AS count FROM clicks");
					expect(written?.count).toBe(messages.length);
					const [billed] = await rowsOf<{ count: number }>("SELECT count(*) AS count FROM clicks WHERE reason IS NULL");
					expect(billed?.count).toBe(billable.size);
					if (!messages.some(({ publisher }) => publisher === "nobody")) expect(await checkCounters()).toBe(billable.size);
				})
				.beforeEach(async () => {
					await forgetTraffic();
				}),
			{ numRuns: 40 },
		);
	});

	it("a batch that the database refuses is written by its next delivery", async () => {
		const message = clickMessage();
		const broken = {
			...capDeps(),
			db: new Proxy(capDeps().db, {
				get: () => {
					throw new Error("D1 is down");
				},
			}),
		};
		await expect(consumeClicks(broken, letters(message))).rejects.toThrow("D1 is down");
		await consumeClicks(capDeps(), letters(message));
		expect(await checkCounters()).toBe(1);
	});
});

describe("worker: what a click is worth", () => {
	it("the bid; it is revenue only to a publisher paid by click", async () => {
		await consumeClicks(capDeps(), letters(clickMessage(), clickMessage({ publisher: "cpc_rtb", at: CLICKED_AT + 1 })));
		expect(await rowsOf("SELECT publisher_id, pricing_model, bid_micros, revenue_micros FROM clicks ORDER BY id")).toEqual([
			{ publisher_id: "acme", pricing_model: "CPA", bid_micros: 200_000, revenue_micros: 0 },
			{ publisher_id: "cpc", pricing_model: "CPC", bid_micros: 200_000, revenue_micros: 200_000 },
		]);
		expect(await checkCounters()).toBe(2);
	});

	it("a click that does not count earns nothing", async () => {
		await consumeClicks(capDeps(), letters(clickMessage({ publisher: "cpc_rtb", reason: "bot" })));
		expect(await rowsOf("SELECT revenue_micros FROM clicks")).toEqual([{ revenue_micros: 0 }]);
		expect(await rowsOf("SELECT * FROM daily_publishers")).toEqual([]);
	});

	it("a tracking link whose worth the redirect could not tell: EPC × share, found by a former identity too", async () => {
		await env.DB.prepare(
			"INSERT INTO publisher_names (kind, value, publisher_id) VALUES ('publisher_identity', 'cpc_of_old', 'cpc')",
		).run();
		const { bidMicros: _, ...message } = clickMessage({ kind: "link", publisher: "cpc_of_old" });
		await consumeClicks(capDeps(), letters(message));
		expect(await rowsOf("SELECT publisher_id, bid_micros, revenue_micros FROM clicks")).toEqual([
			{ publisher_id: "cpc", bid_micros: 200_000, revenue_micros: 200_000 },
		]);
	});

	it("days of reports are UTC days, days of caps those of the campaign's clocks", async () => {
		await consumeClicks(capDeps(), letters(clickMessage({ at: Date.parse("2026-11-18T03:00:00Z") })));
		expect(await rowsOf("SELECT date FROM daily_publishers")).toEqual([{ date: "2026-11-18" }]);
		expect(await rowsOf("SELECT day, click_count, spend_micros FROM campaign_days")).toEqual([
			{ day: "2026-11-17", click_count: 1, spend_micros: 200_000 },
		]);
	});
});

describe("worker: sources of a day that has as many as may be", () => {
	it("one with a sale on the day before keeps its name; others of links do not", async () => {
		const ofLink = (subi: string, days = 0, publisher = "acme_rtb") =>
			clickMessage({ kind: "link", publisher, texts: { subi }, at: CLICKED_AT + days * 86_400_000 });
		const take = (...clicks: ClickMessage[]) => consumeClicks(capDeps(), letters(...clicks));
		await take(ofLink("old"), ofLink("seen"), ofLink("theirs", 0, "cpc_rtb"));
		await env.DB.prepare("UPDATE daily_sources SET conversion_count = 1 WHERE source_id <> 'seen'").run();
		await take(ofLink("first", 1));
		await env.DB.prepare("UPDATE daily_publishers SET source_count = ? WHERE date = '2026-11-19'").bind(MAX_SOURCES_PER_DAY).run();
		await take(ofLink("old", 1), ofLink("new", 1), ofLink("theirs", 1), ofLink("OLD", 1), ofLink("seen", 1));
		await take(ofLink("old", 2));
		const sources = await rowsOf(
			"SELECT date, source_id, click_count FROM daily_sources WHERE publisher_id = 'acme' ORDER BY date, source_id",
		);
		expect(sources.map(({ date, source_id, click_count }) => [date, source_id, click_count])).toEqual([
			["2026-11-18", "old", 1],
			["2026-11-18", "seen", 1],
			["2026-11-19", "first", 1],
			["2026-11-19", "old", 1],
			["2026-11-19", "other", 4],
			["2026-11-20", "old", 1],
		]);
	});
});

describe("worker: messages of other versions, and of no version", () => {
	it("unknown fields are ignored", async () => {
		await consumeClicks(capDeps(), letters({ ...clickMessage(), device: { kind: "phone" }, texts: { clickid: "c", subid9: "x" } }));
		expect(await rowsOf("SELECT publisher_click_id FROM clicks")).toEqual([{ publisher_click_id: "c" }]);
	});

	it("a body that is no click becomes a dead letter, and the rest of its batch is written", async () => {
		const strange = [
			null,
			7,
			"text",
			{},
			{ ...clickMessage(), format: 2 },
			{ ...clickMessage(), hash: "short" },
			{ ...clickMessage(), bidMicros: -1 },
		];
		await consumeClicks(capDeps(), letters(clickMessage(), ...strange, clickMessage()));
		expect(await checkCounters()).toBe(2);
		expect(await rowsOf("SELECT count(*) AS count, queue FROM dead_letters GROUP BY queue")).toEqual([
			{ count: strange.length, queue: "clicks" },
		]);
	});

	it("text of any kind is kept as it is", async () => {
		const texts = { clickid: "'; DROP TABLE clicks; --", subi: '"\\', psorc: "наш источник 😀", subid1: "<b>", uid: "a\u2028b" };
		await consumeClicks(capDeps(), letters(clickMessage({ texts })));
		expect(await rowsOf("SELECT publisher_click_id AS clickid, subi, psorc, subid1, uid FROM clicks")).toEqual([texts]);
	});
});
