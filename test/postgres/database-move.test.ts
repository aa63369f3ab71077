/** The network database is moved from D1 to PostgreSQL while bids, clicks and postbacks go on: everything is counted once. */
import { applyD1Migrations, createExecutionContext, createScheduledController, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { MANIFEST_KEY } from "../../src/campaign-book/format.ts";
import type { Env } from "../../src/config.ts";
import { RECEIVED } from "../../src/conversions/answers.ts";
import { type MoveAnswer, moveAnswerSchema } from "../../src/database-move/move-answers.ts";
import { MOVED_TABLES } from "../../src/database-move/tables.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import worker from "../../src/worker.ts";
import { checkCounters, rowsOf } from "../support/click-messages.ts";
import { failWrites, stopFailing } from "../support/fail-writes.ts";
import { HandQueue } from "../support/hand-queue.ts";
import { ACME, brandEntry, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";
import { person } from "../support/traffic.ts";

const CLICKS = new HandQueue("clickbourse-clicks");
const POSTBACKS = new HandQueue("clickbourse-postbacks");
const CALLBACKS = new HandQueue("clickbourse-callbacks");
const queues = { CLICKS: CLICKS.binding, POSTBACKS: POSTBACKS.binding, CALLBACKS: CALLBACKS.binding };
/** Deployments: of before anyone thought of PostgreSQL, made ready for a move, and switched. */
const { POSTGRES: _, ...unbound } = env;
const OLD: Env = { ...unbound, ...queues, DB: env.D1 };
const READY: Env = { ...env, ...queues, DB: env.D1, POSTGRES: env.POSTGRES, NETWORK_DATABASE: "d1" };
const SWITCHED: Env = { ...READY, NETWORK_DATABASE: "postgres" };

const CPC = { ...ACME, pricing_model: "CPC" };
const CPA = {
	...ACME,
	...{ id: "cpa", publisher_id: "1002", publisher_identity: "cpa_rtb", access_key: "access-key-cpa", publisher_key: "publisher-key-cpa" },
	callback_url: "https://publisher.example/s2s",
};
const NETWORK = {
	platforms: [NORTHWIND],
	publishers: [CPC, CPA],
	brands: [brandEntry("shoes.example", 11), brandEntry("hats.example", 12)],
};
/** Half of the campaign's 0.4000; half of the postback's 10. */
const [CLICK_MICROS, CONVERSION_MICROS] = [200_000, 5_000_000];

const FIVE_MINUTES = 5 * 60_000;

async function call(bindings: Env, url: string, init: RequestInit = {}): Promise<Response> {
	const ctx = createExecutionContext();
	const request = new Request(url, { redirect: "manual", ...init }) as unknown as Parameters<typeof worker.fetch>[0];
	const response = await worker.fetch(request, bindings, ctx);
	await waitOnExecutionContext(ctx);
	return response;
}

const operator = (bindings: Env, verb: string, body: object) =>
	call(bindings, `https://base.example/operator/${verb}`, { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify(body) });
const runCron = (bindings: Env) => worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), bindings);

/** As the CLI moves: on a busy machine in several requests, of which each tells what it has found itself. */
async function move(body: object = {}, bindings = READY): Promise<MoveAnswer> {
	for (const differences: MoveAnswer["differences"] = []; ; ) {
		const response = await operator(bindings, "database/move", body);
		if (response.status !== 200) throw new Error(`the move answered ${response.status}: ${await response.text()}`);
		const answer = v.parse(moveAnswerSchema, await response.json());
		differences.push(...answer.differences);
		if (answer.outcome !== "unfinished") return { ...answer, differences };
	}
}

/** What came in: the hash of each click, and the clicks of conversions. */
const sent = { cpc: 0, cpa: [] as string[], conversions: 0 };

/** A bid, and a click on it, of a person of its own. @returns the click hash */
async function click(bindings: Env, publisher: typeof CPC): Promise<string> {
	const bid = await call(bindings, `http://rtb.example/serving-engine?pubi=${publisher.publisher_id}&bd=shoes.example&cc=US`);
	const { redirect_url: url } = await bid.json<{ redirect_url: string }>();
	const redirect = await call(bindings, url, { headers: person(sent.cpc + sent.cpa.length) });
	expect(redirect.status).toBe(302);
	const hash = new URL(redirect.headers.get("location") ?? "").searchParams.get("sub");
	if (hash === null) throw new Error("the click has no hash");
	return hash;
}

