/** Dead letters: kept when a consumer fails to the end, shown, and sent to their queue again. */
import { createExecutionContext, createMessageBatch } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import { QUEUE_NAMES } from "../../src/lib/enums.ts";
import { faultsSchema } from "../../src/lib/shapes.ts";
import { deadLettersSchema, type Replayed, replayedSchema } from "../../src/operator/dead-letters/replay-answers.ts";
import { listDeadLetters, newestQuery, replayDeadLetters } from "../../src/operator/dead-letters/replay-dead-letters.ts";
import worker from "../../src/worker.ts";
import { ACTOR } from "../support/actor.ts";
import { clickMessage, rowsOf } from "../support/click-messages.ts";
import { clickRows } from "../support/clicks.ts";
import { ON_D1 } from "../support/engine.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";
import { planOf } from "../support/plan-of.ts";

function deadLetters(queue: string, ...bodies: unknown[]): Promise<void> {
	const messages = bodies.map((body) => ({ id: crypto.randomUUID(), timestamp: new Date(), attempts: 11, body }));
	return worker.queue(createMessageBatch(`clickbourse-${queue}-dead`, messages), env, createExecutionContext());
}

function ask(body: object, headers: Record<string, string> = OPERATOR_HEADERS, query = ""): Promise<Response> {
	return exports.default.fetch(`http://origin.example/operator/replay${query}`, { method: "POST", headers, body: JSON.stringify(body) });
}

async function replay(body: object): Promise<Replayed> {
	const response = await ask(body);
	expect(response.status).toBe(200);
	return v.parse(replayedSchema, await response.json());
}

async function faultsOf(body: object): Promise<v.InferOutput<typeof faultsSchema>> {
	const response = await ask(body);
	expect(response.status).toBe(422);
	return v.parse(faultsSchema, await response.json());
}

beforeAll(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 5001)] });
});

beforeEach(async () => {
	await forgetTraffic();
});

