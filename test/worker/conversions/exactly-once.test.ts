/**
 * Random histories of clicks, postbacks, corrections, rates, currencies, verdicts, suspensions, callbacks, deliveries and crashes, given to the real consumer and sweep on real D1, and to a reference
 * model: the ledger, the daily sums, the outbox and the history must be the same. PROPERTY_RUNS=5000 runs more of them.
 */
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { consumePostbacks } from "../../../src/conversions/consume-postbacks.ts";
import { judgeConversion } from "../../../src/conversions/judge-conversion.ts";
import { sweepConversions } from "../../../src/conversions/sweep-conversions.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { checkLedger } from "../../../src/ledger-check/check-ledger.ts";
import { clickRow, importConversionNetwork, postbackMessage, readAll, storeClicks } from "../../support/conversions.ts";
import { byText, type ModelClick, type ModelPostback, ReferenceLedger } from "../../support/reference-ledger.ts";

const RUNS = Number(env.PROPERTY_RUNS || 150);
const START = Date.parse("2026-11-12T00:00:00Z");
const MINUTE = 60_000;
const DAYS = ["2026-11-10", "2026-11-11"];
const TABLES = [
	"conversions",
	"conversion_events",
	"callbacks",
	"daily_publishers",
	"daily_sources",
	"daily_campaigns",
	"postback_intake",
	"clicks",
	"exchange_rates",
];
const PUBLISHERS = {
	cpa: { share: 800_000n, model: "CPA", url: true, amendments: "pair" },
	quiet: { share: 333_333n, model: "CPA", url: false, amendments: "none" },
	cpc: { share: 800_000n, model: "CPC", url: true, amendments: "pair" },
} as const;

/** Of the platforms and of the one campaign, micro-dollars. */
const PLATFORM_MAX = { east: 40_000_000 };
const CAMPAIGN_MAX = 45_000_000;
const CEILINGS = { west: CAMPAIGN_MAX, east: PLATFORM_MAX.east };

/**
 * The clicks a history may store: one plain, two that share a publisher click id, a head before its billed click, a test, one that passes off
 * another's hash as its click id, and others.
 */
const CLICKS: ModelClick[] = (
	[
		{ hash: "a", platform: "west", publisher: "cpa", publisherClickId: "pub-a", source: "s1", reason: null },
		{ hash: "b", platform: "west", publisher: "quiet", publisherClickId: "shared", source: "s1", reason: null },
		{ hash: "c", platform: null, publisher: "cpa", publisherClickId: "shared", source: null, reason: null },
		{ hash: "d", platform: "east", publisher: "cpa", publisherClickId: null, source: "s2", reason: "head" },
		{ hash: "d", platform: "east", publisher: "cpa", publisherClickId: null, source: "s2", reason: null },
		{ hash: "e", platform: "west", publisher: "cpc", publisherClickId: "pub-e", source: "s2", reason: null },
		{ hash: "f", platform: "west", publisher: "cpa", publisherClickId: "pub-f", source: "s1", reason: "test" },
		{ hash: "9", platform: "east", publisher: "quiet", publisherClickId: "shared", source: "s3", reason: "expired" },
		{ hash: "8", platform: "west", publisher: "quiet", publisherClickId: "a".repeat(32), source: "s2", reason: null },
		{ hash: "7", platform: null, publisher: "cpa", publisherClickId: "pub-7", source: "s1", reason: "embedded" },
	] as const
).map((click, at) => ({ ...click, hash: click.hash.repeat(32), id: `click-${at}`, clickedAt: START - 10_000 + at }));

const cid = fc.constantFrom(
	...CLICKS.map(({ hash }) => hash),
	"A".repeat(32),
	"pub-a",
	"pub-a",
	"shared",
	"pub-e",
	"unknown",
	"0".repeat(32),
);
const postback = fc.record({
	platform: fc.constantFrom("west", "west", "east"),
	txnid: fc.constantFrom("t1", "t2", "t3"),
	cid,
	status: fc.constantFrom(null, "paid", "paid", "hold", "void", "odd"),
	eventAt: fc.constantFrom(...DAYS.map((day) => Date.parse(`${day}T23:59:59.999Z`))),
	payoutMicros: fc.constantFrom(
		10_000_000,
		10_000_000,
		12_345_678,
		1,
		0,
		0,
		-10_000_000,
		-3_000_000,
		-3_000_000,
		42_000_000,
		49_999_950,
		9_000_000_000_000_000,
	),
	salesMicros: fc.constantFrom(null, null, 100_000_001, -5_000_000, 6_000_000_000_000),
	currency: fc.constantFrom(null, null, "USD", "EUR", "GBP"),
});

