/**
 * Random histories of deliveries on real D1: messages lost, repeated, reordered and taken side by side, receivers that fail or whose
 * confirmation is lost, a database that fails before or after its commit. Whatever happens, publishers hear of everything, in order.
 */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { consumeCallbacks } from "../../../src/callbacks/consume-callbacks.ts";
import { callbackMessage } from "../../../src/callbacks/message.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { batchOf, Outbox } from "../../support/callback-outbox.ts";

type Fault = "refused" | "confirmation lost" | "database fails" | "commit unknown";
type Step =
	| { do: "add"; conversion: number }
	| { do: "work"; seed: number; twice: boolean }
	| { do: "lose messages" }
	| { do: "sweep" }
	| { do: "wait"; minutes: number }
	| { do: "fault"; faults: Fault[] };

const steps = fc.array(
	fc.oneof(
		{ weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), conversion: fc.nat(2) }) },
		{ weight: 4, arbitrary: fc.record({ do: fc.constant("work" as const), seed: fc.nat(5), twice: fc.boolean() }) },
		{ weight: 1, arbitrary: fc.constant({ do: "lose messages" as const }) },
		{ weight: 2, arbitrary: fc.constant({ do: "sweep" as const }) },
		{ weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), minutes: fc.constantFrom(0.05, 1, 2, 11) }) },
		{
			weight: 3,
			arbitrary: fc.record({
				do: fc.constant("fault" as const),
				faults: fc.array(fc.constantFrom<Fault[]>("refused", "confirmation lost", "database fails", "commit unknown"), {
					minLength: 1,
					maxLength: 25,
				}),
			}),
		},
	),
	{ minLength: 5, maxLength: 25 },
);

/** A publisher that remembers what it stored, a database that fails on demand, and what must never be seen. */
class World {
	readonly outbox: Outbox;
	/** Ids by conversion, in the order in which they are owed. */
	readonly owed: string[][] = [[], [], []];
	readonly stored = new Map<string, number>();
	/** How often a callback may have been repeated: its confirmation, or our knowledge of it, was lost. */
	readonly excused = new Map<string, number>();
	readonly violations: string[] = [];
	#calling = new Set<string>();
	#faults: Fault[] = [];
	#databaseFault: Fault | null = null;

	constructor() {
		const client = {
			prepare: (query: string) => env.DB.prepare(query),
			batch: async (statements: D1PreparedStatement[]) => {
				const fault = this.#databaseFault;
				this.#databaseFault = null;
				if (fault === "database fails") throw new Error("D1 is away");
				const results = await env.DB.batch(statements);
				if (fault === "commit unknown") throw new Error("the connection to D1 was lost");
				return results;
			},
		};
		this.outbox = new Outbox({ db: openDatabase(client as unknown as D1Database), fetch: (_url, init) => this.#receive(init) });
	}

	async #receive(init: RequestInit): Promise<Response> {
		const id = new Headers(init.headers).get("idempotency-key") ?? "";
		const conversion = this.owed.find((ids) => ids.includes(id)) ?? [];
		const key = conversion[0] ?? "";
		if (this.#calling.has(key)) this.violations.push(`two calls at a time for the conversion of ${id}`);
		this.#calling.add(key);
		await new Promise((resolve) => setTimeout(resolve, 0));
		this.#calling.delete(key);
		const fault = this.#faults.shift();
		if (fault === "refused") return new Response("no", { status: 500 });
		if (!this.stored.has(id) && conversion.slice(0, conversion.indexOf(id)).some((earlier) => !this.stored.has(earlier)))
			this.violations.push(`${id} overtook an earlier one`);
		this.stored.set(id, (this.stored.get(id) ?? 0) + 1);
		if (fault !== undefined) this.excused.set(id, (this.excused.get(id) ?? 0) + 1);
		if (fault === "confirmation lost") throw new Error("Network connection lost.");
		this.#databaseFault = fault ?? null;
		return new Response("stored");
	}

	async take(step: Step): Promise<void> {
		if (step.do === "add") {
			const ids = this.owed[step.conversion] ?? [];
			ids.push(await this.outbox.add("pub", `T${step.conversion}`, ids.length + 1));
		} else if (step.do === "work") await this.work(step.seed, step.twice);
		else if (step.do === "lose messages") this.outbox.sent = [];
		else if (step.do === "sweep") await this.outbox.sweep();
		else if (step.do === "wait") this.outbox.now += step.minutes * 60_000;
		else this.#faults.push(...step.faults);
	}

	/** Two consumers share what is ready, in any order; a message may come to both. */
	async work(seed: number, twice: boolean): Promise<void> {
		const { outbox } = this;
		const ready = outbox.sent.filter(({ at }) => at <= outbox.now).map(({ id }) => callbackMessage(id));
		outbox.sent = outbox.sent.filter(({ at }) => at > outbox.now);
		if (seed % 2 === 1) ready.reverse();
		const cut = Math.floor((ready.length * seed) / 5);
		const halves = twice ? [ready, ready] : [ready.slice(0, cut), ready.slice(cut)];
		await Promise.all(halves.map((messages) => consumeCallbacks(outbox.deps, batchOf(messages))));
	}

	/** All is well again; time passes until nothing is owed. */
	async heal(): Promise<void> {
		this.#faults = [];
		this.#databaseFault = null;
		for (let round = 0; round < 300; round++) {
			// Ever longer: the last retries are a day apart.
			this.outbox.now += (round + 1) * 11 * 60_000;
			await this.outbox.sweep();
			while (this.outbox.sent.some(({ at }) => at <= this.outbox.now)) await this.work(0, false);
			const left = await env.DB.prepare("SELECT COUNT(*) AS n FROM callbacks WHERE state <> 'delivered'").first<number>("n");
			if (left === 0) return;
		}
		this.violations.push("callbacks were left over");
	}
}

beforeEach(clear);

async function clear(): Promise<void> {
	await env.DB.batch(["callbacks", "callback_attempts", "callback_health"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
}

describe("worker: any history of deliveries", () => {
	it("ends with everything delivered, in order, one call at a time, and again only where a confirmation was lost", async () => {
		await fc.assert(
			fc.asyncProperty(steps, async (history) => {
				await clear();
				const world = new World();
				await world.outbox.addPublisher("pub", "http://pub.example/s2s");
				for (const step of history) await world.take(step);
				await world.heal();
				expect(world.violations).toEqual([]);
				for (const id of world.owed.flat()) {
					const times = world.stored.get(id) ?? 0;
					expect(times, `${id} was stored`).toBeGreaterThanOrEqual(1);
					expect(times, `${id} was repeated without need`).toBeLessThanOrEqual(1 + (world.excused.get(id) ?? 0));
				}
			}),
			{ numRuns: Number(env.PROPERTY_RUNS || 90) },
		);
	}, 120_000);
});
