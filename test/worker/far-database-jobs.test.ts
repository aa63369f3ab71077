/** What operators ask for and what runs by the hour or the night, 100 ms from the database: each keeps its progress, and fits an invocation. */
import { env } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { adjust } from "../../src/adjustments/adjust.ts";
import { MAX_CHUNKS, MAX_LOOKS } from "../../src/adjustments/adjust-clicks.ts";
import type { AdjustmentDeps } from "../../src/adjustments/deps.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { DAYS_STATEMENTS, sweepDays } from "../../src/days/sweep-days.ts";
import type { Database } from "../../src/db/client.ts";
import { LEDGER_STATEMENTS, sweepLedger } from "../../src/ledger-check/sweep-ledger.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, utcDay } from "../../src/lib/time.ts";
import { importNetwork } from "../../src/operator/network/import-network.ts";
import { reconcileAnswerSchema } from "../../src/reconcile/reconcile-answers.ts";
import { reconcileRoutes } from "../../src/reconcile/reconcile-routes.ts";
import { SUMS_STATEMENTS, sweepSums } from "../../src/reconcile/sweep-sums.ts";
import { ACTOR, actedBy } from "../support/actor.ts";
import { CLICKED_AT, capDeps, checkCounters, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { farDatabase } from "../support/far-database.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND, PLAIN_IMPORT } from "../support/network-import.ts";

/** Statements that an invocation has. */
const MAX_STATEMENTS = 1_000;
const NOW = CLICKED_AT + 2 * DAY_MS;
const CPC = { ...ACME, pricing_model: "CPC" };

const run = (query: string) => env.DB.prepare(query).run();
const countOf = async (from: string) => Number((await rowsOf(`SELECT count(*) AS count FROM ${from}`))[0]?.count);

/** Writes clicks of one publisher, a hundred at a time, in the order of their times. */
async function storeClicks(count: number, timeOf: (at: number) => number): Promise<void> {
	for (let at = 0; at < count; at += 100) {
		const clicks = Array.from({ length: Math.min(100, count - at) }, (_, next) =>
			clickMessage({ at: timeOf(at + next), pricingModel: "CPC" }),
		);
		await consumeClicks(capDeps(), letters(...clicks));
	}
}

/** Repeats what is cut off until it ends. @returns how often it ran */
async function repeat(work: () => Promise<unknown>, isOver: () => Promise<boolean>, most = 40): Promise<number> {
	let runs = 0;
	for (; runs < most && !(await isOver()); runs++) await work().catch(() => {});
	expect(await isOver()).toBe(true);
	return runs;
}

beforeAll(() =>
	importFile({ platforms: [NORTHWIND], publishers: [CPC], brands: [brandEntry("shoes.example", 5001, {}, { daily_click_cap: null })] }),
);

beforeEach(async () => {
	await forgetTraffic("day_digests", "reconciliation_days", "sum_differences");
});

describe("worker: an import, 100 ms from the database", () => {
	const published = { version: 1, complete: true, shardsWritten: 0, bytesWritten: 0, manifest: null };
	const importInto = (db: Database, file: object) =>
		importNetwork(
			{ db, products: farDatabase().db, publish: async () => published, now: () => NOW, allowInsecureCallbacks: false },
			new Blob([JSON.stringify(file)]).stream(),
			PLAIN_IMPORT,
		);
	const fileOf = (publishers: number, brands: number) => ({
		platforms: [NORTHWIND],
		publishers: Array.from({ length: publishers }, (_, at) => {
			const own = {
				publisher_id: `9${at}`,
				publisher_identity: `far_${at}`,
				access_key: `far-access-${at}`,
				publisher_key: `far-publisher-${at}`,
			};
			return { ...CPC, ...own, id: `far-${at}` };
		}),
		brands: Array.from({ length: brands }, (_, at) => brandEntry(`far-${at}.example`, 6001 + at)),
	});

	it("takes calls by the megabyte, not by the entry", async () => {
		const small = farDatabase();
		await importInto(small.db, fileOf(1, 1));
		const large = farDatabase();
		await importInto(large.db, fileOf(200, 500));
		// A megabyte more is two chunks more of whatever section.
		expect(large.calls()).toBeLessThanOrEqual(small.calls() + 4);
		expect(large.calls()).toBeLessThan(30);
		expect(large.statements()).toBeLessThan(60);
		expect(await countOf("brands WHERE domain LIKE 'far-%'")).toBe(500);
	});

	it("that is cut off, wherever that is, has changed nothing, and can be sent again", async () => {
		const whole = farDatabase();
		await importInto(whole.db, { ...fileOf(1, 3), brands: [brandEntry("cut-off.example", 7001)] });
		await run("DELETE FROM brands WHERE domain = 'cut-off.example'");
		const state = () => rowsOf("SELECT domain, name FROM brands UNION ALL SELECT id, name FROM publishers ORDER BY 1");
		const before = await state();
		const file = { ...fileOf(1, 0), brands: [brandEntry("cut-off.example", 7001, { name: "Cut off" })] };
		for (let calls = 0; calls < whole.calls(); calls++) {
			await expect(importInto(farDatabase(calls).db, file)).rejects.toThrow();
			expect(await state()).toEqual(before);
		}
		await importInto(farDatabase().db, file);
		expect(await countOf("brands WHERE name = 'Cut off'")).toBe(1);
	});
});

describe("worker: adjustments, 100 ms from the database", () => {
	const deps = (db: Database): AdjustmentDeps => ({
		db,
		now: () => NOW,
		actor: ACTOR,
		judge: () => Promise.reject(new Error("no conversion is judged here")),
		attach: async () => null,
		detach: async () => null,
		revalue: () => Promise.reject(new Error("nothing is revalued here")),
		onSpendChanged: async () => {},
	});

	it("clicks that are voided, and given back, go chunk by chunk however often the request is cut off", async () => {
		await storeClicks(2_500, (at) => CLICKED_AT + at);
		const voiding = { kind: "void_clicks", id: newUuid(), text: "a test", publisher: ACME.id } as const;
		const left = () => countOf("clicks WHERE reason IS NULL");
		const seen: number[] = [];
		const voided = async () => {
			seen.push(await left());
			await adjust(deps(farDatabase(7).db), voiding);
		};
		const isOver = (id: string) => async () => (await countOf(`adjustments WHERE id = '${id}' AND cursor IS NULL`)) === 1;
		expect(await repeat(voided, isOver(voiding.id))).toBeGreaterThan(1);
		// Each began where the one before was cut off.
		expect(seen).toEqual([...seen].sort((a, b) => b - a));
		expect(new Set(seen).size).toBeGreaterThan(2);
		expect(await rowsOf(`SELECT clicks FROM adjustments`)).toEqual([{ clicks: 2_500 }]);
		expect(await checkCounters()).toBe(0);

		const undo = { kind: "undo", id: newUuid(), text: "a test", adjustment: voiding.id } as const;
		expect(await repeat(() => adjust(deps(farDatabase(7).db), undo), isOver(undo.id))).toBeGreaterThan(1);
		expect(await checkCounters()).toBe(2_500);
	});

	it("a request at its largest fits an invocation", async () => {
		await storeClicks(2_100, (at) => CLICKED_AT + at);
		const far = farDatabase();
		const adjusted = await adjust(deps(far.db), { kind: "void_clicks", text: "a test", publisher: ACME.id });
		expect(adjusted).toMatchObject({ clicks: 2_100, complete: true });
		const chunks = 3;
		const each = Math.ceil(far.statements() / chunks);
		// Caps are looked at after it.
		expect(MAX_CHUNKS * each + MAX_LOOKS).toBeLessThan(MAX_STATEMENTS - 40);
	});
});

describe("worker: comparing counters, 100 ms from the database", () => {
	const DAYS = 12;
	const damage = () => run("UPDATE daily_publishers SET click_count = click_count + 1");
	beforeEach(async () => {
		await storeClicks(DAYS, (at) => CLICKED_AT - at * DAY_MS);
		await run(`UPDATE reconciliation SET selected_at = ${NOW}, turn_day = NULL`);
		await damage();
	});

	it("reconcile-sums answers with a cursor before it takes long, and repairs day by day", async () => {
		// As many as a request may compare: it is time that ends the first.
		const asked = 30;
		let cursor: string | undefined;
		let requests = 0;
		const compared: number[] = [];
		for (; requests < 20; requests++) {
			const far = farDatabase();
			const response = await actedBy(reconcileRoutes({ db: far.db, now: () => NOW + far.elapsedMs() })).request("/", {
				method: "POST",
				body: JSON.stringify({
					repair: true,
					from: utcDay(CLICKED_AT - (asked - 1) * DAY_MS),
					to: utcDay(CLICKED_AT),
					...(cursor !== undefined && { cursor }),
				}),
			});
			expect(response.status).toBe(200);
			const answer = v.parse(reconcileAnswerSchema, await response.json());
			expect(far.statements()).toBeLessThan(MAX_STATEMENTS);
			expect(far.elapsedMs()).toBeLessThan(7_000);
			compared.push(answer.days);
			if (answer.next_cursor === null) break;
			cursor = answer.next_cursor;
		}
		expect(compared.length).toBeGreaterThan(1);
		expect(compared.reduce((sum, days) => sum + days)).toBe(asked);
		expect(await checkCounters()).toBe(DAYS);
	}, 60_000);

	it("the hourly comparison loses no day whose comparison was cut off, and leaves one that never ends to the next hour", async () => {
		const days = Array.from({ length: DAYS }, (_, at) => utcDay(CLICKED_AT - at * DAY_MS));
		await run(`INSERT INTO reconciliation_days (day) SELECT value FROM json_each('${JSON.stringify(days)}')`);
		const waiting = () => countOf("reconciliation_days");
		// The state, and seven calls a part: each run is cut off within its third part, and one that begins an hour before.
		let at = NOW;
		const sweep = () => sweepSums({ db: farDatabase(20).db, now: () => (at += MINUTE_MS) });
		expect(await repeat(sweep, async () => (await waiting()) === 0)).toBeGreaterThan(3);
		expect(await countOf("sum_differences WHERE counter = 'daily_publishers'")).toBe(DAYS);

		await run(`INSERT INTO reconciliation_days (day) SELECT value FROM json_each('${JSON.stringify(days)}')`);
		await run(`UPDATE reconciliation SET selected_at = ${NOW}`);
		for (let tries = 0; tries < 3 * DAYS; tries++) await sweepSums({ db: farDatabase(3).db, now: () => NOW }).catch(() => {});
		expect(await countOf("reconciliation_days WHERE tries < 3")).toBe(0);
		const after = farDatabase();
		await sweepSums({ db: after.db, now: () => NOW });
		expect(after.calls()).toBe(2);
		// They come again by the hour.
		await sweepSums({ db: farDatabase().db, now: () => NOW + HOUR_MS });
		expect(await countOf("reconciliation_days WHERE tries >= 3")).toBe(0);
	}, 60_000);

	it("a run at its largest takes what is reserved for it", async () => {
		await run("UPDATE reconciliation SET selected_at = 0");
		const far = farDatabase();
		await sweepSums({ db: far.db, now: () => NOW });
		expect(far.statements()).toBeLessThanOrEqual(SUMS_STATEMENTS);
	});
});

describe("worker: the nightly check of the ledger, 100 ms from the database", () => {
	const CONVERSIONS = 1_200;
	beforeEach(async () => {
		await run(`INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency, event_count, first_received_at, updated_at)
			WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${CONVERSIONS - 1})
			SELECT 'northwind', 't' || i, 'none', 'waiting', 'pending', 0, 0, ${CLICKED_AT}, 0, 'USD', 1, ${CLICKED_AT}, ${CLICKED_AT} + i FROM n`);
		await run(`UPDATE ledger_check SET changed_at = 0, changed_platform = '', changed_txnid = '', turn_day = '', turn_platform = NULL,
			turn_txnid = NULL, turn_count = 0, turn_reasons = '{}', whole_at = NULL, whole_count = 0`);
	});

	it("goes on from the last whole part, and a run takes what is reserved for it", async () => {
		const whole = () => rowsOf("SELECT whole_count AS count FROM ledger_check WHERE whole_at IS NOT NULL");
		let calls = 0;
		const sweep = async () => {
			// The first is cut off before it has written anything, the others are not.
			const far = farDatabase(calls++ === 0 ? 4 : undefined);
			await sweepLedger({ db: far.db, now: () => NOW });
			expect(far.statements()).toBeLessThanOrEqual(LEDGER_STATEMENTS);
			expect(far.calls()).toBeLessThan(8);
		};
		const runs = await repeat(sweep, async () => (await whole()).length === 1);
		expect(runs).toBe(1 + Math.ceil(CONVERSIONS / 500));
		expect(await whole()).toEqual([{ count: CONVERSIONS }]);
	});
});

describe("worker: digests of closed days, 100 ms from the database", () => {
	const digests = () => rowsOf("SELECT day, digest, record_count AS records FROM day_digests ORDER BY day");

	it("go on day by day, and a run takes what is reserved for it", async () => {
		const DAYS = 45;
		await storeClicks(DAYS * 2, (at) => CLICKED_AT - (at % DAYS) * DAY_MS);
		await run(`UPDATE day_digest_state SET selected_at = 0, turn_day = '${utcDay(CLICKED_AT - 30 * DAY_MS)}'`);
		const now = () => NOW;
		const select = farDatabase();
		await run(`INSERT INTO day_digests (publisher_id, day, due) SELECT publisher_id, date, 1 FROM daily_publishers`);
		await sweepDays({ db: select.db, now });
		expect(select.statements()).toBeLessThanOrEqual(DAYS_STATEMENTS);
		while ((await countOf("day_digests WHERE due = 1")) > 0) await sweepDays({ db: farDatabase().db, now });
		const right = await digests();
		expect(right).toHaveLength(DAYS);

		await run("UPDATE day_digests SET due = 1, digest = NULL, record_count = NULL, computed_at = NULL");
		// A day is six calls; each run is cut off within one.
		const runs = await repeat(
			() => sweepDays({ db: farDatabase(40).db, now }),
			async () => (await countOf("day_digests WHERE due = 1")) === 0,
		);
		expect(runs).toBeGreaterThan(DAYS / 7);
		expect(await digests()).toEqual(right);
	}, 60_000);

	it("a day of many records keeps how far it has come, and a run is over within seconds", async () => {
		const day = utcDay(CLICKED_AT);
		await storeClicks(100, (at) => CLICKED_AT + (at * MINUTE_MS) / 60);
		await run(`UPDATE day_digest_state SET selected_at = ${NOW}, turn_day = NULL`);
		await run(`INSERT INTO day_digests (publisher_id, day, due) VALUES ('${ACME.id}', '${day}', 1)`);
		const far = farDatabase();
		await sweepDays({ db: far.db, now: () => NOW });
		expect(far.elapsedMs()).toBeLessThan(1_000);
		expect(await digests()).toMatchObject([{ day, records: 100 }]);
	});
});
