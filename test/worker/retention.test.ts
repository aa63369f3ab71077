/** What is kept for a time only, on real D1: old rows go in short steps; sums, conversions and their clicks stay. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { openDatabase } from "../../src/db/client.ts";
import { leastIdAt, newTimeOrderedId } from "../../src/lib/ids.ts";
import { DAY_MS, HOUR_MS, utcDay } from "../../src/lib/time.ts";
import { FIRST_PART } from "../../src/reconcile/parts.ts";
import { reconcilePart } from "../../src/reconcile/reconcile-sums.ts";
import { LOOKED_AT_A_STEP, MAX_STEPS, RETENTION_STATEMENTS, type RemoveDeps, removeOld } from "../../src/retention/remove-old.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { ON_D1 } from "../support/engine.ts";
import { farDatabase } from "../support/far-database.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const db = openDatabase(env.DB);
const remove = (archive?: RemoveDeps["archive"], clickDays = 400) => removeOld({ db, now: () => NOW, clickDays, archive });
const daysAgo = (days: number) => NOW - days * DAY_MS;
const clickIds = async () => (await rowsOf<{ id: string }>("SELECT id FROM clicks ORDER BY id")).map(({ id }) => id);

async function intake(outcome: string, at: number): Promise<void> {
	await env.DB.prepare("INSERT INTO postback_intake (id, received_at, method, query, outcome, answer) VALUES (?, ?, 'GET', '', ?, '{}')")
		.bind(newTimeOrderedId(at), at, outcome)
		.run();
}

beforeAll(() => importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 5001)] }));

beforeEach(async () => {
	await forgetTraffic("retention");
});

describe("worker: retention", () => {
	it("clicks that do not count go after 120 days, billed ones after 400; those within their time stay", async () => {
		const kept = [clickMessage({ at: daysAgo(399) }), clickMessage({ at: daysAgo(119), reason: "bot" })];
		const gone = [clickMessage({ at: daysAgo(401) }), clickMessage({ at: daysAgo(121), reason: "bot" })];
		await consumeClicks(capDeps(), letters(...gone, ...kept));
		await remove();
		expect(await clickIds()).toEqual(kept.map(({ id }) => id).sort());
	});

	it("a click that was taken back stays as long as a billed one", async () => {
		const [kept, gone] = [clickMessage({ at: daysAgo(300) }), clickMessage({ at: daysAgo(401) })];
		await consumeClicks(capDeps(), letters(kept, gone));
		await env.DB.prepare("UPDATE clicks SET reason = 'voided'").run();
		await remove();
		expect(await clickIds()).toEqual([kept.id]);
	});

	it("what undoes an import goes after 30 days, and the network keeps its version", async () => {
		const version = (days: number) => daysAgo(days);
		const insert = (days: number) => [
			env.DB.prepare("INSERT INTO network_versions (version, id, kind, at, actor) VALUES (?, ?, 'import', ?, 'operator')").bind(
				version(days),
				`import-${days}`,
				version(days),
			),
			env.DB.prepare("INSERT INTO network_changes (version, seq, entries) VALUES (?, 0, '[]')").bind(version(days)),
		];
		const versions = async () => (await rowsOf<{ version: number }>("SELECT version FROM network_versions")).map(({ version }) => version);
		const changes = async () => (await rowsOf<{ version: number }>("SELECT version FROM network_changes")).map(({ version }) => version);
		await env.DB.batch(["network_versions", "network_changes"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
		await env.DB.batch([...insert(31), ...insert(29)]);
		await remove();
		expect([await versions(), await changes()]).toEqual([[version(29)], [version(29)]]);
		await env.DB.batch(["network_versions", "network_changes"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
		await env.DB.batch([...insert(33), ...insert(32)]);
		await remove();
		expect([await versions(), await changes()]).toEqual([[version(32)], []]);
	});

	it("visits and counts of unpaid clicks go after two days, so many in a run", async () => {
		const hour = Math.floor(NOW / HOUR_MS);
		const kept = `${leastIdAt(NOW - 48 * HOUR_MS)}-0`;
		const many = Array.from({ length: MAX_STEPS * LOOKED_AT_A_STEP + 3 }, (_, i) => `${leastIdAt(NOW - 48 * HOUR_MS - 1)}-${i}`);
		await env.DB.batch([
			env.DB.prepare("DELETE FROM paid_visits"),
			env.DB.prepare("DELETE FROM unpaid_hours"),
			env.DB.prepare("DELETE FROM paid_networks"),
			env.DB.prepare(
				"INSERT INTO paid_networks (publisher_id, network, hour) VALUES ('acme', 'gone', ?1 - 49), ('acme', 'kept', ?1 - 48)",
			).bind(hour),
			env.DB.prepare(
				`INSERT INTO paid_visits (click_id, publisher_id, connection, user_agent_hash, brand_id, clicked_at)
					SELECT value, 'acme', 'c', 'u', 1, ?2 FROM json_each(?1)`,
			).bind(JSON.stringify(many), NOW - 48 * HOUR_MS - 1),
			env.DB.prepare(
				"INSERT INTO paid_visits (click_id, publisher_id, connection, user_agent_hash, brand_id, clicked_at) VALUES (?1, 'acme', 'c', 'u', 1, ?2)",
			).bind(kept, NOW - 48 * HOUR_MS),
			env.DB.prepare("INSERT INTO unpaid_hours (connection, hour) VALUES ('gone', ?1 - 49), ('kept', ?1 - 48)").bind(hour),
		]);
		const visits = () => rowsOf("SELECT count(*) AS visits FROM paid_visits");
		await remove();
		expect(await visits()).toEqual([{ visits: 4 }]);
		await remove();
		expect(await rowsOf("SELECT click_id FROM paid_visits")).toEqual([{ click_id: kept }]);
		expect(await rowsOf("SELECT connection FROM unpaid_hours")).toEqual([{ connection: "kept" }]);
		expect(await rowsOf("SELECT network FROM paid_networks")).toEqual([{ network: "kept" }]);
	});

	it("a click that a conversion came of stays, and so do all sums", async () => {
		const converted = clickMessage({ at: daysAgo(500) });
		await consumeClicks(capDeps(), letters(converted, clickMessage({ at: daysAgo(500) })));
		const sums = await rowsOf("SELECT * FROM daily_publishers");
		await env.DB.prepare(
			`INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency, click_id,
				event_count, first_received_at, updated_at) VALUES ('northwind', 't', 'c', 'settled', 'approved', 0, 0, 0, 0, 'USD', ?, 1, 0, 0)`,
		)
			.bind(converted.id)
			.run();
		await remove();
		expect(await clickIds()).toEqual([converted.id]);
		expect(await rowsOf("SELECT * FROM daily_publishers")).toEqual(sums);
	});

	it("clicks go as early as the operator says, and those that do not count no later", async () => {
		const kept = clickMessage({ at: daysAgo(59) });
		await consumeClicks(capDeps(), letters(kept, clickMessage({ at: daysAgo(61) }), clickMessage({ at: daysAgo(61), reason: "bot" })));
		await remove(undefined, 60);
		expect(await clickIds()).toEqual([kept.id]);
	});

	it("what goes is in the archive before, line by line as it was stored", async () => {
		const gone = [clickMessage({ at: daysAgo(402) }), clickMessage({ at: daysAgo(401) })];
		await consumeClicks(capDeps(), letters(...gone, clickMessage({ at: daysAgo(10) })));
		const stored = await rowsOf("SELECT * FROM clicks ORDER BY id LIMIT 2");
		await remove(env.ARCHIVE);
		const { objects } = await env.ARCHIVE.list();
		expect(objects.map(({ key }) => key)).toEqual([`clicks/2025-10-15/${gone[0]?.id}.ndjson`]);
		const text = await (await env.ARCHIVE.get(objects[0]?.key ?? ""))?.text();
		expect(
			text
				?.split("\n")
				.filter(Boolean)
				.map((line) => JSON.parse(line)),
		).toEqual(stored);
		expect(await clickIds()).toHaveLength(1);
	});

	it("while the archive takes nothing, nothing goes; afterwards all of it", async () => {
		const gone = clickMessage({ at: daysAgo(401) });
		await consumeClicks(capDeps(), letters(gone));
		await expect(remove({ put: () => Promise.reject(new Error("the bucket is away")) })).rejects.toThrow("away");
		expect(await clickIds()).toEqual([gone.id]);
		await remove(env.ARCHIVE);
		expect(await clickIds()).toEqual([]);
	});

	it("of two runs at once the slower takes back nothing of what is known to be gone: counters are not compared with clicks that are no more", async () => {
		const [first, second] = [clickMessage({ at: daysAgo(402) }), clickMessage({ at: daysAgo(400) + HOUR_MS })];
		await consumeClicks(capDeps(), letters(first, second));
		const waits = Promise.withResolvers<void>();
		const slower = remove({ put: () => waits.promise });
		await removeOld({ db, now: () => NOW + DAY_MS, clickDays: 400, archive: undefined });
		waits.resolve();
		await slower;
		expect(await clickIds()).toEqual([]);
		const { differences, clicksGone } = await reconcilePart({ db, now: () => NOW }, utcDay(second.at), FIRST_PART, false);
		expect({ differences, clicksGone }).toEqual({ differences: [], clicksGone: true });
	});

	it("a run takes so many rows at most, and the next goes on where it ended, once over", async () => {
		const rows = Array.from({ length: MAX_STEPS * LOOKED_AT_A_STEP + 10 }, (_, i) => [newTimeOrderedId(daysAgo(200) + i), "c"]);
		await env.DB.prepare(
			`INSERT INTO callback_attempts (id, callback_id, started_at, latency_ms, answer)
				SELECT value ->> 0, value ->> 1, 0, 0, '' FROM json_each(?)`,
		)
			.bind(JSON.stringify(rows))
			.run();
		const left = async () => (await rowsOf<{ n: number }>("SELECT count(*) AS n FROM callback_attempts"))[0]?.n;
		await remove();
		expect(await left()).toBe(10);
		await remove();
		await remove();
		expect(await left()).toBe(0);
	});

	it.runIf(ON_D1)("takes no more statements than the cron reserves for it", async () => {
		const idle = farDatabase();
		await removeOld({ db: idle.db, now: () => NOW, clickDays: 400, archive: env.ARCHIVE });
		// Each of five rules has asked once, where it may take ten steps of four.
		expect(idle.statements() + 5 * (MAX_STEPS * 4 - 1)).toBeLessThanOrEqual(RETENTION_STATEMENTS);
	});

	it("a dead letter goes a month after its replay, and without one never", async () => {
		const letters = [
			["gone", daysAgo(31)],
			["kept", daysAgo(29)],
			["open", null],
		];
		await env.DB.prepare(
			`INSERT INTO dead_letters (id, queue, body, received_at, replayed_at) SELECT value ->> 0, 'clicks', '{}', 0, CAST(value ->> 1 AS BIGINT) FROM json_each(?)`,
		)
			.bind(JSON.stringify(letters))
			.run();
		await remove();
		expect((await rowsOf("SELECT id FROM dead_letters ORDER BY id")).map(({ id }) => id)).toEqual(["kept", "open"]);
	});

	it("requests with unknown keys leave the ledger after a week, all others stay for their time", async () => {
		await intake("unknown_key", daysAgo(8));
		await intake("unknown_key", daysAgo(6));
		await intake("accepted", daysAgo(8));
		await intake("rejected", daysAgo(401));
		await remove();
		expect((await rowsOf("SELECT outcome FROM postback_intake ORDER BY id")).map(({ outcome }) => outcome)).toEqual([
			"accepted",
			"unknown_key",
		]);
	});
});
