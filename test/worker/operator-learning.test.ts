/** /operator/learning, and how an explained price was made: over rows as a night leaves them. */
import { env, exports } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { explanationSchema } from "../../src/bidding/explain-answer.ts";
import { openDatabase } from "../../src/db/client.ts";
import { DAY_MS, utcDay } from "../../src/lib/time.ts";
import { adviceSchema, learningStateSchema, pricesSchema } from "../../src/operator/learning/learning-answers.ts";
import { importReportSchema } from "../../src/operator/network/import-answer.ts";
import { keepLearned } from "../support/learned-rows.ts";
import { ACME, brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS, priceFor } from "../support/network-import.ts";

const db = openDatabase(env.DB);
const now = Date.now();
const today = Math.floor(now / DAY_MS);
const CPC = {
	...ACME,
	id: "cents",
	publisher_id: "1002",
	publisher_identity: "cents_rtb",
	access_key: "access-key-cents",
	publisher_key: "publisher-key-cents",
	pricing_model: "CPC",
};
const BREAK = { day: today - 1, forgottenBefore: today - 11, z: -3.4, expected: 20, observed: 6 };

async function ask<Answer>(schema: v.GenericSchema<unknown, Answer>, path: string, body?: object, headers: object = {}): Promise<Answer> {
	const response = await call(path, body, headers);
	if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
	return v.parse(schema, await response.json());
}

function call(path: string, body?: object, headers: object = {}): Promise<Response> {
	return exports.default.fetch(`https://base.example/operator${path}`, {
		headers: { ...OPERATOR_HEADERS, ...headers },
		...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
	});
}

const explain = (domain: string, identity = "acme_rtb") =>
	ask(explanationSchema, "/explain", {
		publisher_identity: identity,
		request: { id: "a", imp: [{ id: "1", tagid: "tag-1" }], site: { domain } },
	});

beforeAll(async () => {
	await importFile({
		epc_learning: { mode: "advise", publish_step: 0.05 },
		platforms: [{ ...NORTHWIND, epc_learning: { arrivals: [{ days: 20, part: 1 }] } }],
		publishers: [ACME, CPC],
		brands: [
			brandEntry("words.example", 6, {}, { epc: null, keyword_epc: { red: "0.5000", blue: "0.2000" } }),
			brandEntry("shoes.example", 1, {}, { keyword_epc: { red: "0.5000", blue: "0.2000" } }),
			brandEntry("hats.example", 2, {}, { epc_learning: { mode: "automatic" } }),
			brandEntry("bags.example", 3, {}, { epc_learning: { mode: "automatic", pin: true } }),
			brandEntry("coats.example", 4, {}, { epc_learning: { mode: "off" } }),
			brandEntry("belts.example", 5),
		],
	});
	await keepLearned(db, now, [
		{ campaignId: 1, operatorMicros: 400_000, factor: 0.5, keywords: { "": 1, red: 2 }, numbers: { red: 500_000 }, weekExpected: 5 },
		{
			campaignId: 2,
			operatorMicros: 400_000,
			factor: 1.5,
			inForce: 1.25,
			steering: { caution: 0.9, overpaid: 0.8, creep: 1, bidCreep: 1, observed: 30, balance: { paidMicros: 1, projectedMicros: 1 } },
			lastBreak: BREAK,
		},
		{ campaignId: 3, operatorMicros: 400_000, factor: 2, weekExpected: 100, weekGainMicros: 650_000_000 },
		{ campaignId: 4, operatorMicros: 400_000, factor: 3 },
		{ campaignId: 5, operatorMicros: 400_000, factor: 1.01 },
		{ campaignId: 6, operatorMicros: 0, factor: 2, keywords: { red: 1 }, numbers: { red: 500_000 }, weekExpected: 0.1 },
	]);
	await db.run(
		sql`INSERT INTO learning_publisher_delays (platform, publisher_id, day, lag, arrivals, reversals) VALUES ('northwind', 'p1', ${today - 9}, 2, 7, 0)`,
	);
});

