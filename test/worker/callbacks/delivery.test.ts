/** Callbacks on real D1 against a real HTTP server: what counts as confirmed, what a failing receiver does, order, one call at a time. */
import { env, exports } from "cloudflare:workers";
import { type Schema, Validator } from "@cfworker/json-schema";
import { describe, expect, it } from "vitest";
import { consumeCallbacks } from "../../../src/callbacks/consume-callbacks.ts";
import { callbackMessage } from "../../../src/callbacks/message.ts";
import { batchOf, Outbox, START } from "../../support/callback-outbox.ts";
import { received, receivedCalls, receiverUrl, setStatus } from "../../support/callback-receiver.ts";
import { ON_BOTH, ON_D1 } from "../../support/engine.ts";
import { OPERATOR_HEADERS } from "../../support/network-import.ts";

/** An outbox with one publisher, whose address behaves as named. */
async function outboxFor(name: string, behaviour: string, changes: ConstructorParameters<typeof Outbox>[0] = {}): Promise<Outbox> {
	const outbox = new Outbox(changes);
	await outbox.addPublisher(name, receiverUrl(behaviour, `${name}?source=network&sig=a%20b`));
	return outbox;
}

describe("worker: a callback that is confirmed", () => {
	it("is one GET with txnid, cid, payout, status and edate behind the publisher's own parameters", async () => {
		const outbox = await outboxFor("confirmed", "answer");
		const id = await outbox.add("confirmed", "T 1&2");
		await outbox.work();
		const calls = await receivedCalls("confirmed");
		expect(calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
			"GET /answer/confirmed?source=network&sig=a%20b&txnid=T%201%262&cid=click%201&payout=8.4000&status=approved&edate=2026-11-18T14%3A59%3A00.000Z",
		]);
		expect(await outbox.row(id)).toMatchObject({ state: "delivered", attempt_count: 1, next_attempt_at: null, lease: null });
		expect(await outbox.attempts(id)).toMatchObject([{ started_at: START, http_status: 200, answer: "stored" }]);
	});

	it("carries no key of ours, and what a receiver recognises a repeated call by", async () => {
		const outbox = await outboxFor("headers", "answer");
		const id = await outbox.add("headers", "T1");
		await outbox.work();
		const [call] = await receivedCalls("headers");
		const names = Object.keys(call?.headers ?? {});
		for (const name of ["accesskey", "publisherkey", "operatorkey", "authorization", "cookie"]) expect(names).not.toContain(name);
		expect(call?.headers["idempotency-key"]).toBe(id);
		expect(call?.headers["user-agent"]).toBe("Clickbourse-Callback/1");
	});

	it("is as /openapi.json describes it", async () => {
		const { webhooks } = await (await exports.default.fetch("http://base.example/openapi.json")).json<{
			webhooks: { conversion: { get: { parameters: { in: string; name: string; schema: Schema }[] } } };
		}>();
		const { parameters } = webhooks.conversion.get;
		const outbox = await outboxFor("described", "answer");
		const secret = { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify({ kind: "callback_secret", owner: "described" }) };
		expect((await exports.default.fetch("http://base.example/operator/keys/issue", secret)).status).toBe(200);
		await outbox.add("described", "T1");
		await outbox.work();
		const [call] = await receivedCalls("described");
		const query = new URL(call?.url ?? "", "http://receiver.example").searchParams;
		const sent = parameters.map(({ in: place, name }) => (place === "query" ? query.get(name) : call?.headers[name.toLowerCase()]));
		const faults = parameters.filter(({ schema }, at) => !new Validator(schema, "2020-12").validate(sent[at]).valid);
		expect(faults.map(({ name }) => name)).toEqual([]);
		expect(parameters).toHaveLength(10);
	});

	it.each([200, 201, 202, 204, 299])("by a %d", async (status) => {
		const name = `by-${status}`;
		await setStatus(name, status);
		const outbox = await outboxFor(name, "answer");
		const id = await outbox.add(name, "T1");
		await outbox.work();
		expect(await outbox.row(id)).toMatchObject({ state: "delivered" });
	});

	it.each([
		["cut", "half an ans"],
		["endless", "x".repeat(512)],
		["binary", "\ufffd\ufffd A B"],
	])("by a 2xx whose body is %s: a few bytes of it are kept, the rest is dropped", async (behaviour, answer) => {
		const outbox = await outboxFor(behaviour, behaviour);
		const id = await outbox.add(behaviour, "T1");
		await outbox.work();
		expect(await outbox.row(id)).toMatchObject({ state: "delivered" });
		const [attempt] = await outbox.attempts(id);
		expect(attempt?.answer).toBe(answer);
	});
});