describe("worker: dead letters are replayed", () => {
	it("a replay sends them to their queue, whose consumer writes them; a second one sends nothing", async () => {
		const clicks = Array.from({ length: 230 }, () => clickMessage());
		for (let at = 0; at < clicks.length; at += 100) await deadLetters("clicks", ...clicks.slice(at, at + 100));
		expect(await replay({ dry_run: true })).toMatchObject({ replayed: { clicks: 230 }, remaining: { clicks: 230 } });
		expect(await replay({})).toMatchObject({ replayed: { clicks: 230, postbacks: 0, callbacks: 0 }, remaining: { clicks: 0 } });
		const written = await clickRows({ count: 230 });
		expect(new Set(written.map(({ id }) => id))).toEqual(new Set(clicks.map(({ id }) => id)));
		expect(await replay({})).toMatchObject({ replayed: { clicks: 0 } });
	});

	it("a letter that was replayed stays so where its batch comes once more", async () => {
		const letter = { id: crypto.randomUUID(), timestamp: new Date(), attempts: 11, body: clickMessage() };
		const deliver = () => worker.queue(createMessageBatch("clickbourse-clicks-dead", [letter]), env, createExecutionContext());
		await deliver();
		expect(await replay({})).toMatchObject({ replayed: { clicks: 1 } });
		await deliver();
		expect(await replay({})).toMatchObject({ replayed: { clicks: 0 }, remaining: { clicks: 0 } });
	});

	it("one that comes beside its twin is kept once, as are the others of its batch", async () => {
		const [id, other] = [crypto.randomUUID(), crypto.randomUUID()];
		const messages = [id, other, id].map((of) => ({ id: of, timestamp: new Date(), attempts: 11, body: { of } }));
		await worker.queue(createMessageBatch("clickbourse-clicks-dead", messages), env, createExecutionContext());
		const kept = await rowsOf<{ id: string }>("SELECT id FROM dead_letters");
		expect(new Set(kept.map((letter) => letter.id))).toEqual(new Set([id, other]));
		expect(kept).toHaveLength(2);
	});

	it("of large ones a request sends what an invocation has statements for, and the next ones the rest", async () => {
		await env.DB.prepare(
			`INSERT INTO dead_letters (id, queue, body, received_at)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 450)
			SELECT 'large-' || i, 'postbacks', ?, 0 FROM n`,
		)
			.bind(JSON.stringify("x".repeat(36_000)))
			.run();
		let sent = 0;
		let operations = 0;
		const postbacks = {
			sendBatch: (batch: Iterable<unknown>) => {
				sent += [...batch].length;
				operations++;
				return Promise.resolve();
			},
		} as unknown as Queue;
		const counted = wrapD1(env.DB, ({ length }) => {
			operations += length;
		});
		const db = openDatabase(counted);
		const deps = { db, queues: { clicks: undefined, postbacks, callbacks: undefined }, now: () => 1 };
		for (const remaining of [250, 50, 0]) {
			operations = 0;
			expect(await replayDeadLetters(deps, { queue: null, until: 1, actor: ACTOR })).toMatchObject({ remaining: { postbacks: remaining } });
			expect(operations).toBeLessThan(900);
		}
		expect(sent).toBe(450);
	});

	it("of the named queue only, and only those received until the given time", async () => {
		await deadLetters("clicks", clickMessage());
		await deadLetters("callbacks", { id: "no such callback" });
		expect(await replay({ queue: "clicks", until: "2020-01-01T00:00:00.000Z" })).toMatchObject({ replayed: { clicks: 0 } });
		expect(await replay({ queue: "clicks" })).toMatchObject({
			replayed: { clicks: 1, callbacks: 0 },
			remaining: { clicks: 0, callbacks: 1 },
		});
	});

	it("one that fails again is a dead letter again", async () => {
		await deadLetters("clicks", { format: 99 });
		await replay({});
		await expect
			.poll(async () => (await rowsOf("SELECT replayed_at IS NULL AS open FROM dead_letters")).length, { timeout: 20_000 })
			.toBe(2);
		expect(await replay({ dry_run: true })).toMatchObject({ replayed: { clicks: 1 } });
	});

	it("by the query, too, only says what it would send; what is mistyped there, or a list, sends nothing", async () => {
		await deadLetters("clicks", clickMessage());
		const dry = await ask({}, OPERATOR_HEADERS, "?dry_run=1");
		expect(v.parse(replayedSchema, await dry.json())).toMatchObject({ replayed: { clicks: 1 }, dry_run: true });
		const mistyped = await ask({}, OPERATOR_HEADERS, "?dryrun=1");
		expect([mistyped.status, await mistyped.json()]).toMatchObject([422, { faults: [{ path: "dryrun" }] }]);
		const twice = await ask({}, OPERATOR_HEADERS, "?dry_run=0&dry_run=1");
		expect([twice.status, await twice.json()]).toMatchObject([422, { faults: [{ path: "dry_run", message: "is given more than once" }] }]);
		expect(await faultsOf([])).toMatchObject({ fault_count: 1 });
		expect(await replay({ dry_run: true })).toMatchObject({ remaining: { clicks: 1 } });
	});

	it("reports say how far the data reaches, whatever text is in one", async () => {
		await deadLetters("clicks", { format: 99, at: Date.now(), text: "a\0b" }, { format: 99, at: Date.now(), text: "a\ud800b" });
		const response = await exports.default.fetch("http://origin.example/operator/reports?group=day", { headers: OPERATOR_HEADERS });
		expect(response.status).toBe(200);
	});

	it("shows the newest", async () => {
		await deadLetters("clicks", { format: 99, about: "what it says" });
		const response = await exports.default.fetch("http://origin.example/operator/replay?queue=clicks&limit=5", {
			headers: OPERATOR_HEADERS,
		});
		expect(v.parse(deadLettersSchema, await response.json())).toMatchObject({
			waiting: { clicks: 1, postbacks: 0, callbacks: 0 },
			letters: [{ queue: "clicks", replayed_at: null, body: { format: 99, about: "what it says" } }],
		});
	});

	it("shows the newest of each queue, replayed or not, and sorts nothing but those it has looked at", async () => {
		const add = "INSERT INTO dead_letters (id, queue, body, received_at, replayed_at) VALUES (?, ?, '{}', ?, ?)";
		const letters = [
			["a", "clicks", 100, null],
			["b", "postbacks", 300, 900],
			["c", "callbacks", 200, null],
			["d", "clicks", 400, 500],
			["e", "clicks", 50, 1_000],
			["f", "clicks", 150, null],
		] as const;
		await env.DB.batch(letters.map((letter) => env.DB.prepare(add).bind(...letter)));
		const newest = async (...asked: [queue: "clicks" | null, limit: number]) =>
			(await listDeadLetters(openDatabase(env.DB), ...asked)).map(({ id }) => id).join("");
		expect([await newest(null, 10), await newest(null, 3), await newest("clicks", 3), await newest("clicks", 9)]).toEqual([
			"dbcfae",
			"dbc",
			"dfa",
			"dfae",
		]);
		if (!ON_D1) return;
		const read = (await planOf(newestQuery(QUEUE_NAMES, 20))).filter((detail) => /\bdead_letters\b/.test(detail));
		expect(read).toHaveLength(5);
		expect(read.join("\n")).not.toMatch(/SCAN dead_letters$/m);
	});

	it("shows of large ones no more than an isolate has room for", async () => {
		await env.DB.prepare(
			`INSERT INTO dead_letters (id, queue, body, received_at)
				SELECT 'large-' || atom, 'postbacks', '"' || ?1 || '"', CAST(atom AS BIGINT) FROM json_each(?2)`,
		)
			.bind("x".repeat(100_000), JSON.stringify(Array.from({ length: 60 }, (_, at) => 100 + at)))
			.run();
		const ids = (await listDeadLetters(openDatabase(env.DB), null, 1_000)).map(({ id }) => id);
		expect([ids.length, ids[0], ids.at(-1)]).toEqual([49, "large-159", "large-111"]);
	});

	it("refuses what it does not know, and strangers", async () => {
		expect(await faultsOf({ queue: "letters" })).toMatchObject({ faults: [{ path: "queue" }] });
		for (const until of ["tomorrow", "2026-02-30T00:00:00Z", "2026-11-18T15:00:00+05"]) {
			expect(await faultsOf({ until })).toMatchObject({ faults: [{ path: "until" }] });
		}
		expect(await faultsOf({ dryrun: true })).toMatchObject({ fault_count: 1 });
		expect((await ask({}, {})).status).toBe(401);
	});
});
