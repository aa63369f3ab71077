/** Weeks of clicks on PostgreSQL: made ahead, and dropped when they are old. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { sweepDays } from "../../src/days/sweep-days.ts";
import { openDatabase } from "../../src/db/client.ts";
import type { PostgresDatabase } from "../../src/db/postgres.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import { leastIdAt } from "../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, utcDay } from "../../src/lib/time.ts";
import { FIRST_PART, type Part } from "../../src/reconcile/parts.ts";
import { reconcilePart } from "../../src/reconcile/reconcile-sums.ts";
import { removeOld } from "../../src/retention/remove-old.ts";
import { ACTOR } from "../support/actor.ts";
import { capDeps, checkCounters, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const WEEK_MS = 7 * DAY_MS;
const db = openDatabase(env.DB);
const weeks = () => rowsOf("SELECT name FROM click_weeks_before(4000000000000) ORDER BY 1");
const clicksIn = (table: string) => rowsOf(`SELECT id FROM ${table} ORDER BY id`);
const remove = (now: number, clickDays = 400) => removeOld({ db, now: () => now, clickDays, archive: undefined });
/** The Monday that begins a moment's week. */
const mondayOf = (at: number) => at - ((at - 4 * DAY_MS) % WEEK_MS);
const nameOf = (at: number) => `clicks_${new Date(mondayOf(at)).toISOString().slice(0, 10).replaceAll("-", "_")}`;