describe("how learning stands", () => {
	it("tells modes, the night, delays and breaks", async () => {
		const state = await ask(learningStateSchema, "/learning");
		expect(state).toMatchObject({
			mode: "advise",
			settings: { mode: "advise", publish_step: 0.05, allowance: "15.0000", kappa: { campaign: 3, campaign_publisher: 10 } },
			night: { learned_until: new Date(now).toISOString().slice(0, 10), running: null, fault: null },
			campaigns: { off: 1, advise: 4, automatic: 1, learned: 6 },
			breaks: [{ campaign_id: 2, z: -3.4, expected_conversions: 20, earned_conversions: 6 }],
		});
		expect(state.night.age_hours).toBeLessThan(1);
		expect(state.platforms).toMatchObject([{ platform: "northwind", conversions: 7, stated: true }]);
	});

	it("shows a curve that is stated, as long as no night has learned another", async () => {
		const { platforms } = await ask(learningStateSchema, "/learning");
		expect(platforms[0]?.arrivals).toContainEqual({ days: 21, part: 1 });
		expect(platforms[0]?.arrivals.find(({ days }) => days === 10)?.part).toBeCloseTo(0.5, 1);
	});

	it("tells of no night of a day to come: its clock was ahead", async () => {
		await db.run(sql`INSERT INTO learning_nights (day, started_at, finished_at, progress) VALUES (${today + 200}, ${now}, ${now}, '{}')`);
		const { night } = await ask(learningStateSchema, "/learning");
		expect(night.learned_until).toBe(new Date(now).toISOString().slice(0, 10));
		await db.run(sql`DELETE FROM learning_nights WHERE day = ${today + 200}`);
	});

	it("says of a night that failed what it failed of, and that prices stay", async () => {
		await db.run(sql`INSERT INTO learning_nights (day, started_at, progress, fault)
			VALUES (${today + 1}, ${now}, '{}', '{"at":1,"message":"the database was away"}')`);
		const { night } = await ask(learningStateSchema, "/learning");
		expect(night).toMatchObject({ fault: { message: "the database was away" }, learned_until: new Date(now).toISOString().slice(0, 10) });
		await db.run(sql`DELETE FROM learning_nights WHERE day = ${today + 1}`);
	});

	it("says of an hour that failed what it failed of, and since when prices and guards stay", async () => {
		expect((await ask(learningStateSchema, "/learning")).publishing).toEqual({ at: null, fault: null });
		const at = now - 7_200_000;
		await db.run(sql`INSERT INTO learning_work (name, value) VALUES ('publishing', ${JSON.stringify({ at })}),
			('publishing fault', ${JSON.stringify({ at: now, message: "KV was away" })})`);
		expect((await ask(learningStateSchema, "/learning")).publishing).toEqual({
			at: new Date(at).toISOString(),
			fault: { at: new Date(now).toISOString(), message: "KV was away" },
		});
		await db.run(sql`DELETE FROM learning_work WHERE name LIKE 'publishing%'`);
	});
});

describe("a campaign's prices", () => {
	it("are shown as they are, as they go, and as they were", async () => {
		const prices = await ask(pricesSchema, "/learning/prices?campaign=2");
		expect(prices).toMatchObject({
			brand: "hats.example",
			mode: "automatic",
			numbers: [
				{ keyword: null, operator_epc: "0.4000", epc: "0.5000", learned_epc: "0.6000" },
				{ keyword: "*", operator_epc: "0.4000", epc: "0.4000", learned_epc: "0.6000" },
			],
			guards: { caution: 0.9, overpaid: 0.8, creep: 1 },
			data: [
				{
					keyword: null,
					operator_epc: "0.4000",
					epc: "0.5000",
					cause: { why: "learned", factor: 1.25, target: 1.5, evidence: { weight: 0.87 } },
				},
			],
			next_cursor: null,
		});
	});

	it("are told as they changed, page by page", async () => {
		await db.run(sql`INSERT INTO learning_changes (campaign_id, at, keyword, operator_micros, epc_micros, cause)
			SELECT campaign_id, at, 'red', operator_micros, epc_micros, cause FROM learning_changes WHERE campaign_id = 2`);
		await db.run(sql`INSERT INTO learning_changes (campaign_id, at, keyword, operator_micros, epc_micros, cause)
			SELECT campaign_id, at - 1, keyword, operator_micros, epc_micros, cause FROM learning_changes WHERE campaign_id = 2`);
		const whole = await ask(pricesSchema, "/learning/prices?campaign=2");
		expect(whole.data.map(({ keyword }) => keyword)).toEqual([null, "red", null, "red"]);
		const paged: unknown[] = [];
		let cursor: string | null = "";
		while (cursor !== null) {
			const page: typeof whole = await ask(pricesSchema, `/learning/prices?campaign=2&limit=1${cursor && `&cursor=${cursor}`}`);
			paged.push(...page.data);
			cursor = page.next_cursor;
		}
		expect(paged).toEqual(whole.data);
	});

	it("are those of the operator where they are only advised", async () => {
		const { numbers } = await ask(pricesSchema, "/learning/prices?campaign=1");
		expect(numbers.map(({ keyword, epc, learned_epc }) => [keyword, epc, learned_epc])).toEqual([
			[null, "0.4000", "0.2000"],
			["*", "0.4000", "0.2000"],
			["red", "0.5000", "0.5000"],
			["blue", "0.2000", "0.1000"],
		]);
	});

	it.each([
		["/learning/prices?campaign=77", 422],
		["/learning/prices", 422],
		["/learning/prices?campaign=x", 422],
		["/learning/advice?cursor=x", 422],
		["/learning/advice?campaign=77", 422],
		["/learning/factors", 404],
	])("%s is %i", async (path, status) => {
		expect((await call(path)).status).toBe(status);
	});

	it.each(["prices", "advice"])("of a campaign that does not exist say so: %s", async (what) => {
		const { faults } = await (await call(`/learning/${what}?campaign=77`)).json<{ faults: object[] }>();
		expect(faults).toEqual([{ path: "campaign", message: "there is no campaign 77" }]);
	});
});