describe("worker: a callback that is not confirmed is due again, and its attempt is logged", () => {
	it.each([
		["answer", 500, "stored"],
		["answer", 404, "stored"],
		["redirect", 302, ""],
		["silent", null, "no answer within 0.3 s"],
	])("%s %s", async (behaviour, status, answer) => {
		const name = `not-${behaviour}-${status}`;
		if (behaviour === "answer") await setStatus(name, status ?? 0);
		const outbox = await outboxFor(name, behaviour, behaviour === "silent" ? { timeoutMs: 300 } : {});
		const id = await outbox.add(name, "T1");
		await outbox.work();
		expect(await outbox.row(id)).toMatchObject({
			state: "due",
			attempt_count: 1,
			schedule_step: 1,
			next_attempt_at: START + 5_000,
			lease: null,
		});
		expect(await outbox.attempts(id)).toMatchObject([{ http_status: status, answer }]);
		// A redirect is not followed.
		expect(await receivedCalls(name)).toHaveLength(1);
		// Sweeps of later tests would find it due, and wait for the silent address each time.
		await env.DB.prepare("UPDATE callbacks SET state = 'no_url', next_attempt_at = NULL WHERE id = ?").bind(id).run();
	});

	it.each(["garbage", "close"])("%s", async (behaviour) => {
		const name = `broken-${behaviour}`;
		const outbox = await outboxFor(name, behaviour);
		const id = await outbox.add(name, "T1");
		await outbox.work();
		expect(await outbox.row(id)).toMatchObject({ state: "due", attempt_count: 1, next_attempt_at: START + 5_000 });
		const [attempt] = await outbox.attempts(id);
		expect(attempt).toMatchObject({ http_status: null, answer: expect.stringMatching(/^no answer: /) });
	});

	it("an answer that repeats the address is kept without what may be a secret in that", async () => {
		const outbox = await outboxFor("echo", "echo");
		await outbox.addPublisher("echo", `${receiverUrl("echo", "echo")}/AbC123dEf456gHi789?token=s3cr3t-of-acme&id={id}`);
		const id = await outbox.add("echo", "T1");
		await outbox.work();
		expect((await outbox.attempts(id))[0]?.answer).toMatch(
			new RegExp(`^Cannot GET /echo/echo/\\*\\*\\*\\?token=\\*\\*\\*&id=${id}&txnid=T1&`),
		);
	});

	it("an address that must not be called is not, and the attempt says why", async () => {
		const outbox = await outboxFor("insecure", "answer", { allowInsecure: false });
		const id = await outbox.add("insecure", "T1");
		await outbox.work();
		expect(await receivedCalls("insecure")).toEqual([]);
		expect(await outbox.attempts(id)).toMatchObject([{ http_status: null, answer: "not called: the address must be an https address" }]);
	});

	it("nor is one that its macros make longer than servers and Workers take", async () => {
		const outbox = await outboxFor("long", "answer");
		await outbox.addPublisher("long", `${receiverUrl("answer", "long")}?${"a={cid}&".repeat(100)}`);
		const [id, short] = [await outbox.add("long", "T1"), await outbox.add("long", "T2")];
		await env.DB.prepare("UPDATE callbacks SET exposures = 0, cid = ? WHERE id = ?").bind("€".repeat(20), id).run();
		await outbox.work();
		expect((await received("long")).length).toBe(1);
		expect(await outbox.row(short)).toMatchObject({ state: "delivered" });
		expect(await outbox.attempts(id)).toMatchObject([
			{ http_status: null, answer: "not called: with its macros filled in, the address is longer than 16,384 characters" },
		]);
		// The publisher cannot know of it: another amount may take its place.
		expect(await outbox.row(id)).toMatchObject({ state: "due", exposures: 0 });
	});

	it("Retry-After is kept to", async () => {
		const outbox = await outboxFor("busy", "busy");
		const id = await outbox.add("busy", "T1");
		await outbox.work();
		expect(await outbox.row(id)).toMatchObject({ next_attempt_at: START + 120_000 });
		await outbox.pass(1);
		expect(await receivedCalls("busy")).toHaveLength(1);
		await outbox.pass(1);
		expect(await receivedCalls("busy")).toHaveLength(2);
	});

	it("at 5 s, 1 m, 5 m, 30 m, 2 h, 6 h, 12 h and 24 h it is tried again, and then it is exhausted", async () => {
		await setStatus("schedule", 500);
		const outbox = await outboxFor("schedule", "answer");
		const id = await outbox.add("schedule", "T1");
		const waits: number[] = [];
		for (let before = START; ; ) {
			await outbox.work();
			const { state, next_attempt_at } = await outbox.row(id);
			if (state === "exhausted" || next_attempt_at === null) break;
			waits.push((next_attempt_at - before) / 60_000);
			outbox.now = before = next_attempt_at;
			await outbox.sweep();
		}
		expect(waits).toEqual([5 / 60, 1, 5, 30, 120, 360, 720, 1440]);
		expect(await outbox.row(id)).toMatchObject({ state: "exhausted", attempt_count: 9, next_attempt_at: null });
		expect(await receivedCalls("schedule")).toHaveLength(9);
	});
});