/** This many clicks of either publisher, and a conversion for every other one of the publisher that is paid by conversions. */
async function comeIn(bindings: Env, count: number): Promise<void> {
	for (let n = 0; n < count; n++) {
		await click(bindings, CPC);
		sent.cpc++;
		sent.cpa.push(await click(bindings, CPA));
		if (n % 2 === 0) await convert(bindings, sent.cpa.at(-1));
	}
}

/** A click's conversion, which its platform tells of. */
async function convert(bindings: Env, hash: string | undefined): Promise<void> {
	const query = `txnid=t-${++sent.conversions}&cid=${hash}&edate=${new Date().toISOString()}&payout=10`;
	const answer = await call(bindings, `https://base.example/api/postback/${NORTHWIND.access_key}?${query}`);
	expect(await answer.json()).toEqual(RECEIVED);
}

async function rowCounts(database: D1Database): Promise<Record<string, number>> {
	const counts = MOVED_TABLES.map(async ({ name }): Promise<[string, number]> => {
		const row = await database.prepare(`SELECT count(*) AS count FROM ${name}`).first<{ count: number }>();
		return [name, row?.count ?? -1];
	});
	return Object.fromEntries(await Promise.all(counts));
}

/** A move that has copied a part when PostgreSQL refuses a row. */
async function breakOff(): Promise<void> {
	await failWrites("INSERT ON daily_publishers", "true");
	await expect(move()).rejects.toThrow("500");
	await stopFailing();
}

const phaseOf = (database: D1Database) => database.prepare("SELECT phase FROM database_move").first<string>("phase");

beforeAll(async () => {
	await applyD1Migrations(env.D1, env.NETWORK_MIGRATIONS);
	expect((await operator(OLD, "network", NETWORK)).status).toBe(200);
	await comeIn(OLD, 40);
	await CLICKS.drain(OLD);
	await POSTBACKS.drain(OLD);
	await runCron(OLD);
});