describe("advice", () => {
	it("names what is off by a step in campaigns that are advised, the costliest first, page by page", async () => {
		const { data } = await ask(adviceSchema, "/learning/advice");
		expect(data.map(({ campaign_id, worth_a_week }) => [campaign_id, worth_a_week])).toEqual([
			[3, "650.0000"],
			[1, "-60.0000"],
			[6, "0.6000"],
		]);
		expect(data[1]?.numbers).toEqual([
			{ field: "epc", operator: "0.4000", learned: "0.2000", factor: 0.5 },
			{ field: "keyword_epc.blue", operator: "0.2000", learned: "0.1000", factor: 0.5 },
		]);
		const first = await ask(adviceSchema, "/learning/advice?limit=1");
		const second = await ask(adviceSchema, `/learning/advice?limit=1&cursor=${first.next_cursor}`);
		expect([...first.data, ...second.data]).toEqual(data.slice(0, 2));
	});

	it("is not accepted of a campaign that has none, unknown fields, or another version of the network", async () => {
		const before = await priceFor("shoes.example");
		const refused = await call("/learning/advice/accept", { campaigns: [1, 2] });
		expect(refused.status).toBe(422);
		expect(await refused.json()).toMatchObject({ faults: [{ path: "campaigns[1]" }] });
		expect((await call("/learning/advice/accept", { campaigns: "some" })).status).toBe(422);
		const broken = await call("/learning/advice/accept", { campaigns: [1.5] });
		expect(await broken.json()).toMatchObject({ faults: [{ path: "campaigns[0]", message: "must be a campaign's id" }] });
		expect((await call("/learning/advice/accept", { campaigns: [1] }, { "If-Match": '"1"' })).status).toBe(412);
		expect(await priceFor("shoes.example")).toBe(before);
	});

	it("is looked at, accepted, audited, and undone; what was accepted is not advised again", async () => {
		const looked = await ask(importReportSchema, "/learning/advice/accept?dry_run=1", { campaigns: "all" });
		expect(looked.difference.entries.map(({ id }) => id).sort()).toEqual(["1", "3", "6"]);
		expect(await priceFor("shoes.example")).toBe(0.2);
		const { version } = await ask(adviceSchema, "/learning/advice");
		const accepted = await ask(importReportSchema, "/learning/advice/accept", { campaigns: [1] }, { "If-Match": `"${version}"` });
		expect(accepted.difference.entries).toMatchObject([
			{
				id: "1",
				fields: [
					{ field: "epc", before: "0.4000", after: "0.2000" },
					{ field: "keyword_epc", after: { red: "0.5000", blue: "0.1000" } },
				],
			},
		]);
		expect(await priceFor("shoes.example")).toBe(0.1);
		expect((await ask(adviceSchema, "/learning/advice")).data.map(({ campaign_id }) => campaign_id)).toEqual([3, 6]);
		const [row] = await db.all<{ verb: string }>(sql`SELECT verb FROM audit WHERE subject_kind = 'campaign' ORDER BY id DESC LIMIT 1`);
		expect(row?.verb).toBe("acceptAdvice");
		await ask(importReportSchema, "/network/undo", { import: accepted.id });
		expect(await priceFor("shoes.example")).toBe(0.2);
	});

	it("is none any more on a keyword without clicks, either, once it was accepted with those of others", async () => {
		const accepted = await ask(importReportSchema, "/learning/advice/accept", { campaigns: [6] });
		expect(accepted.difference.entries).toMatchObject([{ fields: [{ field: "keyword_epc", after: { red: "1.0000", blue: "0.4000" } }] }]);
		expect((await call("/learning/advice/accept", { campaigns: [6] })).status).toBe(422);
		await ask(importReportSchema, "/network/undo", { import: accepted.id });
	});
});