describe("worker: order within a conversion", () => {
	it("a cancellation waits for its credit, and goes as soon as that is confirmed", async () => {
		await setStatus("order", 500);
		const outbox = await outboxFor("order", "answer");
		const credit = await outbox.add("order", "T1", 1);
		const cancellation = await outbox.add("order", "T1", 2);
		const other = await outbox.add("order", "T2", 1);
		await outbox.work();
		expect((await received("order")).sort()).toEqual(["T1 approved", "T2 approved"]);
		expect(await outbox.row(cancellation)).toMatchObject({ state: "due", held_for: "order", attempt_count: 0 });
		await setStatus("order", 200);
		outbox.now += 5_000;
		await outbox.work();
		expect((await received("order")).slice(2).filter((call) => call.startsWith("T1"))).toEqual(["T1 approved", "T1 cancelled"]);
		for (const row of await outbox.rows([credit, cancellation, other])) expect(row).toMatchObject({ state: "delivered" });
	});

	it("in whatever order the queue brings them", async () => {
		const outbox = await outboxFor("shuffled", "answer");
		for (const seq of [1, 2, 3, 4]) await outbox.add("shuffled", "T1", seq);
		outbox.sent.reverse();
		await outbox.work();
		expect(await received("shuffled")).toEqual(["T1 approved", "T1 cancelled", "T1 approved", "T1 cancelled"]);
	});

	it("behind an exhausted credit a cancellation stays, also when a credit follows", async () => {
		const outbox = await outboxFor("stays", "answer");
		const credit = await outbox.add("stays", "T1", 1);
		await env.DB.prepare("UPDATE callbacks SET state = 'exhausted', next_attempt_at = NULL WHERE id = ?").bind(credit).run();
		const later = [await outbox.add("stays", "T1", 2), await outbox.add("stays", "T1", 3)];
		await outbox.work();
		await outbox.pass(30);
		expect(await received("stays")).toEqual([]);
		for (const row of await outbox.rows(later)) expect(row).toMatchObject({ state: "due", held_for: "order" });
	});

	it("another publisher's credit, of the same conversion, waits for nobody", async () => {
		await setStatus("first-of-two", 500);
		const outbox = await outboxFor("first-of-two", "answer");
		await outbox.addPublisher("second-of-two", receiverUrl("answer", "second-of-two"));
		const ofFirst = [await outbox.add("first-of-two", "T1", 1), await outbox.add("first-of-two", "T1", 2)];
		await outbox.work();
		const ofSecond: string[] = [];
		for (const seq of [3, 4]) ofSecond.push(await outbox.add("second-of-two", "T1", seq, undefined, true, "first-of-two"));
		await outbox.work();
		expect(await received("second-of-two")).toEqual(["T1 approved", "T1 cancelled"]);
		for (const row of await outbox.rows(ofSecond)) expect(row).toMatchObject({ state: "delivered" });
		await setStatus("first-of-two", 200);
		await outbox.pass(1);
		expect((await received("first-of-two")).slice(1)).toEqual(["T1 approved", "T1 cancelled"]);
		for (const row of await outbox.rows(ofFirst)) expect(row).toMatchObject({ state: "delivered" });
	});

	it("what waits behind another publisher's is let go, as an earlier version had it wait", async () => {
		const outbox = await outboxFor("first-before", "answer");
		await outbox.addPublisher("second-before", receiverUrl("answer", "second-before"));
		await outbox.add("first-before", "T1", 1);
		const held = await outbox.add("second-before", "T1", 2, "approved", false, "first-before");
		await env.DB.prepare("UPDATE callbacks SET held_for = 'order', next_attempt_at = NULL WHERE id = ?").bind(held).run();
		await outbox.work();
		expect(await received("second-before")).toEqual(["T1 approved"]);
	});

	it("one for which there was no address holds nothing up", async () => {
		const outbox = new Outbox();
		await outbox.addPublisher("late", null);
		const credit = await outbox.add("late", "T1", 1);
		await outbox.work();
		expect(await outbox.row(credit)).toMatchObject({ state: "no_url", attempt_count: 0 });
		await outbox.addPublisher("late", receiverUrl("answer", "late"));
		await outbox.add("late", "T1", 2);
		await outbox.work();
		await outbox.pass(5);
		expect(await received("late")).toEqual(["T1 cancelled"]);
	});
});