describe("postgres: a move that does not come to its end", () => {
	it("is not refused for what a cron has noted on a PostgreSQL that holds no network", async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		const { DB: _d1, ...alone } = SWITCHED;
		// It publishes a book without brands, where the others here read theirs.
		const kv = {
			get: async (keys: string | string[]) => (typeof keys === "string" ? null : new Map()),
			getWithMetadata: async () => ({ value: null, metadata: null }),
			list: async () => ({ keys: [], list_complete: true }),
			put: async () => {},
			delete: async () => {},
		};
		const bindings: Env = {
			...alone,
			BOOK: kv as unknown as KVNamespace,
			ALERT_URL: "https://ops.example/alerts",
			ALERT_SECRET: `whsec_${btoa("0".repeat(32))}`,
		};
		for (const minutes of [0, 5, 60, 24 * 60]) {
			const scheduledTime = new Date(FIVE_MINUTES * Math.ceil(Date.now() / FIVE_MINUTES) + minutes * 60_000);
			await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime }), bindings);
		}
		vi.restoreAllMocks();
		expect(await rowsOf("SELECT name FROM learning_work")).not.toEqual([]);
		expect(await rowsOf("SELECT begin_move('an-id', 0, 0) AS held")).toEqual([{ held: "" }]);
		await env.DB.batch(
			["SELECT release_writes()", "UPDATE database_move SET phase = 'none', move_id = ''"].map((statement) => env.DB.prepare(statement)),
		);
	});

	it("has not begun where PostgreSQL is bound without NETWORK_DATABASE: bids go on, and what comes waits for D1", async () => {
		const published = await env.BOOK.get(MANIFEST_KEY);
		await comeIn(OLD, 1);
		vi.spyOn(console, "error").mockImplementation(() => {});
		await runCron(SWITCHED);
		// Nobody's key is known there.
		await convert(SWITCHED, sent.cpa[1]);
		for (const queue of [CLICKS, POSTBACKS]) {
			expect(await queue.deliver(SWITCHED)).toMatchObject({ acked: 0, delaySeconds: 300 });
		}
		vi.restoreAllMocks();
		expect(await env.BOOK.get(MANIFEST_KEY)).toBe(published);
		expect(await rowsOf("SELECT id FROM clicks")).toEqual([]);
		for (const queue of [CLICKS, POSTBACKS]) await queue.drain(OLD);
	});

	it("is refused where PostgreSQL holds something, before D1 stops to take writes", async () => {
		await env.DB.prepare("INSERT INTO campaign_totals (campaign_id) VALUES (7)").run();
		await expect(move()).rejects.toThrow(/412.*not empty \(campaign_totals\)/);
		expect(await phaseOf(env.D1)).toBe("none");
		await env.DB.prepare("DELETE FROM campaign_totals").run();
	});

	it("is refused where only one database is bound, or PostgreSQL is in use", async () => {
		await expect(move({}, OLD)).rejects.toThrow(/412.*both bindings/);
		await expect(move({}, SWITCHED)).rejects.toThrow(/412.*in use/);
		await expect(move({ cancel: true })).rejects.toThrow(/412.*no move/);
	});

	it("names what is not the same, does not end, and can be taken back", async () => {
		await env.DB.batch([
			env.DB.prepare(
				"CREATE FUNCTION falsify() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.click_revenue_micros := new.click_revenue_micros + 1; RETURN new; END $$",
			),
			env.DB.prepare("CREATE TRIGGER falsifies BEFORE INSERT ON daily_publishers FOR EACH ROW EXECUTE FUNCTION falsify()"),
			env.DB.prepare("CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"),
			env.DB.prepare("CREATE TRIGGER leaves_out BEFORE INSERT ON platforms FOR EACH ROW EXECUTE FUNCTION leave_out()"),
		]);
		vi.spyOn(console, "error").mockImplementation(() => {});
		const answer = await move();
		vi.restoreAllMocks();
		const found = answer.differences.map(({ table, kind, key, column }) => `${kind} ${table} ${key} ${column}`);
		// Of two days each, where midnight has passed since the first click.
		const { results: days } = await env.D1.prepare("SELECT publisher_id AS publisher, date FROM daily_publishers ORDER BY 1, 2").all();
		expect([...new Set(days.map(({ publisher }) => publisher))]).toEqual(["acme", "cpa"]);
		expect(answer.outcome).toBe("differs");
		expect(found.filter((line) => !line.startsWith("sum"))).toEqual([
			...days.map(({ publisher, date }) => `other daily_publishers ${publisher} ${date} clickRevenueMicros`),
			"missing platforms northwind null",
		]);
		expect(found).toContain("sum daily_publishers null click_revenue_micros");
		expect(found).toContain("sum platforms null rows");
		expect(answer.difference_count).toBeGreaterThanOrEqual(found.length);
		expect(await phaseOf(env.D1)).toBe("moving");
		await env.DB.prepare("DROP FUNCTION falsify, leave_out CASCADE").run();

		expect((await move({ cancel: true })).outcome).toBe("cancelled");
		expect(await phaseOf(env.D1)).toBe("none");
		await comeIn(READY, 2);
		await CLICKS.drain(READY);
		await POSTBACKS.drain(READY);
		expect((await operator(READY, "network", { brands: [brandEntry("hats.example", 13)] })).status).toBe(200);
	});

	it("is taken back while PostgreSQL is away, and the next one starts over", async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		await breakOff();
		const away: Env = { ...READY, POSTGRES: { connectionString: "postgres://nobody:none@127.0.0.1:1/none?sslmode=disable" } as Hyperdrive };
		expect((await move({ cancel: true }, away)).outcome).toBe("cancelled");
		expect([await phaseOf(env.D1), await phaseOf(env.DB)]).toEqual(["none", "moving"]);
		expect((await move()).outcome).toBe("moved");
		expect((await move({ cancel: true })).outcome).toBe("cancelled");
		vi.restoreAllMocks();
	});

	it("that was taken back is not begun again by who was moving it", async () => {
		const response = await operator(READY, "database/move", { go_on: true });
		expect([response.status, await response.json()]).toEqual([412, { error: "the move was cancelled meanwhile" }]);
		expect(await phaseOf(env.D1)).toBe("none");
	});

	it("leaves the next one alone: what it has still compared is not taken for that one's", async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		let isOvertaken = false;
		const overtaken = wrapD1(env.D1, async ([first = ""]) => {
			if (isOvertaken || !/FROM daily_publishers/i.test(first)) return;
			if ((await rowsOf("SELECT of_table FROM database_move_progress WHERE step = 'rows'")).length === 0) return;
			isOvertaken = true;
			expect((await move({ cancel: true })).outcome).toBe("cancelled");
			await breakOff();
		});
		await expect(move({}, { ...READY, DB: overtaken })).rejects.toThrow(/412.*cancelled meanwhile/);
		expect(isOvertaken).toBe(true);
		expect(await rowsOf("SELECT DISTINCT step FROM database_move_progress")).toEqual([{ step: "copy" }]);
		expect((await move()).outcome).toBe("moved");
		expect((await move({ cancel: true })).outcome).toBe("cancelled");
		vi.restoreAllMocks();
	});
});

