/** What a night and an hour of learning read of the database: of campaigns and days that no click tells of, nothing. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { dayOf } from "../../src/learning/cohorts.ts";
import { holdGuards } from "../../src/learning-night/hold-guards.ts";
import { readPayouts } from "../../src/learning-night/read-payouts.ts";
import { runNight } from "../../src/learning-night/run-night.ts";
import { countRows } from "../bench/counted-d1.ts";
import { rowsOf } from "../support/click-messages.ts";
import { ON_D1 } from "../support/engine.ts";
import { brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { countRows as countStatements } from "../support/row-counts.ts";

const NOW = Date.parse("2026-11-18T00:10:00Z");
const TODAY = dayOf(NOW);
const NETWORK = { mode: "automatic" } as const;
const WITH_CLICKS = [6001, 6002, 6003];
const WITHOUT = 3_000;

/** Rows of the database that are read by a night, and by an hour's guards after it. */
async function readsOf() {
	const { db: counted, counts } = countRows(env.DB);
	const db = openDatabase(counted);
	await env.DB.batch(["campaigns", "factors", "nights", "work"].map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)));
	expect(await runNight({ db, now: () => NOW }, NETWORK, TODAY, { rows: 1_000_000, mayGoOn: () => true })).toBe(true);
	expect(await rowsOf("SELECT campaign_id AS id FROM learning_campaigns")).toEqual(WITH_CLICKS.map((id) => ({ id })));
	const night = counts.rowsRead;
	const guards: number[] = [];
	for (const all of [false, true]) {
		const before = counts.rowsRead;
		expect(await holdGuards(db, NETWORK, { day: TODAY, after: 0, all })).toBeNull();
		guards.push(counts.rowsRead - before);
	}
	return { night, guards };
}

/** Clicks of each campaign on each of this many days: today, and those before. */
function addClicks(keyword: string, firstAge: number, days: number): Promise<unknown> {
	return env.DB.batch(
		WITH_CLICKS.flatMap((campaign) =>
			Array.from({ length: days }, (_, at) =>
				env.DB.prepare("INSERT INTO learning_clicks VALUES (?, 'p1', 's1', ?, 'homepage', ?, 10, 4000000, 3000000)").bind(
					campaign,
					keyword,
					TODAY - firstAge - at,
				),
			),
		),
	);
}

describe.runIf(ON_D1)("worker: what learning reads", () => {
	beforeAll(async () => {
		await importFile({ platforms: [NORTHWIND], brands: WITH_CLICKS.map((id) => brandEntry(`brand-${id}.example`, id)) });
		await addClicks("", 0, 30);
	});

	it("is no more where more campaigns have no clicks", async () => {
		const before = await readsOf();
		const columns = (await rowsOf<{ name: string }>("SELECT name FROM pragma_table_info('campaigns')")).map(({ name }) => `"${name}"`);
		const copied = columns.map((name) => (name === '"campaign_id"' ? "6003 + key + 1" : `c.${name}`)).join();
		const keys = `json_each('${JSON.stringify(Array.from({ length: WITHOUT }, () => 0))}')`;
		await env.DB.prepare(
			`INSERT INTO campaigns (${columns.join()}) SELECT ${copied} FROM campaigns c, ${keys} WHERE campaign_id = 6003`,
		).run();
		expect(await readsOf()).toEqual(before);
	});

	it("is, of factors, those of a page's campaigns alone", async () => {
		await env.DB.batch(["campaigns", "factors", "nights", "work"].map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)));
		await env.DB.prepare("INSERT INTO learning_factors SELECT 'price', atom, '', '*', '{}', '1.5', 0 FROM json_each(?)")
			.bind(JSON.stringify(Array.from({ length: WITHOUT }, (_, at) => 20_000 + at)))
			.run();
		const { client, counted } = countStatements(env.DB, true);
		await runNight({ db: openDatabase(client), now: () => NOW }, NETWORK, TODAY, { rows: 1_000_000, mayGoOn: () => true });
		const aimed = counted.filter(({ text }) => text.startsWith("UPDATE learning_factors SET moving = 1, target"));
		expect(aimed.map(({ rows }) => rows < 100)).toEqual([true]);
	});

	it("is, of payouts, each once by each reading, however many pages they are", async () => {
		const ids = JSON.stringify(Array.from({ length: WITHOUT }, (_, at) => WITH_CLICKS.length + 6_001 + at));
		await env.DB.prepare(`INSERT INTO learning_earnings SELECT c.atom, 'p1', 's1', '', 'homepage', ?, s.atom, 1, 4000000
			FROM json_each(?) c, json_each('[1,2,3,4,5,6,7,8]') s`)
			.bind(TODAY, ids)
			.run();
		const { client, counted } = countStatements(env.DB, true);
		await readPayouts(openDatabase(client), 2_000);
		// With each row its campaign is looked up, and it is sorted.
		expect(counted.reduce((sum, { rows }) => sum + rows, 0) / (8 * WITHOUT)).toBeLessThan(11);
		await env.DB.prepare("DELETE FROM learning_earnings").run();
	});

	it("is, of an hour's guards, no more where there are more clicks of days before", async () => {
		const { guards } = await readsOf();
		await addClicks("*", 1, 100);
		expect((await readsOf()).guards).toEqual(guards);
	});

	it("is forgotten once, of a campaign without clicks, and not written again by each night", async () => {
		await env.DB.batch([
			...["campaigns", "factors", "nights", "work"].map((table) => env.DB.prepare(`DELETE FROM learning_${table}`)),
			env.DB.prepare("INSERT INTO learning_campaigns (campaign_id, day, learned) VALUES (6004, ?, '{}')").bind(TODAY - 9),
			env.DB.prepare("INSERT INTO learning_factors VALUES ('price', 6004, '', '*', '{}', '1.5', 0)"),
		]);
		const factor = () => rowsOf("SELECT target, moving FROM learning_factors WHERE campaign_id = 6004");
		const known = () => rowsOf("SELECT day, learned FROM learning_campaigns WHERE campaign_id = 6004");
		const night = (day: number) =>
			runNight({ db: openDatabase(env.DB), now: () => NOW }, NETWORK, day, { rows: 1_000_000, mayGoOn: () => true });
		await night(TODAY);
		expect(await factor()).toEqual([{ target: "1", moving: 1 }]);
		expect(await known()).toEqual([{ day: TODAY, learned: null }]);
		// An hour has taken it there.
		await env.DB.prepare("UPDATE learning_factors SET moving = 0").run();
		await night(TODAY + 1);
		expect(await factor()).toEqual([{ target: "1", moving: 0 }]);
		expect(await known()).toEqual([{ day: TODAY, learned: null }]);
	});
});