const SIDE_BY_SIDE = ON_D1 || ON_BOTH ? 6 : 5;

describe("worker: addresses side by side", () => {
	it("are as many as a Worker has connections, less the one to PostgreSQL", async () => {
		let calling = 0;
		let most = 0;
		const outbox = await outboxFor("side", "answer", {
			fetch: async () => {
				most = Math.max(most, ++calling);
				const since = Date.now();
				// However slowly the others set out; one too many has its time, too.
				while (most < SIDE_BY_SIDE && Date.now() - since < 2_000) await new Promise((resolve) => setTimeout(resolve, 10));
				await new Promise((resolve) => setTimeout(resolve, 50));
				calling--;
				return new Response("stored");
			},
		});
		await outbox.addMany("side", 20);
		await outbox.work();
		expect(most).toBe(SIDE_BY_SIDE);
	});

	it.each([1, 2, 20])("%d publishers with thousands that are due leave room in each sweep for the others'", async (publishers) => {
		const few = `few-beside-${publishers}`;
		// One after the other, or in turn.
		const values = Array.from({ length: publishers < 3 ? 1_100 * publishers : 1_100 }, (_, at) =>
			publishers < 3 ? Math.floor(at / 1_100) : at % publishers,
		);
		const outbox = await outboxFor(few, "answer");
		await env.DB.prepare(
			`INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, attempt_count, created_at, next_attempt_at)
			SELECT ?3 || key, ?3, 'T' || key, 1, ?3 || value, 'approved', 'click', 1, ?1, 'due', 0, ?1, ?1 FROM json_each(?2)`,
		)
			.bind(START - 60_000, JSON.stringify(values), `thousands-${publishers}-`)
			.run();
		const id = await outbox.add(few, "T1", 1, "approved", false);
		await outbox.sweep();
		expect(outbox.sent.map(({ id: sent }) => sent)).toContain(id);
		expect(outbox.sent.filter(({ id: sent }) => sent.startsWith("thousands-"))).toHaveLength(publishers === 2 ? 1_500 : 1_000);
		await env.DB.prepare("UPDATE callbacks SET state = 'no_url', next_attempt_at = NULL WHERE platform LIKE 'thousands-%'").run();
	});

	it("one that answers slowly takes its part of a minute, and what is left of its callbacks waits for the next, not everyone's", async () => {
		const together: (() => void)[] = [];
		const end = () => {
			outbox.now += 9_000;
			for (const go of together.splice(0)) go();
		};
		// All that are called at once take nine seconds, however late the last of them sets out.
		const slowly = () =>
			new Promise<void>((resolve) => {
				together.push(resolve);
				if (together.length === SIDE_BY_SIDE) end();
				else setTimeout(() => together.includes(resolve) && end(), 2_000);
			});
		const outbox = await outboxFor("tar", "answer", {
			fetch: async (url, init) => {
				if (url.includes("/tar?")) await slowly();
				return fetch(url, init);
			},
		});
		await outbox.addPublisher("behind-tar", receiverUrl("answer", "behind-tar"));
		const slow = await outbox.addMany("tar", 99);
		await outbox.add("behind-tar", "T1");
		await outbox.work();
		const early = (await receivedCalls("tar")).length;
		expect(early).toBeGreaterThan(5);
		expect(early).toBeLessThan(60);
		expect(await received("behind-tar")).toEqual(["T1 approved"]);
		await outbox.pass(30);
		for (const row of await outbox.rows(slow)) expect(row).toMatchObject({ state: "delivered", attempt_count: 1 });
		expect(await receivedCalls("tar")).toHaveLength(99);
	});
});