describe("postgres: a move in the middle of traffic", () => {
	it("breaks in the middle of a chunk: what was copied stays, and neither database takes anything else", async () => {
		await comeIn(READY, 3);
		const ids = (await env.D1.prepare("SELECT id FROM clicks ORDER BY id").all<{ id: string }>()).results.map(({ id }) => id);
		await failWrites("INSERT ON clicks", `new.id = '${ids[25]}'`);
		vi.spyOn(console, "error").mockImplementation(() => {});
		await expect(move()).rejects.toThrow("500");
		expect(await rowsOf("SELECT row_count AS rows, done FROM database_move_progress WHERE of_table = 'clicks'")).toEqual([
			{ rows: 20, done: 0 },
		]);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: 20 }]);

		const before = await rowCounts(env.D1);
		const half = await rowCounts(env.DB);
		await comeIn(READY, 5);
		const waiting = [CLICKS.length, POSTBACKS.length];
		for (const queue of [CLICKS, POSTBACKS]) {
			expect(await queue.deliver(READY)).toMatchObject({ acked: 0, delaySeconds: 300 });
			// Deployments that do not know of the move, or were switched too soon.
			expect(await queue.deliver(OLD)).toMatchObject({ acked: 0 });
			expect(await queue.deliver(SWITCHED)).toMatchObject({ acked: 0 });
		}
		expect([CLICKS.length, POSTBACKS.length]).toEqual(waiting);
		await runCron(READY);
		await runCron(SWITCHED);
		for (const [verb, body] of [
			["network", NETWORK],
			["adjustments", {}],
			["keys/issue", {}],
		] as const) {
			const refused = await operator(READY, verb, body);
			expect([refused.status, await refused.json()]).toEqual([503, { error: expect.stringContaining("being moved") }]);
		}
		expect((await call(READY, "https://base.example/operator/status", { headers: OPERATOR_HEADERS })).status).toBe(200);
		expect(await rowCounts(env.D1)).toEqual(before);
		expect(await rowCounts(env.DB)).toEqual(half);
		vi.restoreAllMocks();
		await stopFailing();
	});

	it("goes on where it broke, and ends with every row and every sum the same; again changes nothing", async () => {
		const answers = await Promise.all([move(), move()]);
		expect(answers.map(({ outcome }) => outcome)).toEqual(["moved", "moved"]);
		const counts = await rowCounts(env.D1);
		// What the audit has of the end is in the database that the network goes on with.
		expect(await rowCounts(env.DB)).toEqual({ ...counts, audit: (counts.audit ?? 0) + 1 });
		for (const { table, copied, compared, sums } of (await move()).tables) {
			expect([table, copied, compared, sums.rows]).toEqual([table, counts[table], counts[table], String(counts[table])]);
		}
		expect((await move()).tables.find(({ table }) => table === "daily_publishers")?.sums.click_revenue_micros).toBe(
			String(43 * CLICK_MICROS),
		);
		expect(await phaseOf(env.D1)).toBe("moved");
	});

	it("that was taken back by half begins over, and says that it has ended only once PostgreSQL may be used", async () => {
		const counts = await rowCounts(env.D1);
		vi.spyOn(console, "error").mockImplementation(() => {});
		const broken = wrapD1(env.D1, ([first = ""]) => {
			if (first.startsWith("INSERT INTO database_move")) throw new Error("D1_ERROR: Network connection lost.");
		});
		await expect(move({ cancel: true }, { ...READY, DB: broken })).rejects.toThrow("503");
		expect([await phaseOf(env.D1), await phaseOf(env.DB)]).toEqual(["moved", "cancelled"]);
		expect((await move()).outcome).toBe("moved");
		expect([await phaseOf(env.D1), await phaseOf(env.DB)]).toEqual(["moved", "moved"]);
		expect(await rowCounts(env.DB)).toEqual({ ...counts, audit: (counts.audit ?? 0) + 1 });

		const overtaken = wrapD1(env.D1, async ([first = ""]) => {
			if (first.startsWith("UPDATE database_move")) await env.DB.prepare("UPDATE database_move SET phase = 'cancelled'").run();
		});
		await expect(move({}, { ...READY, DB: overtaken })).rejects.toThrow(/412.*cancelled meanwhile/);
		expect((await move()).outcome).toBe("moved");
		expect(await phaseOf(env.DB)).toBe("moved");
		vi.restoreAllMocks();
	});

	it("until the network has switched, neither takes writes, and the way back is open", async () => {
		expect(await CLICKS.deliver(READY)).toMatchObject({ acked: 0 });
		vi.spyOn(console, "error").mockImplementation(() => {});
		expect(await CLICKS.deliver(SWITCHED)).toMatchObject({ acked: 0 });
		vi.restoreAllMocks();
		expect((await move({ cancel: true })).outcome).toBe("cancelled");
		// Half of what waited is counted on D1, and is part of what the next move copies.
		await CLICKS.deliver(READY);
		expect((await move()).outcome).toBe("moved");
		const states = await rowsOf("SELECT after ->> 'state' AS state FROM audit WHERE verb = 'moveDatabase' ORDER BY id");
		const takenBack = Array.from({ length: 6 }, () => ["begun", "cancelled"]).flat();
		expect(states.map(({ state }) => state)).toEqual([...takenBack, "begun", "moved"]);
	});

	it("after the switch PostgreSQL counts what had waited, once, and D1 takes nothing any more", async () => {
		await runCron(SWITCHED);
		expect(await phaseOf(env.DB)).toBe("used");
		await expect(move({ cancel: true })).rejects.toThrow(/412.*has switched/);
		await expect(move({ cancel: true }, SWITCHED)).rejects.toThrow(/412.*has switched/);
		expect((await move({}, SWITCHED)).outcome).toBe("switched");
		const left = await rowCounts(env.D1);
		vi.spyOn(console, "error").mockImplementation(() => {});
		await comeIn(OLD, 1);
		for (const queue of [CLICKS, POSTBACKS]) expect(await queue.deliver(OLD)).toMatchObject({ acked: 0 });
		vi.restoreAllMocks();
		expect(await rowCounts(env.D1)).toEqual(left);

		await comeIn(SWITCHED, 5);
		await CLICKS.drain(SWITCHED);
		await POSTBACKS.drain(SWITCHED);
		await runCron(SWITCHED);
		expect((await operator(SWITCHED, "network", { brands: [brandEntry("caps.example", 14)] })).status).toBe(200);
	});

	it("every message is counted exactly once, and all that is added up says so", async () => {
		const clicks = await rowsOf(
			"SELECT publisher_id, count(*) AS clicks, count(DISTINCT click_hash) AS hashes, sum(revenue_micros) AS micros FROM clicks WHERE reason IS NULL GROUP BY publisher_id ORDER BY 1",
		);
		expect(clicks).toEqual([
			{ publisher_id: "acme", clicks: sent.cpc, hashes: sent.cpc, micros: sent.cpc * CLICK_MICROS },
			{ publisher_id: "cpa", clicks: sent.cpa.length, hashes: sent.cpa.length, micros: 0 },
		]);
		expect(await rowsOf("SELECT count(*) AS rows FROM clicks")).toEqual([{ rows: sent.cpc + sent.cpa.length }]);
		expect(await rowsOf("SELECT count(*) AS rows, sum(revenue_micros) AS micros FROM conversions WHERE stage = 'settled'")).toEqual([
			{ rows: sent.conversions, micros: sent.conversions * CONVERSION_MICROS },
		]);
		expect(await rowsOf("SELECT count(*) AS rows, count(DISTINCT txnid) AS txnids FROM callbacks")).toEqual([
			{ rows: sent.conversions, txnids: sent.conversions },
		]);
		expect(await checkCounters()).toBe(sent.cpc + sent.cpa.length);

		const sums = await operator(SWITCHED, "reconcile-sums", {});
		expect(await sums.json()).toMatchObject({ difference_count: 0, next_cursor: null });
		const ledger = await operator(SWITCHED, "check-ledger", {});
		expect(await ledger.json()).toMatchObject({ conversions: sent.conversions, difference_count: 0, next_cursor: null });
		const [start_date, end_date] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));
		for (const [key, micros] of [
			[CPC.access_key, sent.cpc * CLICK_MICROS],
			[CPA.access_key, sent.conversions * CONVERSION_MICROS],
		] as const) {
			const report = await call(SWITCHED, "https://base.example/api/reporting/revenue-share", {
				method: "POST",
				headers: { AccessKey: key },
				body: new URLSearchParams({ report_type: "daywise", start_date: start_date ?? "", end_date: end_date ?? "" }),
			});
			const { data } = await report.json<{ data: { publisher_revenue: string }[] }>();
			expect(data.reduce((sum, row) => sum + Number(row.publisher_revenue), 0)).toBeCloseTo(micros / 1_000_000, 6);
		}
	});
});