describe("postgres: weeks of clicks", () => {
	const NOW = Date.parse("2031-05-14T12:00:00Z");

	beforeAll(() => importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 5001)] }));
	beforeEach(async () => {
		await env.DB.batch(["clicks", "conversions", "paid_visits"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
	});

	it("are made five weeks ahead, and once", async () => {
		await remove(NOW);
		const made = (await weeks()).map(({ name }) => name);
		for (let week = 0; week < 5; week++) expect(made).toContain(nameOf(NOW + week * WEEK_MS));
		await remove(NOW);
		expect((await weeks()).map(({ name }) => name)).toEqual(made);
	});

	it("take the clicks that came before them, and a click of each side of a boundary", async () => {
		const monday = mondayOf(NOW + 20 * WEEK_MS);
		const [before, after] = [clickMessage({ at: monday - 1 }), clickMessage({ at: monday })];
		await consumeClicks(capDeps(), letters(before, after));
		expect((await clicksIn("clicks_rest")).map(({ id }) => id)).toEqual([before.id, after.id]);
		await remove(monday, 100_000);
		expect(await clicksIn("clicks_rest")).toEqual([{ id: before.id }]);
		expect(await clicksIn(nameOf(monday))).toEqual([{ id: after.id }]);
	});

	it("are attached without a look at the clicks that have no week, which nobody could read meanwhile", async () => {
		const at = NOW + 100 * WEEK_MS;
		await consumeClicks(capDeps(), letters(clickMessage({ at: at - 3 * WEEK_MS })));
		const ask = async (statement: string) => Object.values((await rowsOf(statement))[0] ?? {})[0];
		const scansOf = (work: () => Promise<unknown>) =>
			withConnectionsOf(env, async () => {
				const scans = async () => {
					await ask("SELECT pg_stat_force_next_flush()");
					return Number(await ask("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'clicks_rest'"));
				};
				const before = await scans();
				await work();
				return (await scans()) - before;
			});
		const make = (now: number) => ask(`SELECT make_click_weeks(${now}, 5)`);
		const constraint = () => rowsOf("SELECT convalidated FROM pg_constraint WHERE conname = 'clicks_rest_has_none_to_come'");
		// This one, the next and three more.
		expect(await scansOf(() => make(at))).toBe(5);
		const later = at + 2 * WEEK_MS;
		expect(await ask(`SELECT expect_click_weeks(${later}, 5)`)).toBe(1);
		// Once, while others read and write.
		expect(await scansOf(() => ask("SELECT validate_click_weeks()"))).toBe(1);
		expect(await constraint()).toEqual([{ convalidated: 1 }]);
		expect(await scansOf(async () => expect(await make(later)).toBe(2))).toBe(0);
		expect(await constraint()).toEqual([]);
		expect(await ask(`SELECT expect_click_weeks(${later}, 5)`)).toBe(0);
	});

	it("are made all the same where what is expected of them breaks off, or a click comes of one", async () => {
		const at = NOW + 120 * WEEK_MS;
		const expectWeeks = () => rowsOf(`SELECT expect_click_weeks(${at}, 5) AS n`);
		const constraint = () => rowsOf("SELECT convalidated FROM pg_constraint WHERE conname = 'clicks_rest_has_none_to_come'");
		await consumeClicks(capDeps(), letters(clickMessage({ at: at + 3 * WEEK_MS })));
		expect(await expectWeeks()).toEqual([{ n: 0 }]);
		await env.DB.prepare("DELETE FROM clicks").run();
		expect(await expectWeeks()).toEqual([{ n: 1 }]);
		// Of this week and the next, which nobody has made, clicks are stored all the same.
		await consumeClicks(capDeps(), letters(clickMessage({ at }), clickMessage({ at: at + WEEK_MS })));
		expect(await clicksIn("clicks_rest")).toHaveLength(2);
		await remove(at, 100_000);
		expect(await constraint()).toEqual([]);
		const made = (await weeks()).map(({ name }) => name);
		for (let week = 0; week < 5; week++) expect(made).toContain(nameOf(at + week * WEEK_MS));
		expect(await clicksIn("clicks_rest")).toEqual([]);
	});

	it("that nobody made in time lose no click: those are stored, counted and reported all the same, and the weeks after them are made", async () => {
		// Three months without a cron; the archive is away besides.
		const at = mondayOf(NOW + 40 * WEEK_MS) + 6 * DAY_MS + 23 * HOUR_MS;
		await forgetTraffic();
		const across = [at, at + 2 * HOUR_MS, at - 3 * DAY_MS].map((time) => clickMessage({ at: time }));
		await consumeClicks(capDeps(), letters(...across));
		await consumeClicks(capDeps(), letters(...across));
		expect(await checkCounters()).toBe(3);
		// More of this week than one statement should move.
		await env.DB.prepare(
			`INSERT INTO clicks (id, click_hash, kind, clicked_at, brand_id, campaign_id, bid_micros, revenue_micros, written_by, reason)
				SELECT substr(?1, 1, 22) || to_char(n, 'FM00000000000000'), 'h' || n, 'link', ?2, 1, 5001, 0, 0, '', 'bot' FROM generate_series(1, 10000) AS numbers (n)`,
		)
			.bind(`${leastIdAt(at)}-7000-8000-`, at)
			.run();
		const broken = { put: () => Promise.reject(new Error("away")) };
		await expect(removeOld({ db, now: () => at, clickDays: 1, archive: broken })).rejects.toThrow("away");
		const made = (await weeks()).map(({ name }) => name);
		expect(made).not.toContain(nameOf(at));
		for (let week = 1; week < 5; week++) expect(made).toContain(nameOf(at + week * WEEK_MS));
		expect(await clicksIn(nameOf(at + WEEK_MS))).toEqual([{ id: across[1]?.id }]);
		await consumeClicks(capDeps(), letters(clickMessage({ at: at + 1 })));
		expect(await checkCounters()).toBe(4);
		expect(await rowsOf("SELECT count(*) AS n FROM clicks_rest")).toEqual([{ n: 10_003 }]);
	});

	it("that are made late are made beside those who write their clicks, and lose none", async () => {
		const at = mondayOf(NOW + 60 * WEEK_MS) + DAY_MS;
		await forgetTraffic();
		const [first, second] = [clickMessage({ at }), clickMessage({ at: at + 1 })];
		if (first === undefined || second === undefined) throw new Error("two clicks");
		await consumeClicks(capDeps(), letters(first));
		// What was moved waits for a while before the week is there.
		await env.DB.prepare(
			"CREATE FUNCTION wait_a_while() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1.5); RETURN OLD; END'",
		).run();
		await env.DB.prepare("CREATE TRIGGER waits BEFORE DELETE ON clicks_rest FOR EACH ROW EXECUTE FUNCTION wait_a_while()").run();
		try {
			const made = withConnectionsOf(env, () => remove(at, 100_000));
			await scheduler.wait(400);
			await Promise.all([made, withConnectionsOf(env, () => consumeClicks(capDeps(), letters(second)))]);
		} finally {
			await env.DB.prepare("DROP TRIGGER waits ON clicks_rest").run();
			await env.DB.prepare("DROP FUNCTION wait_a_while").run();
		}
		expect((await clicksIn(nameOf(at))).map(({ id }) => id)).toEqual([first.id, second.id]);
		expect(await checkCounters()).toBe(2);
	});

	it("hold a hash once as billed, and so does the turn of the next week", async () => {
		const monday = mondayOf(NOW + WEEK_MS);
		await remove(NOW);
		const hash = "a".repeat(32);
		const calls = [monday - HOUR_MS / 2, monday + HOUR_MS / 4].map((at) => clickMessage({ at, hash }));
		await Promise.all(calls.map((call) => consumeClicks(capDeps(), letters(call))));
		expect(await rowsOf("SELECT reason, count(*) AS n FROM clicks GROUP BY 1 ORDER BY 1")).toEqual([
			{ reason: "duplicate", n: 1 },
			{ reason: null, n: 1 },
		]);
		const [billed] = await rowsOf<{ id: string }>("SELECT id FROM clicks WHERE reason IS NULL");
		await expect(
			env.DB.prepare(
				`INSERT INTO clicks SELECT (jsonb_populate_record(c, jsonb_build_object('id', CAST(? AS TEXT)))).* FROM clicks c WHERE id = ?`,
			)
				.bind(`${billed?.id.slice(0, -4)}ffff`, billed?.id ?? "")
				.run(),
		).rejects.toThrow("23505");
	});

	it("are dropped as a whole once their last click is old, but for those that a conversion came of", async () => {
		await remove(NOW);
		const [converted, gone, kept] = [0, 1, WEEK_MS].map((later) => clickMessage({ at: mondayOf(NOW) + later }));
		if (converted === undefined || gone === undefined || kept === undefined) throw new Error("three clicks");
		await consumeClicks(capDeps(), letters(converted, gone, kept));
		await env.DB.prepare(
			`INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency, click_id,
				event_count, first_received_at, updated_at) VALUES ('northwind', 't', 'c', 'settled', 'approved', 0, 0, 0, 0, 'USD', ?, 1, 0, 0)`,
		)
			.bind(converted.id)
			.run();
		const sums = await rowsOf("SELECT * FROM daily_publishers ORDER BY 1, 2");
		const end = mondayOf(NOW) + WEEK_MS;
		await remove(end + 400 * DAY_MS - 1);
		expect((await weeks()).map(({ name }) => name)).toContain(nameOf(NOW));
		await remove(end + 400 * DAY_MS);
		expect((await weeks()).map(({ name }) => name)).not.toContain(nameOf(NOW));
		expect((await clicksIn("clicks")).map(({ id }) => id)).toEqual([converted.id, kept.id]);
		expect(await clicksIn("clicks_rest")).toEqual([{ id: converted.id }]);
		expect(await rowsOf("SELECT * FROM daily_publishers ORDER BY 1, 2")).toEqual(sums);
		expect(kept.id > leastIdAt(end)).toBe(true);
	});

	it("are dropped only once the archive has their clicks", async () => {
		await remove(NOW);
		const at = mondayOf(NOW);
		await consumeClicks(capDeps(), letters(clickMessage({ at })));
		const later = at + WEEK_MS + 400 * DAY_MS;
		const broken = { put: () => Promise.reject(new Error("away")) };
		await expect(removeOld({ db, now: () => later, clickDays: 400, archive: broken })).rejects.toThrow("away");
		expect((await weeks()).map(({ name }) => name)).toContain(nameOf(NOW));
		await removeOld({ db, now: () => later, clickDays: 400, archive: env.ARCHIVE });
		expect((await weeks()).map(({ name }) => name)).not.toContain(nameOf(NOW));
		expect((await env.ARCHIVE.list()).objects).toHaveLength(1);
	});

	it("may take longer than requests have: to be validated and attached, and to be dropped", async () => {
		const at = mondayOf(NOW + 300 * WEEK_MS) + DAY_MS;
		const later = mondayOf(at) + WEEK_MS + 400 * DAY_MS;
		await remove(at, 100_000);
		await consumeClicks(capDeps(), letters(clickMessage({ at })));
		const delay = (signature: string, name: string, given: string, when: string) => [
			`ALTER FUNCTION ${name}(${signature}) RENAME TO then_${name}`,
			`CREATE FUNCTION ${name}(${signature}) RETURNS bigint LANGUAGE plpgsql AS
				$$ BEGIN IF ${when} THEN PERFORM pg_sleep(5.5); END IF; RETURN then_${name}(${given}); END $$`,
		];
		const undo = (signature: string, name: string) => [
			`DROP FUNCTION ${name}(${signature})`,
			`ALTER FUNCTION then_${name}(${signature}) RENAME TO ${name}`,
		];
		const run = (statements: readonly string[]) => env.DB.batch(statements.map((statement) => env.DB.prepare(statement)));
		await run([
			...delay("", "validate_click_weeks", "", "true"),
			...delay("week text", "drop_click_week", "week", `week = '${nameOf(at)}'`),
		]);
		// As the cron has it.
		const counted = openDatabase(wrapD1(env.DB, () => {}));
		try {
			await withConnectionsOf(env, () => removeOld({ db: counted, now: () => later, clickDays: 400, archive: undefined }));
		} finally {
			await run([...undo("", "validate_click_weeks"), ...undo("week text", "drop_click_week")]);
		}
		const made = (await weeks()).map(({ name }) => name);
		expect(made).not.toContain(nameOf(at));
		for (let week = 0; week < 5; week++) expect(made).toContain(nameOf(later + week * WEEK_MS));
	});

	it("that somebody reads for long are dropped later, and hold up nobody's clicks until then", async () => {
		await forgetTraffic();
		const at = mondayOf(NOW + 400 * WEEK_MS) + DAY_MS;
		const later = mondayOf(at) + WEEK_MS + 400 * DAY_MS;
		await remove(at, 100_000);
		await remove(later, 100_000);
		const reading = withConnectionsOf(env, () =>
			(env.DB as PostgresDatabase).batch([env.DB.prepare("SELECT count(*) FROM clicks"), env.DB.prepare("SELECT pg_sleep(9)")], {
				isLong: true,
			}),
		);
		await scheduler.wait(500);
		const dropping = withConnectionsOf(env, () => remove(later)).then(
			() => "dropped",
			() => "gave up",
		);
		for (let second = 0; second < 6; second++) {
			await withConnectionsOf(env, () => consumeClicks(capDeps(), letters(clickMessage({ at: later }))));
			await scheduler.wait(1_000);
		}
		expect(await dropping).toBe("gave up");
		expect(await checkCounters()).toBe(6);
		await reading;
		await remove(later);
		expect((await weeks()).map(({ name }) => name)).not.toContain(nameOf(at));
	});

	it("that were dropped are known to be gone: their days' sums are not compared, written anew, or digested again", async () => {
		await forgetTraffic();
		await env.DB.prepare("DELETE FROM retention").run();
		const at = mondayOf(NOW + 200 * WEEK_MS) + 2 * DAY_MS;
		const day = utcDay(at);
		await remove(at, 100_000);
		await consumeClicks(
			capDeps(),
			letters(clickMessage({ at, pricingModel: "CPC" }), clickMessage({ at: at + HOUR_MS, pricingModel: "CPC" })),
		);
		const digest = async (now: number) => {
			await env.DB.prepare("UPDATE day_digest_state SET turn_day = ?, selected_at = 0").bind(day).run();
			await sweepDays({ db, now: () => now });
			return rowsOf(`SELECT digest, record_count FROM day_digests WHERE publisher_id = 'acme' AND day = '${day}'`);
		};
		const sums = () => rowsOf(`SELECT click_count, click_revenue_micros FROM daily_publishers WHERE date = '${day}'`);
		const before = [await digest(at + 2 * DAY_MS), await sums()];
		expect(before).toEqual([[{ digest: expect.any(String), record_count: 2 }], [expect.objectContaining({ click_count: 2 })]]);
		const later = mondayOf(at) + WEEK_MS + 400 * DAY_MS + HOUR_MS;
		await remove(later);
		expect(await rowsOf("SELECT id FROM clicks")).toEqual([]);
		const told = { differences: 0, clicksGone: true };
		for (let part: Part | null = FIRST_PART; part !== null; ) {
			const of: Awaited<ReturnType<typeof reconcilePart>> = await reconcilePart({ db, now: () => later }, day, part, ACTOR);
			told.differences += of.differences.length;
			told.clicksGone &&= of.clicksGone;
			part = of.next;
		}
		// Something of the day changes all the same.
		await env.DB.prepare("UPDATE daily_publishers SET adjustment_micros = adjustment_micros + 100 WHERE date = ?").bind(day).run();
		expect([await digest(later), await sums()]).toEqual(before);
		expect(told.differences).toBe(0);
	});
});
