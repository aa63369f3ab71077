/** Alerts: what is told of problems that begin and end, signed, once each, and again where the webhook fails. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { type Alert, type AlertRow, decideAlerts, LOOKS } from "../../src/alerts/decide-alerts.ts";
import { type AlertDeps, LOOK_EVERY_MINUTES, sweepAlerts } from "../../src/alerts/sweep-alerts.ts";
import { openDatabase } from "../../src/db/client.ts";
import { readWebhookSecret, signWebhook } from "../../src/lib/sign-webhook.ts";
import type { Problem } from "../../src/operator/status/problems-answer.ts";
import { rowsOf } from "../support/click-messages.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEY = readWebhookSecret(SECRET) ?? new Uint8Array(0);
const START = Date.parse("2026-11-18T15:00:00Z");
const MINUTE_MS = 60_000;

const problem = (kind: Problem["kind"], count = 1): Problem => ({
	kind,
	text: "what it is",
	since: null,
	count,
	cost: null,
	command: "replay",
});

type Call = { url: string; headers: Headers; body: Alert };

/** The cron, minute by minute, over a network whose problems the test sets. */
class Cron {
	problems: readonly Problem[] = [];
	/** What the webhook answers. */
	answer: () => Promise<Response> = () => Promise.resolve(new Response("ok"));
	/** Whether the status cannot be read. */
	isAway = false;
	db = openDatabase(env.DB);
	kv = env.BOOK;
	readonly calls: Call[] = [];
	readonly thrown: string[] = [];
	minute = START / MINUTE_MS;
	looks = 0;

	async run(minutes: number, webhook: AlertDeps["webhook"] = { url: "https://hooks.example/alerts", key: KEY }): Promise<void> {
		for (const end = this.minute + minutes; this.minute < end; this.minute++) {
			const fetch = (url: string, { headers, body }: RequestInit) => {
				this.calls.push({ url, headers: new Headers(headers), body: JSON.parse(String(body)) });
				return this.answer();
			};
			const readProblems = () => {
				this.looks++;
				return this.isAway ? Promise.reject(new Error("away")) : Promise.resolve(this.problems);
			};
			const deps = { db: this.db, kv: this.kv, now: () => this.minute * MINUTE_MS, webhook, readProblems, fetch };
			await sweepAlerts(deps, this.minute).catch((error: unknown) => this.thrown.push(String(error)));
		}
	}

	get told(): string[] {
		return this.calls.map(({ body }) => `${body.type} ${body.data.kind}`);
	}
}

beforeEach(async () => {
	await env.DB.prepare("DELETE FROM problem_alerts").run();
	await env.BOOK.delete("alert:unreadable");
});