describe("an explained price", () => {
	it("is a chain from the operator's number to the bid", async () => {
		const { prices } = await explain("hats.example", "cents_rtb");
		expect(prices).toHaveLength(1);
		expect(prices?.[0]).toMatchObject({
			campaign_id: 2,
			link: "homepage",
			source: "tag-1",
			mode: "automatic",
			operator_epc: "0.4000",
			advised_epc: "0.5000",
			epc: "0.5000",
			caution: 0.9,
			overpaid: 0.8,
			revenue_share: 0.5,
			price: "0.1800",
			payout_cap: "50.0000",
			last_break: { z: -3.4 },
			last_change: { epc: "0.5000", why: "learned" },
		});
		const [factor] = prices?.[0]?.factors ?? [];
		expect(factor).toMatchObject({ level: "campaign", in_force: 1.25, learned: 1.5, earned_conversions: 30, weight: 0.87, maturity: 0.8 });
		expect((prices?.[0]?.factors ?? []).reduce((product, { in_force }) => product * in_force, 0.4)).toBeCloseTo(0.5, 6);
	});

	it("has no guards towards a publisher who is paid by conversion", async () => {
		const { prices } = await explain("hats.example");
		expect(prices?.[0]).toMatchObject({ caution: 1, overpaid: 1, price: "0.2500" });
	});

	it("is the operator's where it is only advised, and not told of where nothing is learned", async () => {
		expect((await explain("bags.example")).prices?.[0]).toMatchObject({ mode: "advise", epc: "0.4000", price: "0.2000" });
		// Nothing of what is learned is in force then, and nothing is held back: the chain is of what is advised.
		const [price] = (await explain("shoes.example", "cents_rtb")).prices ?? [];
		expect(price).toMatchObject({ mode: "advise", caution: 1, overpaid: 1, creep: 1, epc: "0.4000", price: "0.2000" });
		expect(price?.factors.map(({ in_force }) => in_force)).toEqual([1, 1, 1, 1, 1, 1]);
		expect((price?.factors ?? []).reduce((product, { learned }) => product * learned, 0.4)).toBeCloseTo(Number(price?.advised_epc), 6);
		expect(await explain("coats.example")).not.toHaveProperty("prices");
	});

	it("is a chain that comes to what is advised, also once the number has changed since the night", async () => {
		const accepted = await ask(importReportSchema, "/learning/advice/accept", { campaigns: [1] });
		const [price] = (await explain("shoes.example")).prices ?? [];
		expect(price).toMatchObject({ operator_epc: "0.2000", epc: "0.2000" });
		const learned = (price?.factors ?? []).reduce((product, factor) => product * factor.learned, 0.2);
		expect(learned * (price?.renumbered ?? 1)).toBeCloseTo(Number(price?.advised_epc), 6);
		// With much evidence it stays near what was accepted.
		expect(Number(price?.advised_epc)).toBeGreaterThan(0.15);
		await ask(importReportSchema, "/network/undo", { import: accepted.id });
		expect((await explain("shoes.example")).prices?.[0]?.renumbered).toBe(1);
	});

	it("has what is known of its traffic, also of a campaign that no click tells of", async () => {
		const known = {
			factor: 0.5,
			clicks: 900,
			expectedMicros: 9_000_000,
			earnedMicros: 4_500_000,
			expected: 30,
			observed: 15,
			weight: 0.8,
			maturity: 1,
		};
		await db.run(sql`DELETE FROM learning_campaigns WHERE campaign_id = 5`);
		await db.run(
			sql`INSERT INTO learning_traffic (level, publisher_id, name, day, evidence) VALUES ('publisher', 'acme', '', ${today}, ${JSON.stringify(known)})`,
		);
		const [price] = (await explain("belts.example")).prices ?? [];
		expect(price).toMatchObject({ mode: "advise", advised_epc: "0.2000", learned_until: utcDay(now), payout_cap: null });
		expect(price?.factors.find(({ level }) => level === "publisher")).toMatchObject({ learned: 0.5, clicks: 900, earned: "4.5000" });
	});

	it("is no publisher's to see", async () => {
		const response = await exports.default.fetch("https://base.example/api/explain", {
			method: "POST",
			headers: { AccessKey: ACME.access_key },
			body: JSON.stringify({ query: "bd=hats.example&cc=US" }),
		});
		expect(response.status).toBe(200);
		expect(await response.json()).not.toHaveProperty("prices");
	});
});