/** What one batch holds of what is in flight, by numbers that are taken modulo its size; and how the consumer ends. */
const delivery = fc.record({
	picks: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 4 }),
	/** `twice`: two consumers at once. `before`: D1 fails in the middle of the transaction. `after`: no acknowledgement comes through. */
	fate: fc.constantFrom("acked", "acked", "acked", "twice", "before", "after"),
});

const step = fc.oneof(
	{ weight: 5, arbitrary: postback.map((postback) => ({ kind: "receive" as const, postback })) },
	{ weight: 4, arbitrary: delivery.map((delivery) => ({ kind: "deliver" as const, ...delivery })) },
	{ weight: 3, arbitrary: fc.nat({ max: CLICKS.length - 1 }).map((at) => ({ kind: "click" as const, at })) },
	{
		weight: 1,
		arbitrary: fc.constantFrom(...DAYS.flatMap((day) => [`EUR ${day}`, `GBP ${day}`])).map((id) => ({ kind: "rate" as const, id })),
	},
	{ weight: 2, arbitrary: fc.constantFrom(1, 20, 600, 1_500).map((minutes) => ({ kind: "pass" as const, minutes })) },
	{ weight: 1, arbitrary: postback.map(({ platform, txnid }) => ({ kind: "look_again" as const, platform, txnid })) },
	{
		weight: 2,
		arbitrary: fc
			.tuple(postback, fc.constantFrom("voided" as const, "released" as const, null))
			.map(([{ platform, txnid }, verdict]) => ({ kind: "judge" as const, platform, txnid, verdict })),
	},
	{ weight: 1, arbitrary: fc.constant({ kind: "hear" as const }) },
	{ weight: 1, arbitrary: fc.constantFrom("USD", "EUR").map((currency) => ({ kind: "home" as const, currency })) },
	{ weight: 1, arbitrary: fc.constantFrom("cpa", "cpa", "quiet").map((publisher) => ({ kind: "suspend" as const, publisher })) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

class World {
	readonly model = new ReferenceLedger(PUBLISHERS, CEILINGS, ["east"]);
	readonly #inFlight: { postback: ModelPostback; message: ReturnType<typeof postbackMessage> }[] = [];
	readonly #stored = new Set<number>();
	#now = START;
	#received = 0;

	async take(step: Step): Promise<void> {
		if (step.kind === "receive") this.#receive(step.postback);
		else if (step.kind === "deliver") await this.#deliver(step.picks, step.fate);
		else if (step.kind === "click") await this.#click(step.at);
		else if (step.kind === "rate") await this.#rate(step.id);
		else if (step.kind === "pass") await this.#pass(step.minutes);
		else if (step.kind === "judge") await this.#judge(step);
		else if (step.kind === "hear") await this.#hear();
		else if (step.kind === "home") await this.#moveHome(step.currency);
		else if (step.kind === "suspend") await this.#suspend(step.publisher);
		else {
			this.model.lookAgain(step.platform, step.txnid, this.#now);
			await this.#consume([{ format: 1, kind: "look_again", platform: step.platform, txnid: step.txnid }]);
		}
	}

	/** The queue delivers until nothing is left. */
	async finish(): Promise<void> {
		while (this.#inFlight.length > 0) await this.#deliver([0, 1, 2, 3], "acked");
		await this.#pass(1);
	}

	#receive(fields: Omit<ModelPostback, "order" | "receivedAt">): void {
		this.#now += 1;
		const postback = { ...fields, order: ++this.#received, receivedAt: this.#now };
		this.#inFlight.push({ postback, message: postbackMessage(fields.platform, fields, this.#now) });
	}

	async #deliver(picks: readonly number[], fate: string): Promise<void> {
		if (this.#inFlight.length === 0) return;
		const chosen = picks.flatMap((pick) => this.#inFlight[pick % this.#inFlight.length] ?? []);
		const messages = chosen.map(({ message }) => message);
		if (fate === "before") return this.#consume(messages, FAILING);
		for (const { postback } of chosen.toSorted((a, b) => a.postback.order - b.postback.order)) this.model.take(postback, this.#now);
		await (fate === "twice" ? Promise.all([this.#consume(messages), this.#consume(messages)]) : this.#consume(messages));
		if (fate === "after") return;
		for (const item of new Set(chosen)) this.#inFlight.splice(this.#inFlight.indexOf(item), 1);
	}

	async #click(at: number): Promise<void> {
		const click = CLICKS[at];
		if (click === undefined || this.#stored.has(at)) return;
		this.#stored.add(at);
		this.model.clicks.push(click);
		const { id, hash, platform, publisher, publisherClickId, source, reason, clickedAt } = click;
		const row = {
			id,
			click_hash: hash,
			platform,
			publisher_id: publisher,
			publisher_click_id: publisherClickId,
			source_id: source,
			reason,
			clicked_at: clickedAt,
		};
		await storeClicks(clickRow(row));
	}

	async #rate(id: string): Promise<void> {
		if (this.model.rates.has(id)) return;
		this.model.rates.set(id, 1_083_456_789n);
		const [currency = "", day = ""] = id.split(" ");
		await env.DB.prepare("INSERT INTO exchange_rates (id, currency, date, usd_nanos) VALUES (?, ?, ?, 1083456789)")
			.bind(id, currency, day)
			.run();
	}

	async #judge({ platform, txnid, verdict }: Extract<Step, { kind: "judge" }>): Promise<void> {
		const before = this.model.totals();
		const isKnown = this.model.judge(platform, txnid, verdict, this.#now);
		const after = this.model.totals();
		const deps = { db: openDatabase(env.DB), now: () => this.#now, callbacks: undefined };
		const judgement = await judgeConversion(deps, { platform, txnid }, verdict, "adjustment-1");
		const change = { publisherRevenueMicros: after[0] - before[0], grossMicros: after[1] - before[1] };
		if (isKnown) expect(judgement).toMatchObject(change);
		else expect(judgement).toBeNull();
	}

	/** Or, where it is suspended, makes it active again. */
	async #suspend(publisher: string): Promise<void> {
		const isActive = this.model.suspended.delete(publisher);
		if (!isActive) this.model.suspended.add(publisher);
		await setStatus(publisher, isActive ? "active" : "suspended");
	}

	async #hear(): Promise<void> {
		this.model.hear();
		await env.DB.prepare("UPDATE callbacks SET state = 'delivered', exposures = 1 WHERE state = 'due'").run();
	}

	/** The currency that `east` reports in, where it names none, is another from here on. */
	async #moveHome(currency: string): Promise<void> {
		this.model.homes.set("east", currency);
		await setHome(currency);
	}

	async #pass(minutes: number): Promise<void> {
		this.#now += minutes * MINUTE;
		this.model.sweep(this.#now);
		await sweepConversions({ db: openDatabase(env.DB), now: () => this.#now, callbacks: undefined });
	}

	async #consume(bodies: readonly unknown[], database: D1Database = env.DB): Promise<void> {
		const messages = bodies.map((body, at) => ({ id: `m-${at}`, timestamp: new Date(), attempts: 1, body }));
		const batch = createMessageBatch("clickbourse-postbacks", messages);
		await consumePostbacks({ db: openDatabase(database), now: () => this.#now, callbacks: undefined, postbacks: undefined }, batch);
		const { explicitAcks } = await getQueueResult(batch, createExecutionContext());
		// What is known already needs no write, and is acknowledged even then.
		if (database !== FAILING) expect(explicitAcks).toHaveLength(messages.length);
	}
}

function setStatus(publisher: string, status: "active" | "suspended"): Promise<unknown> {
	return env.DB.prepare("UPDATE publishers SET status = ? WHERE id = ?").bind(status, publisher).run();
}

function setHome(currency: string): Promise<unknown> {
	return env.DB.prepare("UPDATE platforms SET currency = ? WHERE id = 'east'").bind(currency).run();
}

let failures = 0;

/** The real database, whose writing transactions fail at their end, when everything before has been done. */
const FAILING: D1Database = new Proxy(env.DB, {
	get(target, name) {
		const value: unknown = Reflect.get(target, name);
		if (name !== "batch") return typeof value === "function" ? value.bind(target) : value;
		return (statements: D1PreparedStatement[]) => {
			if (!statements.some((statement) => JSON.stringify(statement).includes("INSERT INTO"))) return target.batch(statements);
			failures++;
			return target.batch([...statements, target.prepare("SELECT * FROM no_such_table")]);
		};
	},
});

async function check({ model }: World): Promise<void> {
	const columns = Object.keys(model.conversions()[0] ?? { platform: "" }).join(", ");
	expect(await readAll(`SELECT ${columns} FROM conversions ORDER BY platform, txnid`)).toEqual(model.conversions());
	expect(
		await readAll(
			"SELECT platform, txnid, seq, status, payout_micros, cid, event_at, publisher_id, state FROM callbacks ORDER BY platform, txnid, seq",
		),
	).toEqual(model.callbacks());
	const sums = "conversion_count, conversion_revenue_micros, gross_micros, sales_micros, pending_revenue_micros";
	const sources = await readAll(
		`SELECT publisher_id, date, source_id, ${sums} FROM daily_sources WHERE conversion_count <> 0 OR gross_micros <> 0`,
	);
	expect(sources.map((row) => Object.values(row)).sort(byText)).toEqual(model.sums("publishers"));
	const totals = (of: string) =>
		readAll(`SELECT publisher_id, date, ${sums.replaceAll(/\w+/g, "sum($&) AS $&")} FROM ${of} GROUP BY 1, 2 ORDER BY 1, 2`);
	expect(await totals("daily_publishers")).toEqual(await totals("daily_sources"));
	const counted = (await totals("daily_campaigns")).map((row) => Object.values(row)).filter(([, , count]) => count !== 0);
	expect(counted.sort(byText)).toEqual(byPublisherAndDay(model.sums("campaigns")));
	expect(await readAll("SELECT count(*) AS n FROM postback_intake")).toEqual([{ n: model.seen }]);
	await checkHistory();
	// What the operator checks every night finds nothing amiss either.
	const keys = await readAll<{ platform: string; txnid: string }>("SELECT platform, txnid FROM conversions");
	expect((await checkLedger({ db: openDatabase(env.DB), now: () => 0 }, keys)).differences).toEqual([]);
}

/** Sums of all sources together. */
function byPublisherAndDay(sums: readonly unknown[][]): unknown[][] {
	const groups = Map.groupBy(sums, ([publisher, date]) => JSON.stringify([publisher, date]));
	const added = (rows: readonly unknown[][], at: number) => rows.reduce((sum, row) => sum + Number(row[at]), 0);
	return [...groups].map(([key, rows]) => [...(JSON.parse(key) as string[]), ...[3, 4, 5, 6, 7].map((at) => added(rows, at))]).sort(byText);
}

/** Of each conversion the events are numbered without a gap, and what they set is its present state. */
async function checkHistory(): Promise<void> {
	const rows = await readAll<Record<string, unknown>>(
		"SELECT platform, txnid, stage, status, payout_micros AS payoutMicros, revenue_micros AS revenueMicros, click_id AS clickId, event_at AS eventAt, currency, usd_nanos AS usdNanos, event_count FROM conversions",
	);
	const events = await readAll("SELECT platform, txnid, seq, details -> '$.set' AS told FROM conversion_events ORDER BY seq");
	for (const { platform, txnid, event_count, ...state } of rows) {
		const own = events.filter((event) => event.platform === platform && event.txnid === txnid);
		expect(own.map(({ seq }) => seq)).toEqual(Array.from({ length: Number(event_count) }, (_, at) => at + 1));
		const blank = { revenueMicros: null, clickId: null, usdNanos: null };
		expect(Object.assign(blank, ...own.map(({ told }) => JSON.parse(String(told))))).toMatchObject(state);
	}
}

describe("worker: conversions exactly once", () => {
	beforeAll(async () => {
		await importConversionNetwork();
		await env.DB.prepare("UPDATE publishers SET revenue_share_ppm = 333333 WHERE id = 'quiet'").run();
		await env.DB.prepare("UPDATE publishers SET amendments = 'pair' WHERE id IN ('cpa', 'cpc')").run();
		await env.DB.prepare("UPDATE platforms SET max_payout_micros = ?, negative_payout = 'adjust' WHERE id = 'east'")
			.bind(PLATFORM_MAX.east)
			.run();
		await env.DB.prepare("UPDATE campaigns SET max_payout_micros = ?").bind(CAMPAIGN_MAX).run();
	});

	test("whatever comes, however often, in whatever order: the ledger, the sums and the outbox are those of the model", {
		timeout: 3_600_000,
	}, async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		vi.spyOn(console, "log").mockImplementation(() => {});
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
				await env.DB.batch(TABLES.map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
				for (const publisher of Object.keys(PUBLISHERS)) await setStatus(publisher, "active");
				await setHome("EUR");
				const world = new World();
				for (const step of steps) await world.take(step);
				await world.finish();
				await check(world);
			}),
			{ numRuns: RUNS },
		);
		expect(failures).toBeGreaterThan(RUNS / 4);
	});
});
