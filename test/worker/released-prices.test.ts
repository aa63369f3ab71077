/** Learned prices that are bid where the operator's numbers were: they set out from those, and move by no more than a day's limits a day. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Explanation } from "../../src/bidding/explain-answer.ts";
import { publishBook } from "../../src/campaign-book/publisher/publish.ts";
import { openDatabase } from "../../src/db/client.ts";
import { writePublished } from "../../src/learning/stored.ts";
import { writeLearnedKey } from "../../src/learning-night/write-learned-key.ts";
import { tidyLearning } from "../../src/learning-rows/tidy.ts";
import { hashSource } from "../../src/lib/hash.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/time.ts";
import type { Prices } from "../../src/operator/learning/learning-answers.ts";
import { rowsOf } from "../support/click-messages.ts";
import { setNow } from "../support/load-network.ts";
import { ACME, brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

const db = openDatabase(env.DB);
let time = Date.parse("2026-11-18T00:10:00Z");

/** In force: of campaigns, and of sources of the publisher. */
const PRICES = { 7001: 2, 7002: 0.3 };
const SOURCES = { top: 2, rotten: 0.2 };

async function pass(hours: number): Promise<void> {
	time += hours * HOUR_MS;
	setNow(new Date(time).toISOString());
}

/** Publishes all of the book in a format, to be read by the next bid. */
async function publish(bookFormat: 1 | 2 = 1): Promise<void> {
	await env.DB.prepare(
		"INSERT INTO book_dirty_slots (slot, mark) SELECT DISTINCT slot, 1 FROM book_keys WHERE true ON CONFLICT DO NOTHING",
	).run();
	await publishBook({ db, kv: env.BOOK, now: () => Date.now(), bookFormat });
	await pass(0.5);
}

const campaign = (id: number, learning: object | null = null) =>
	brandEntry(`brand-${id}.example`, id, {}, { epc: "0.4000", keyword_epc: { boots: "0.8000" }, epc_learning: learning });
const acme = (learning: object | null) => ({ ...ACME, epc_learning: learning });

type File = { network?: object; publisher?: object | null; campaigns?: Record<number, object | null> };

async function importLearning({ network, publisher, campaigns = {} }: File): Promise<void> {
	await importFile({
		...(network !== undefined && { epc_learning: network }),
		...(publisher !== undefined && { publishers: [acme(publisher)] }),
		brands: Object.entries(campaigns).map(([id, learning]) => campaign(Number(id), learning)),
	});
	await pass(0.1);
}

async function ask(id: number, query: Record<string, string> = {}): Promise<number> {
	const asked = new URLSearchParams({ pubi: "1001", cc: "US", bd: `brand-${id}.example`, ...query });
	const response = await exports.default.fetch(`https://rtb.example/serving-engine?${asked}`);
	if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
	const price = Number((await response.json<{ bid_amount: string }>()).bid_amount);
	// Whoever asks why is told of the same price.
	const explained = await exports.default.fetch("https://base.example/operator/explain", {
		method: "POST",
		headers: { ...OPERATOR_HEADERS, "content-type": "application/json" },
		body: JSON.stringify({ publisher_id: "1001", query: { cc: "US", bd: `brand-${id}.example`, ...query } }),
	});
	const { prices } = await explained.json<Explanation>();
	if (prices !== undefined) expect(Number(prices[0]?.price)).toBe(price);
	return price;
}

beforeAll(async () => {
	setNow(new Date(time).toISOString());
	await importFile({ platforms: [NORTHWIND], publishers: [ACME] });
});

beforeEach(async () => {
	await pass(72);
	await env.DB.batch(["factors", "work"].map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)));
	await importLearning({ network: { mode: "off" }, publisher: null, campaigns: { 7001: null, 7002: null, 7003: null } });
	await env.DB.prepare("DELETE FROM learning_work").run();
	const published = (factor: number) => writePublished({ factor, at: time, before: [] });
	const insert =
		"INSERT INTO learning_factors (level, campaign_id, publisher_id, name, published, target, moving) VALUES (?, ?, ?, ?, ?, ?, 0)";
	await env.DB.batch([
		...Object.entries(PRICES).flatMap(([id, factor]) =>
			["", "*", "*listed"].map((name) => env.DB.prepare(insert).bind("price", Number(id), "", name, published(factor), String(factor))),
		),
		...Object.entries(SOURCES).map(([name, factor]) =>
			env.DB.prepare(insert).bind("source", 0, "acme", hashSource(name), published(factor), String(factor)),
		),
	]);
	await writeLearnedKey(db, env.BOOK);
});