describe("worker: one call at a time", () => {
	it("the same message twice, at once and again later, calls once", async () => {
		const outbox = await outboxFor("twice", "answer");
		const id = await outbox.add("twice", "T1");
		const messages = [callbackMessage(id), callbackMessage(id), callbackMessage(id)];
		await Promise.all([consumeCallbacks(outbox.deps, batchOf(messages)), consumeCallbacks(outbox.deps, batchOf(messages))]);
		await outbox.work();
		expect(await received("twice")).toEqual(["T1 approved"]);
	});

	it("a delivery that crashed after the call is done again when its lease ends: at least once", async () => {
		let crashes = 1;
		const outbox = await outboxFor("crash", "answer", {
			fetch: async (url, init) => {
				const response = await fetch(url, init);
				if (crashes-- > 0) outbox.deps.db.$client.batch = () => Promise.reject(new Error("D1 is away"));
				return response;
			},
		});
		const { batch } = env.DB;
		const id = await outbox.add("crash", "T1");
		const retried = await outbox.work();
		Object.assign(outbox.deps.db.$client, { batch });
		expect(retried).toEqual(["0"]);
		expect(await outbox.row(id)).toMatchObject({ state: "due", lease: expect.any(String) });
		await outbox.pass(1);
		expect(await outbox.row(id)).toMatchObject({ state: "delivered" });
		const keys = (await receivedCalls("crash")).map(({ headers }) => headers["idempotency-key"]);
		expect(keys).toEqual([id, id]);
	});

	it("a delivery whose lease has ended, and that fails at last, changes nothing of what the next one brought about", async () => {
		let calls = 0;
		const outbox = await outboxFor("slow", "answer", {
			fetch: async (url, init) => {
				if (++calls > 1) return fetch(url, init);
				await outbox.pass(1);
				return new Response("too late", { status: 500 });
			},
		});
		const id = await outbox.add("slow", "T1");
		await outbox.work();
		expect(await outbox.row(id)).toMatchObject({ state: "delivered", attempt_count: 1, schedule_step: 0, next_attempt_at: null });
		expect((await outbox.attempts(id)).map(({ http_status }) => http_status).sort()).toEqual([200, 500]);
		await outbox.pass(2);
		expect(await received("slow")).toEqual(["T1 approved"]);
	});

	it("a message of another format is given back to the queue", async () => {
		const retried: string[] = [];
		await consumeCallbacks(new Outbox().deps, batchOf([{ format: 2, id: "x" }, "text", null, callbackMessage("unknown")], retried));
		expect(retried).toEqual(["0", "1", "2"]);
	});
});
