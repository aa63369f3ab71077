/** What the cron does of what one invocation may: every statement and every key counted. */
import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { publishBook, sweepBook } from "../../src/campaign-book/publisher/publish.ts";
import { LEAST_PUBLISH } from "../../src/campaign-book/publisher/publish-shards.ts";
import { openDatabase } from "../../src/db/client.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import { MINUTES_A_TURN } from "../../src/lib/jobs.ts";
import { CLICK_BATCH_PREFIX } from "../../src/lib/kept-keys.ts";
import { type Operated, Operations } from "../../src/lib/operations.ts";
import { DAY_MS, MINUTE_MS } from "../../src/lib/time.ts";
import worker from "../../src/worker.ts";
import { clickMessage, rowsOf } from "../support/click-messages.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const MOST = 1_000;

/** The Worker's bindings with everything counted. */
function counted() {
	const operations = new Operations();
	const count = (d1: D1Database) => wrapD1(d1, (statements) => operations.countStatements(statements.length));
	const own = { ...env, BOOK: operations.countKeys(env.BOOK), DB: count(env.DB), PRODUCTS: count(env.PRODUCTS) };
	const used = (): Operated => ({ statements: MOST - operations.left.statements, keys: MOST - operations.left.keys });
	return { env: own, used };
}

const longLink = (at: number) => `https://shop.example/${"a".repeat(1_800)}/${at}?click={click_id}`;
const markAll = () =>
	env.DB.prepare(
		"INSERT INTO book_dirty_slots (slot, mark) SELECT DISTINCT slot, 1 FROM book_keys WHERE true ON CONFLICT (slot) DO UPDATE SET mark = 1",
	).run();

beforeAll(async () => {
	const brands = Array.from({ length: 1_200 }, (_, at) =>
		brandEntry(`many-${at}.example`, 5001 + at, {}, { homepage_url: longLink(at), deeplink_url: null }),
	);
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands });
});

describe("worker: operations of the cron", () => {
	it("a publish takes no more than it is given, and goes on with the next", async () => {
		await env.DB.prepare("UPDATE campaigns SET epc_micros = 654300").run();
		await markAll();
		// Five reads: fewer than the book has.
		const given: Operated = { ...LEAST_PUBLISH, statements: LEAST_PUBLISH.statements - 5 * 6 };
		let runs = 0;
		for (let isComplete = false; !isComplete && runs < 20; runs++) {
			const { env: own, used } = counted();
			const { complete } = await publishBook({ db: openDatabase(own.DB), kv: own.BOOK, now: () => Date.now() }, runs === 0, given);
			expect(used().statements).toBeLessThanOrEqual(given.statements);
			expect(used().keys).toBeLessThanOrEqual(given.keys);
			isComplete = complete;
		}
		expect(runs).toBeGreaterThan(1);
		expect(runs).toBeLessThan(20);
		expect(await rowsOf("SELECT count(*) AS count FROM book_dirty_slots")).toEqual([{ count: 0 }]);
	});

	it("so does the removal of replaced shards", async () => {
		const later = () => Date.now() + 3 * DAY_MS;
		const [before] = await rowsOf<{ count: number }>("SELECT count(*) AS count FROM book_garbage");
		const { env: own, used } = counted();
		// Of them three for what is old, the lease, and its end.
		const given: Operated = { statements: 5, keys: 11 };
		expect(await sweepBook({ db: openDatabase(own.DB), kv: own.BOOK, now: later }, given)).toBe(10);
		expect(used()).toEqual({ statements: 5, keys: 10 });
		expect(await rowsOf("SELECT count(*) AS count FROM book_garbage")).toEqual([{ count: (before?.count ?? 0) - 10 }]);
	});

	it.each([
		["a minute of the backlog", 1],
		["a minute of the long jobs", 0],
	])("after an outage, %s: all jobs run, kept clicks and the book among them", async (_, turn) => {
		const perKey = 50;
		const keys = 200;
		for (let key = 0; key < keys; key++) {
			const clicks = Array.from({ length: perKey }, () => clickMessage({ at: Date.now() }));
			await env.BOOK.put(CLICK_BATCH_PREFIX + crypto.randomUUID(), JSON.stringify(clicks), { metadata: { count: perKey } });
		}
		await env.DB.batch([
			env.DB.prepare(`UPDATE campaigns SET epc_micros = ${turn + 1}00000`),
			env.DB.prepare("DELETE FROM clicks"),
			env.DB.prepare("UPDATE reconciliation SET selected_at = 0"),
			env.DB.prepare("UPDATE day_digest_state SET selected_at = 0"),
			env.DB.prepare("UPDATE ledger_check SET turn_day = ''"),
		]);
		await markAll();
		const { env: own, used } = counted();
		const minute = Math.floor(Date.now() / MINUTE_MS / MINUTES_A_TURN) * MINUTES_A_TURN + turn;
		await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date(minute * MINUTE_MS) }), own);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: keys * perKey }]);
		expect(await rowsOf("SELECT count(*) AS count FROM book_dirty_slots")).toEqual([{ count: 0 }]);
		expect(
			await rowsOf("SELECT selected_at > 0 AS ran FROM reconciliation UNION ALL SELECT selected_at > 0 FROM day_digest_state"),
		).toEqual([{ ran: 1 }, { ran: 1 }]);
		expect(await rowsOf("SELECT turn_day > '' AS ran FROM ledger_check")).toEqual([{ ran: 1 }]);
		expect(used().statements).toBeLessThanOrEqual(MOST);
		expect(used().keys).toBeLessThanOrEqual(MOST);
	});
});
