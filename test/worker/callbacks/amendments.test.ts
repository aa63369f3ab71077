/** Other amounts of what was credited, on real D1: what is sent is what the outbox says, whatever happens while it is sent. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listCallbacks } from "../../../src/callbacks/list-callbacks.ts";
import { settlePostbacks } from "../../../src/conversions/settle-postbacks.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { Outbox } from "../../support/callback-outbox.ts";
import { clickRow, importConversionNetwork, postbackMessage, readAll, storeClicks } from "../../support/conversions.ts";

type Answer = number | "no answer" | (() => Promise<number>);
type Heard = { id: string; status: string; payout: string };

/** A publisher, `cpa`, that answers as it is told (200 when there is nothing left), and one conversion of it. */
class World {
	readonly heard: Heard[] = [];
	/** Calls that say of an id another amount than it was stored with. */
	readonly contradictions: Heard[] = [];
	answers: Answer[] = [];
	readonly outbox: Outbox;
	readonly #click = clickRow();
	readonly #txnid: string;
	readonly #stored = new Map<string, string>();

	constructor(txnid: string) {
		this.#txnid = txnid;
		this.outbox = new Outbox({ fetch: (url, init) => this.#receive(url, init) });
	}

	async open(amendments: "none" | "pair"): Promise<this> {
		await storeClicks(this.#click);
		await env.DB.prepare("UPDATE publishers SET amendments = ? WHERE id = 'cpa'").bind(amendments).run();
		return this;
	}

	async #receive(url: string, init: RequestInit): Promise<Response> {
		const query = new URL(url).searchParams;
		const id = new Headers(init.headers).get("idempotency-key") ?? "";
		const call = { id, status: query.get("status") ?? "", payout: query.get("payout") ?? "" };
		this.heard.push(call);
		if (this.#stored.has(id) && this.#stored.get(id) !== call.payout) this.contradictions.push(call);
		const next = this.answers.shift() ?? 200;
		const answer = typeof next === "function" ? await next() : next;
		// A receiver whose answer is lost has stored the callback, or not.
		if (answer === "no answer" || answer === 200 || answer === 504) this.#stored.set(id, call.payout);
		if (answer === "no answer") throw new DOMException("The operation timed out.", "TimeoutError");
		return new Response("", { status: answer });
	}

	/** A postback is settled; what is owed goes on the queue. */
	async say(payoutMicros: number, status: string | null = null, database: D1Database = env.DB): Promise<void> {
		this.outbox.now += 1;
		const message = postbackMessage(
			"west",
			{ txnid: this.#txnid, cid: String(this.#click.click_hash), payoutMicros, status },
			this.outbox.now,
		);
		await settlePostbacks({ db: openDatabase(database), callbacks: this.outbox.deps.queue, now: () => this.outbox.now }, [message]);
	}

	rows(): Promise<unknown[]> {
		return readAll("SELECT status, payout_micros AS payout, state FROM callbacks WHERE txnid = ? ORDER BY seq", this.#txnid);
	}

	async listed(): Promise<string[]> {
		const { data } = await listCallbacks({ db: openDatabase(env.DB) }, { txnid: this.#txnid, limit: 100 });
		return data.map(({ status, payout }) => `${status} ${payout}`);
	}

	/** Time passes until everything is delivered. */
	async heal(): Promise<void> {
		for (let round = 0; round < 20; round++) {
			this.outbox.now += 31 * 60_000;
			await this.outbox.sweep();
			await this.outbox.work();
			if ((await readAll("SELECT id FROM callbacks WHERE state <> 'delivered'")).length === 0) return;
		}
		throw new Error("callbacks were left over");
	}

	/** All that the publisher heard, shortly, without what was repeated. */
	get told(): string[] {
		return [...new Map(this.heard.map((call) => [call.id, `${call.status} ${call.payout}`])).values()];
	}
}

let number = 0;
const open = (amendments: "none" | "pair") => new World(`t-${++number}`).open(amendments);

/** The real database, before whose first amendment something else happens. */
function interrupted(happen: () => Promise<unknown>): D1Database {
	let isDone = false;
	const batch = async (statements: D1PreparedStatement[]) => {
		if (!isDone && statements.some((statement) => JSON.stringify(statement).includes("UPDATE callbacks"))) {
			isDone = true;
			await happen();
		}
		return env.DB.batch(statements);
	};
	return { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database;
}

beforeAll(importConversionNetwork);
beforeEach(async () => {
	await env.DB.batch(["callbacks", "callback_attempts", "callback_health"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
});

describe("worker: another amount of what was credited", () => {
	it("as a pair, is listed as it came about: the newest first, the credit before the cancellation", async () => {
		const lists: string[][] = [];
		for (let pair = 0; pair < 12; pair++) {
			const world = await open("pair");
			await world.say(10_000_000);
			await world.outbox.work();
			await world.say(20_000_000);
			lists.push(await world.listed());
		}
		expect(lists).toEqual(lists.map(() => ["approved 16.0000", "cancelled 8.0000", "approved 8.0000"]));
	});

	it.each(["none", "pair"] as const)("before it was sent, is what is sent: %s", async (amendments) => {
		const world = await open(amendments);
		await world.say(10_000_000);
		await world.say(20_000_000);
		await world.outbox.work();
		expect(world.heard).toMatchObject([{ status: "approved", payout: "16.0000" }]);
	});

	it.each([500, 404, 429, 302])("after the publisher refused it by a %d, is what is sent next, under the same id", async (status) => {
		const world = await open("pair");
		world.answers = [status];
		await world.say(10_000_000);
		await world.outbox.work();
		await world.say(20_000_000);
		await world.outbox.pass(2);
		expect(world.heard).toMatchObject([
			{ status: "approved", payout: "8.0000" },
			{ status: "approved", payout: "16.0000" },
		]);
		expect(new Set(world.heard.map(({ id }) => id)).size).toBe(1);
	});

	it.each(["no answer", 504, 522] as const)(
		"after an attempt that may have arrived (%s), is told as the publisher asks",
		async (answer) => {
			for (const [amendments, told] of [
				["none", ["approved 8.0000"]],
				["pair", ["approved 8.0000", "cancelled 8.0000", "approved 16.0000"]],
			] as const) {
				const world = await open(amendments);
				world.answers = [answer, 500];
				await world.say(10_000_000);
				await world.outbox.work();
				await world.say(20_000_000);
				await world.outbox.pass(10);
				expect(world.told).toEqual(told);
				expect(world.heard.slice(0, 3).map(({ payout }) => payout)).toEqual(["8.0000", "8.0000", "8.0000"]);
			}
		},
	);

	it("while it is sent, is told as the publisher asks: what was sent stays what the outbox says", async () => {
		const world = await open("pair");
		world.answers = [
			async () => {
				await world.say(20_000_000);
				return 200;
			},
		];
		await world.say(10_000_000);
		await world.outbox.work();
		await world.outbox.pass(2);
		expect(world.told).toEqual(["approved 8.0000", "cancelled 8.0000", "approved 16.0000"]);
		expect(await world.rows()).toEqual([
			{ status: "approved", payout: 8_000_000, state: "delivered" },
			{ status: "cancelled", payout: 8_000_000, state: "delivered" },
			{ status: "approved", payout: 16_000_000, state: "delivered" },
		]);
	});

	it("that was decided on before it was sent, and written after, is decided again", async () => {
		for (const [amendments, told] of [
			["none", ["approved 8.0000"]],
			["pair", ["approved 8.0000", "cancelled 8.0000", "approved 16.0000"]],
		] as const) {
			const world = await open(amendments);
			await world.say(10_000_000);
			await world.say(
				20_000_000,
				null,
				interrupted(() => world.outbox.work()),
			);
			await world.outbox.work();
			expect(world.told).toEqual(told);
			expect(await world.rows()).toMatchObject(told.map((call) => ({ payout: Number(call.split(" ")[1]) * 1_000_000 })));
		}
	});

	it("after its delivery crashed, is told as the publisher asks", async () => {
		const world = await open("none");
		await world.say(10_000_000);
		await env.DB.prepare("UPDATE callbacks SET lease = 'gone', exposures = 1, next_attempt_at = ?").bind(world.outbox.now).run();
		await world.say(20_000_000);
		await world.outbox.pass(2);
		expect(world.told).toEqual(["approved 8.0000"]);
	});

	it("whatever happens: an id says one amount once it may be known, and the publisher's books are right in the end", async () => {
		const step = fc.oneof(
			{ weight: 4, arbitrary: fc.record({ payout: fc.constantFrom(10, 20, 30), status: fc.constantFrom(null, null, "void") }) },
			{ weight: 4, arbitrary: fc.constantFrom<Answer[]>(200, 500, 504, "no answer").map((answer) => ({ answer })) },
			{ weight: 2, arbitrary: fc.constant({ during: true }) },
			{ weight: 3, arbitrary: fc.constantFrom(0, 1, 6).map((minutes) => ({ minutes })) },
		);
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 14 }), async (steps) => {
				const world = await open("pair");
				let payout = 0;
				const say = async (amount: number, status: string | null) => {
					// Each says something new: a repetition would lift no cancellation.
					payout = amount * 1_000_000 + ++number * 100;
					await world.say(payout, status);
				};
				await say(10, null);
				for (const step of steps) {
					if ("payout" in step) await say(step.payout, step.status);
					else if ("answer" in step) world.answers.push(step.answer);
					else if ("minutes" in step) {
						// The cron comes in the first minute and in the last: what is due in between is due at the end.
						await world.outbox.pass(Math.min(step.minutes, 1));
						if (step.minutes > 1) {
							world.outbox.now += (step.minutes - 2) * 60_000;
							await world.outbox.pass(1);
						}
						await world.outbox.work();
					} else
						world.answers.push(async () => {
							await say(40, null);
							return 200;
						});
				}
				await say(50, null);
				world.answers = [];
				await world.heal();
				expect(world.contradictions).toEqual([]);
				const amounts = Map.groupBy(world.heard, ({ id }) => id);
				const sent = [...amounts.values()].map((calls) => calls.at(-1)).filter((call) => call !== undefined);
				const net = sent.reduce((sum, call) => sum + Number(call.payout) * (call.status === "approved" ? 1 : -1), 0);
				expect(net).toBeCloseTo((payout * 0.8) / 1_000_000, 3);
			}),
			{ numRuns: 50 },
		);
	}, 120_000);
});