describe("worker: learned prices where the operator's numbers were bid", () => {
	it("a publisher that is taken out of advise is bid what is learned by a day's movement a day", async () => {
		await importLearning({ network: { mode: "automatic" }, publisher: { mode: "advise" } });
		await publish();
		expect(await Promise.all([ask(7001), ask(7002), ask(7002, { subid: "rotten" })])).toEqual([0.2, 0.2, 0.2]);
		await importLearning({ publisher: null });
		for (const format of [1, 2] as const) {
			await publish(format);
			expect(await Promise.all([ask(7001), ask(7001, { subid: "top" }), ask(7002), ask(7002, { subid: "rotten" })])).toEqual([
				0.25, 0.25, 0.12, 0.12,
			]);
			expect(await ask(7001, { kw: "boots" })).toBe(0.5);
		}
		await publish(1);
		const links = await exports.default.fetch("https://base.example/api/links", {
			method: "POST",
			headers: { AccessKey: ACME.access_key },
			body: JSON.stringify({ urls: ["https://brand-7002.example/"], subi: "rotten" }),
		});
		const { data } = await links.json<{ data: { price: string }[] }>();
		expect(data).toMatchObject([{ price: "0.1200" }]);
		let before = [0.25, 0.25, 0.12, 0.12];
		for (let day = 0; day < 12; day++) {
			await pass(24);
			const prices = await Promise.all([ask(7001), ask(7001, { subid: "top" }), ask(7002), ask(7002, { subid: "rotten" })]);
			for (const [at, price] of prices.entries()) {
				expect(price / (before[at] ?? 0)).toBeLessThanOrEqual(1.25 + 1e-3);
				expect(price / (before[at] ?? 0)).toBeGreaterThanOrEqual(0.6 - 1e-2);
			}
			before = prices;
		}
		expect(before).toEqual([0.4, 0.8, 0.06, 0.012]);
		// Advised again it is bid the operator's numbers, at once.
		await importLearning({ publisher: { mode: "off" } });
		await publish();
		expect(await ask(7001)).toBe(0.2);
	});

	it("a campaign that becomes automatic is bid what its traffic is worth by a day's movement a day, a new one at once", async () => {
		await importLearning({ network: { mode: "automatic" }, campaigns: { 7003: { mode: "advise" } } });
		// The network has been automatic for long.
		await env.DB.prepare("DELETE FROM learning_work").run();
		await publish();
		expect(await ask(7003, { subid: "rotten" })).toBe(0.2);
		await importLearning({ campaigns: { 7003: null, 7004: null } });
		for (const format of [1, 2] as const) {
			await publish(format);
			expect(await Promise.all([ask(7003, { subid: "rotten" }), ask(7003, { subid: "top" }), ask(7003)])).toEqual([0.12, 0.25, 0.2]);
			expect(await ask(7004, { subid: "rotten" })).toBe(0.04);
			expect(await ask(7002, { subid: "rotten" })).toBe(0.012);
		}
		await pass(24);
		expect(await Promise.all([ask(7003, { subid: "rotten" }), ask(7003, { subid: "top" })])).toEqual([0.072, 0.3125]);
		await pass(24 * 4);
		expect(await Promise.all([ask(7003, { subid: "rotten" }), ask(7003, { subid: "top" })])).toEqual([0.04, 0.4]);
		// An unpinned one sets out anew, and what was long ago is forgotten.
		await importLearning({ campaigns: { 7003: { pin: true } } });
		await importLearning({ campaigns: { 7003: { pin: false } } });
		await publish();
		expect(await ask(7003, { subid: "rotten" })).toBe(0.12);
		const releases = () => rowsOf("SELECT name FROM learning_work WHERE name LIKE 'released %'");
		expect(await releases()).toEqual([{ name: "released campaign 7003" }]);
		await tidyLearning(db, Math.floor(time / DAY_MS) + 502, () => true);
		expect(await releases()).toEqual([]);
	});

	it("a campaign's prices are shown as they are bid, with since when they set out from the operator's numbers", async () => {
		const shown = async (id: number) => {
			const response = await exports.default.fetch(`https://base.example/operator/learning/prices?campaign=${id}`, {
				headers: OPERATOR_HEADERS,
			});
			const { released_at, numbers } = await response.json<Prices>();
			return [released_at, ...numbers.map(({ epc }) => Number(epc))];
		};
		expect(await shown(7001)).toEqual([null, 0.4, 0.4, 0.8]);
		const at = new Date(time).toISOString();
		await importLearning({ network: { mode: "automatic" } });
		await publish();
		expect([await ask(7001), await ask(7002)]).toEqual([0.25, 0.12]);
		expect([await shown(7001), await shown(7002)]).toEqual([
			[at, 0.5, 0.5, 1],
			[at, 0.24, 0.24, 0.48],
		]);
		await pass(24);
		expect(await shown(7001)).toEqual([at, 0.625, 0.625, 1.25]);
		await importLearning({ network: { mode: "advise" } });
		expect(await shown(7001)).toEqual([null, 0.4, 0.4, 0.8]);
	});

	it("so is a network that follows campaigns of its own, and none of them", async () => {
		await importLearning({ network: { mode: "advise" }, campaigns: { 7001: { mode: "automatic" } } });
		await pass(24 * 30);
		await publish();
		expect(await Promise.all([ask(7001, { subid: "rotten" }), ask(7003, { subid: "rotten" })])).toEqual([0.08, 0.2]);
		await importLearning({ network: { mode: "automatic" } });
		await publish();
		expect(await Promise.all([ask(7001, { subid: "rotten" }), ask(7003, { subid: "rotten" })])).toEqual([0.08, 0.12]);
	});
});
