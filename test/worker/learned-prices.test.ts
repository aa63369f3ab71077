/** Learned prices from rows to bids, through the cron: the night learns, the hours publish, the book has it, the bid is moved. */
import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { dayOf } from "../../src/learning/cohorts.ts";
import { sizeClassOf } from "../../src/learning/size-class.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/time.ts";
import worker from "../../src/worker.ts";
import { rowsOf } from "../support/click-messages.ts";
import { setNow } from "../support/load-network.ts";
import { ACME, brandEntry, importFile, NORTHWIND, priceFor } from "../support/network-import.ts";

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

/** Some hours later, the cron of two minutes: the second publishes what the first has marked, whatever their order. */
async function pass(hours = 1): Promise<void> {
	time += hours * HOUR_MS;
	for (const at of [time, time + 5 * 60_000]) {
		setNow(new Date(at).toISOString());
		await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date(at) }), env);
	}
	setNow(new Date(time + 30 * 60_000).toISOString());
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

/** Clicks of each of the last days, and what they earned. */
async function store(days: number, rows: readonly Row[]): Promise<void> {
	const statements = rows.flatMap(
		({ campaign, publisher = "acme", source = "s", keyword = "", link = "homepage", clicks, conversions, payout, paid = 0 }) =>
			Array.from({ length: days }, (_, at) => {
				const cell = [campaign, publisher, source, keyword, link, dayOf(time) - 1 - at];
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

async function importNetwork(learning: object): Promise<void> {
	await importFile({
		epc_learning: learning,
		platforms: [NORTHWIND],
		publishers: [ACME, CLICKER],
		brands: [brandEntry("good.example", 5001), brandEntry("bad.example", 5002), brandEntry("new.example", 5003)],
	});
}

beforeAll(async () => {
	setNow(new Date(START).toISOString());
	await importNetwork({ mode: "automatic" });
});

beforeEach(async () => {
	const tables = ["clicks", "earnings", "campaigns", "traffic", "factors", "changes", "nights", "work"];
	await env.DB.batch(tables.map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)));
	time += 2 * DAY_MS;
	setNow(new Date(time).toISOString());
});

describe("worker: learned prices", () => {
	it("what clicks earned moves the next bids, by the day's limits", async () => {
		// Of 40 clicks a day at 0.40 each 16 USD are expected: one earns twice as much, the other a quarter.
		await store(60, [
			{ campaign: 5001, clicks: 40, conversions: 4, payout: 8_000_000 },
			{ campaign: 5002, clicks: 40, conversions: 1, payout: 4_000_000 },
		]);
		expect(await Promise.all(["good.example", "bad.example", "new.example"].map((domain) => priceFor(domain)))).toEqual([0.2, 0.2, 0.2]);
		await pass();
		expect(await rowsOf("SELECT day, fault, finished_at > 0 AS done FROM learning_nights")).toEqual([
			{ day: dayOf(time), fault: null, done: 1 },
		]);
		expect(await priceFor("good.example")).toBe(0.25);
		expect(await priceFor("bad.example")).toBe(0.12);
		expect(await priceFor("new.example")).toBe(0.2);
		await pass();
		expect(await priceFor("good.example")).toBe(0.25);
		for (let day = 0; day < 5; day++) await pass(25);
		expect(await priceFor("good.example")).toBeGreaterThan(0.35);
		expect(await priceFor("bad.example")).toBeLessThan(0.08);
		expect(await priceFor("new.example")).toBe(0.2);
	});
});