describe("worker: alerts", () => {
	it("a problem is told once two looks have seen it, and its end once two have not; then nothing is kept", async () => {
		const cron = new Cron();
		cron.problems = [problem("unmatched", 3)];
		await cron.run(LOOK_EVERY_MINUTES);
		expect(cron.told).toEqual([]);
		await cron.run(10 * LOOK_EVERY_MINUTES);
		expect(cron.told).toEqual(["problem.began unmatched"]);
		expect(cron.looks).toBe(11);
		cron.problems = [];
		await cron.run(LOOK_EVERY_MINUTES);
		cron.problems = [problem("unmatched")];
		await cron.run(3 * LOOK_EVERY_MINUTES);
		expect(cron.told).toHaveLength(1);
		cron.problems = [];
		await cron.run(3 * LOOK_EVERY_MINUTES);
		expect(cron.told).toEqual(["problem.began unmatched", "problem.ended unmatched"]);
		expect(await rowsOf("SELECT kind FROM problem_alerts")).toEqual([]);
		const { pathname } = new URL(cron.calls[0]?.url ?? "");
		expect([pathname, cron.calls[0]?.body.data]).toEqual(["/alerts", problem("unmatched", 3)]);
	});

	it("signs as Standard Webhooks has it", async () => {
		// The example of its libraries.
		const headers = await signWebhook([KEY], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330_000, '{"test": 2432232314}');
		expect(headers).toEqual({
			"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
			"webhook-timestamp": "1614265330",
			"webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		});
		const cron = new Cron();
		cron.problems = [problem("waiting")];
		await cron.run(2 * LOOK_EVERY_MINUTES);
		const [call] = cron.calls;
		const id = call?.headers.get("webhook-id") ?? "";
		const at = Number(call?.headers.get("webhook-timestamp")) * 1_000;
		expect(call?.headers.get("webhook-signature")).toBe(
			(await signWebhook([KEY], id, at, JSON.stringify(call?.body)))["webhook-signature"],
		);
		expect(["x", "whsec_AAAA", "whsec_%"].map(readWebhookSecret)).toEqual([null, null, null]);
	});

	it("a name and a password in the address are sent as a header: what is called has none", async () => {
		const cron = new Cron();
		cron.problems = [problem("waiting")];
		await cron.run(2 * LOOK_EVERY_MINUTES, { url: "https://ops:p%C3%A4ss%20w:rd@hooks.example/alerts?team=1", key: KEY });
		const [call] = cron.calls;
		expect(call?.url).toBe("https://hooks.example/alerts?team=1");
		expect(call?.headers.get("authorization")).toBe("Basic b3BzOnDDpHNzIHc6cmQ=");
		cron.problems = [];
		await cron.run(2 * LOOK_EVERY_MINUTES);
		expect(cron.calls[1]?.headers.get("authorization")).toBeNull();
	});

	it("a webhook that fails gets the same alert again, later and later, and nothing else is held up", async () => {
		const cron = new Cron();
		cron.answer = () => Promise.reject(new TypeError("no route"));
		cron.problems = [problem("waiting"), problem("unmatched")];
		await cron.run(30);
		expect(new Set(cron.calls.map(({ headers }) => headers.get("webhook-id"))).size).toBe(2);
		// At 5, 6, 8, 12 and 20 minutes.
		expect(cron.calls).toHaveLength(10);
		cron.answer = () => Promise.resolve(new Response("busy", { status: 503 }));
		await cron.run(30);
		cron.answer = () => Promise.resolve(new Response(null, { status: 204 }));
		await cron.run(90);
		const answered = cron.calls.length;
		await cron.run(60);
		expect(cron.calls).toHaveLength(answered);
		expect(await rowsOf("SELECT kind, told, body FROM problem_alerts ORDER BY kind")).toEqual([
			{ kind: "unmatched", told: 1, body: null },
			{ kind: "waiting", told: 1, body: null },
		]);
	});

	it("that alerts fail is in the status alone: it is no alert, then or later", async () => {
		const cron = new Cron();
		cron.problems = [problem("alerts_fail"), problem("waiting")];
		await cron.run(3 * LOOK_EVERY_MINUTES);
		expect(cron.told).toEqual(["problem.began waiting"]);
	});

	it("the end of what may have arrived is told, though nobody answered", async () => {
		const cron = new Cron();
		cron.answer = () => Promise.reject(new DOMException("The operation timed out", "TimeoutError"));
		cron.problems = [problem("waiting")];
		await cron.run(3 * LOOK_EVERY_MINUTES);
		expect(new Set(cron.told)).toEqual(new Set(["problem.began waiting"]));
		cron.problems = [];
		await cron.run(2 * LOOK_EVERY_MINUTES);
		cron.answer = () => Promise.resolve(new Response("ok"));
		const before = cron.calls.length;
		await cron.run(60);
		expect(cron.told.slice(before)).toEqual(["problem.ended waiting"]);
		expect(await rowsOf("SELECT kind FROM problem_alerts")).toEqual([]);
	});

	it("what ended before anybody was called is not told", () => {
		const id = () => "alert-1";
		const looks = [[problem("waiting")], [problem("waiting")], [], []];
		const rows = looks.reduce<AlertRow[]>((before, problems, at) => decideAlerts(before, problems, at, id).write, []);
		expect(rows).toEqual([]);
	});

	it("that the status cannot be read is told without the database, from the second look on, and so is its end", async () => {
		const cron = new Cron();
		cron.problems = [problem("waiting")];
		await cron.run(2 * LOOK_EVERY_MINUTES);
		cron.isAway = true;
		cron.db = openDatabase(
			new Proxy(env.DB, {
				get: () => () => {
					throw new Error("D1 is away");
				},
			}),
		);
		await cron.run(LOOK_EVERY_MINUTES);
		expect(cron.told).toEqual(["problem.began waiting"]);
		cron.answer = () => Promise.resolve(new Response("busy", { status: 503 }));
		await cron.run(2 * LOOK_EVERY_MINUTES);
		cron.answer = () => Promise.resolve(new Response("ok"));
		await cron.run(5 * LOOK_EVERY_MINUTES);
		const tries = cron.calls.slice(1);
		expect(tries.map(({ body }) => [body.type, body.data.kind])).toEqual(Array(3).fill(["problem.began", "status_unreadable"]));
		expect(new Set(tries.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
		expect(cron.thrown).toHaveLength(8 * LOOK_EVERY_MINUTES);
		cron.isAway = false;
		cron.db = openDatabase(env.DB);
		const before = cron.calls.length;
		await cron.run(4 * LOOK_EVERY_MINUTES);
		expect(cron.told.slice(before)).toEqual(["problem.ended status_unreadable"]);
		expect(await env.BOOK.get("alert:unreadable")).toBeNull();
		expect(cron.thrown).toHaveLength(8 * LOOK_EVERY_MINUTES);
	});

	it("that the status cannot be read is told without KV, too, once, and so is its end; what else stands is not ended by it", async () => {
		const cron = new Cron();
		cron.problems = [problem("waiting")];
		await cron.run(2 * LOOK_EVERY_MINUTES);
		cron.isAway = true;
		cron.kv = new Proxy(env.BOOK, {
			get: () => () => {
				throw new Error("KV is away");
			},
		});
		await cron.run(5 * LOOK_EVERY_MINUTES);
		expect(cron.told).toEqual(["problem.began waiting", "problem.began status_unreadable"]);
		cron.isAway = false;
		cron.kv = env.BOOK;
		await cron.run(4 * LOOK_EVERY_MINUTES);
		expect(cron.told.slice(2)).toEqual(["problem.ended status_unreadable"]);
		expect(await rowsOf("SELECT kind FROM problem_alerts")).toEqual([{ kind: "waiting" }]);
	});

	it("one look that failed is not told, and leaves nothing", async () => {
		const cron = new Cron();
		cron.isAway = true;
		await cron.run(LOOK_EVERY_MINUTES);
		expect(await env.BOOK.get("alert:unreadable")).not.toBeNull();
		cron.isAway = false;
		await cron.run(LOOK_EVERY_MINUTES);
		expect([cron.told, await env.BOOK.get("alert:unreadable"), cron.thrown]).toEqual([[], null, ["Error: away"]]);
	});

	it("without a webhook nothing is looked at", async () => {
		const cron = new Cron();
		cron.problems = [problem("waiting")];
		await cron.run(20, null);
		expect([cron.looks, cron.calls]).toEqual([0, []]);
	});

	it("whatever comes and goes, and arrives without an answer, what stands is what was told last", () => {
		const kinds = ["waiting", "unmatched"] as const;
		const outcomes = ["answered", "unanswered", "lost", "not tried"] as const;
		const steps = fc.array(fc.record({ seen: fc.subarray([...kinds]), sends: fc.constantFrom(...outcomes) }), { maxLength: 40 });
		fc.assert(
			fc.property(steps, (history) => {
				let rows: AlertRow[] = [];
				const told: Record<string, string[]> = { waiting: [], unmatched: [] };
				const ending = Array.from({ length: LOOKS + 1 }, () => ({
					seen: history.at(-1)?.seen ?? [],
					sends: "answered" as const,
				}));
				for (const [at, { seen, sends }] of [...history, ...ending].entries()) {
					const { write, remove } = decideAlerts(
						rows,
						seen.map((kind) => problem(kind)),
						at,
						() => `id-${at}`,
					);
					rows = [...rows.filter(({ kind }) => !remove.includes(kind) && !write.some((row) => row.kind === kind)), ...write];
					if (sends === "not tried") continue;
					rows = rows.map((row) => {
						if (row.body === null) return row;
						if (sends !== "lost") told[row.kind]?.push((JSON.parse(row.body) as Alert).type);
						if (sends !== "answered") return { ...row, tries: row.tries + 1 };
						return { ...row, told: row.standing, body: null, tries: row.tries + 1 };
					});
				}
				for (const kind of kinds) {
					const last = told[kind]?.at(-1);
					expect(last === "problem.began").toBe(history.at(-1)?.seen.includes(kind) ?? false);
					const isTold = history.every(({ sends }) => sends === "answered" || sends === "not tried");
					// Where every call is answered, nothing is told twice.
					if (isTold) expect(told[kind]).toEqual(told[kind]?.map((_, at) => (at % 2 === 0 ? "problem.began" : "problem.ended")));
				}
			}),
		);
	});
});
