/**
 * What everything answers while a database, KV or a queue is away: 503 with Retry-After, or what the interface has for it; a defect is 500.
 * PostgreSQL has test/postgres/broken-lines.test.ts.
 */
import { createExecutionContext, createMessageBatch, createScheduledController, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Operation } from "../../src/api-docs/operation.ts";
import { OPERATOR_API, PUBLIC_API } from "../../src/api-docs/operations/all.ts";
import { PAGES } from "../../src/console/console-routes.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import worker from "../../src/worker.ts";
import { clickMessage } from "../support/click-messages.ts";
import { OWN, signIn } from "../support/console.ts";
import { importConversionNetwork, postbackFields, postbackMessage, WEST_KEY } from "../support/conversions.ts";
import { timed } from "../support/timed.ts";

const LOST = "D1_ERROR: Network connection lost.";
const UNAVAILABLE = { error: "Service unavailable", message: expect.any(String) };
const HANGS = () => new Promise<never>(() => {});

/** @param after how many calls it still answers */
function failingD1(d1: D1Database, message = LOST, after = 0): D1Database {
	let calls = 0;
	return wrapD1(d1, () => {
		if (calls++ >= after) throw new Error(message);
	});
}

/** KV or a queue, these calls of which come to something else. */
function withCalls<Binding extends object>(binding: Binding, calls: Record<string, () => unknown>): Binding {
	return new Proxy(binding, {
		get(target, name) {
			if (String(name) in calls) return calls[String(name)];
			const value: unknown = Reflect.get(target, name);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

/** Those of the interface that answer in their own words: searches, postbacks, bids and clicks, which read no database. */
const IN_OWN_WORDS = /^\/(?:api\/products|api\/marketplace|api\/postback|openrtb|serving-engine|click|notice|health|ready)/;

/** What writes nothing, though it is a POST and not all who may read may ask for it. */
const READING = new Set(["reportRevenueShare", "reportClickLevel", "explainOwnBid", "makeLinks", "listKeys"]);

type Bindings = Partial<Parameters<typeof worker.fetch>[1]>;

/** A cold isolate with other bindings. */
const isolateOf = (changes: Bindings) => ({ ...env, ...changes }) as Parameters<typeof worker.fetch>[1];

async function ask(isolate: ReturnType<typeof isolateOf>, path: string, init: RequestInit = {}) {
	const ctx = createExecutionContext();
	const request = new Request(`http://localhost:8787${path}`, { redirect: "manual", ...init });
	const response = await worker.fetch(request as unknown as Parameters<typeof worker.fetch>[0], isolate, ctx);
	// A file that is sent as it is read breaks off.
	const text = await response.text().catch(() => "broken off");
	if (!IN_OWN_WORDS.test(path)) await waitOnExecutionContext(ctx);
	const isJson = text !== "broken off" && response.headers.get("content-type")?.startsWith("application/json") === true;
	return { status: response.status, retryAfter: response.headers.get("retry-after"), body: isJson ? (JSON.parse(text) as unknown) : text };
}

const KEYS = { AccessKey: "access-key-cpa", PublisherKey: "publisher-key-cpa", OperatorKey: env.OPERATOR_KEY };

/** A request as its description has it: examples where there are any. */
function requestOf({ method, path, credential, parameters = [], body }: Operation): [string, RequestInit] {
	const exampleOf = (example: unknown): unknown => (typeof example === "function" ? example(Date.now()) : example);
	const query = new URLSearchParams();
	let filled = path;
	for (const { in: place, name, required, example } of parameters) {
		const value = String(exampleOf(example) ?? "x");
		if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(value));
		else if (place === "query" && (required === true || example !== undefined)) query.set(name, value);
	}
	const [content] = body?.contents ?? [];
	const example = exampleOf(content?.example);
	const type = content?.type ?? "application/json";
	const isForm = type === "application/x-www-form-urlencoded";
	const text =
		typeof example === "object"
			? isForm
				? new URLSearchParams(example as Record<string, string>).toString()
				: JSON.stringify(example)
			: example;
	const headers = {
		...(credential !== undefined && { [credential]: KEYS[credential] }),
		...(content !== undefined && { "content-type": type }),
	};
	return [
		`${filled.replaceAll(/\{\w+\}/g, "x")}${query.size > 0 ? `?${query}` : ""}`,
		{ method: method.toUpperCase(), headers, ...(method !== "get" && { body: text === undefined ? "{}" : String(text) }) },
	];
}

const OPERATIONS = [...PUBLIC_API.operations, ...OPERATOR_API.operations];

let logged: () => { event: string; job?: string; message?: string }[] = () => [];

beforeAll(importConversionNetwork);
beforeEach(() => {
	const log = vi.spyOn(console, "error").mockImplementation(() => {});
	vi.spyOn(console, "log").mockImplementation(() => {});
	logged = () => log.mock.calls.map(([line]) => JSON.parse(String(line)));
});
afterEach(() => {
	vi.restoreAllMocks();
});

describe("worker: a database that is away", () => {
	it.each([0, 1, 2, 3, 5, 8])(
		"is a 503 that says when to try again, whatever asks for it, after %i calls that it answered",
		async (after) => {
			const told = new Map<string, number>();
			for (const operation of OPERATIONS) {
				const [path, init] = requestOf(operation);
				const isolate = isolateOf({ DB: failingD1(env.DB, LOST, after), PRODUCTS: failingD1(env.PRODUCTS, LOST, after) });
				const { status, retryAfter, body } = await ask(isolate, path, init);
				const what = `${operation.method} ${path}`;
				if (!IN_OWN_WORDS.test(path)) expect([what, status, body]).not.toEqual([what, 500, expect.anything()]);
				if (status === 503)
					expect([what, retryAfter, body]).toEqual([what, expect.stringMatching(/^\d+$/), { ...UNAVAILABLE, error: expect.any(String) }]);
				// Only of what writes nobody knows whether it was done.
				if (status === 503 && (body as { error: unknown }).error === UNAVAILABLE.error) {
					const isUnknown = operation.method !== "get" && operation.role !== "viewer" && !READING.has(operation.id);
					expect([what, JSON.stringify(body).includes("may have been done")]).toEqual([what, isUnknown]);
				}
				told.set(operation.id, status);
			}
			const unavailable = [...told.values()].filter((status) => status === 503);
			if (after === 0) expect(unavailable.length).toBeGreaterThan(60);
			expect([told.get("searchProducts"), told.get("receivePostback")]).toEqual([after < 2 ? 500 : expect.any(Number), 200]);
		},
	);

	it("is told by every page of the console, and by data as data", async () => {
		const visitor = await signIn({ staff: "ada", role: "admin" });
		for (const after of [0, 1, 3]) {
			for (const { method, path, needs } of PAGES) {
				if (path.startsWith("/console/assets")) continue;
				const isolate = isolateOf({ DB: failingD1(env.DB, LOST, after), PRODUCTS: failingD1(env.PRODUCTS, LOST, after) });
				const { status, retryAfter } = await ask(isolate, path.replaceAll(/:\w+(?:\{[^}]*\})?/g, "nothing"), {
					method,
					headers: { ...OWN, cookie: visitor.cookie },
					...(method === "POST" && { body: new URLSearchParams({ form: crypto.randomUUID() }) }),
				});
				expect([method, path, status]).not.toEqual([method, path, 500]);
				if (status === 503) expect([path, retryAfter]).toEqual([path, expect.stringMatching(/^\d+$/)]);
				if (after === 0 && needs !== "nobody") expect([path, status]).toEqual([path, 503]);
			}
		}
	});

	it("offers a form again that was not taken, and none of which nobody knows what came of it", async () => {
		const visitor = await signIn({ staff: "bo", role: "admin" });
		const send = (d1: D1Database) =>
			ask(isolateOf({ DB: d1 }), "/console/operator/staff", {
				method: "POST",
				headers: { ...OWN, cookie: visitor.cookie },
				body: new URLSearchParams({ name: "Cy", role: "viewer", form: crypto.randomUUID() }),
			});
		const untaken = await send(failingD1(env.DB));
		expect([untaken.status, untaken.body]).toEqual([503, expect.stringContaining("Send it again")]);
		const unknown = wrapD1(env.DB, (statements) => {
			if (statements.some((text) => /INSERT INTO "?console_people/i.test(text))) throw new Error(LOST);
		});
		const { status, body } = await send(unknown);
		expect([status, body]).toEqual([503, expect.stringContaining("may have been done all the same")]);
		expect(body).not.toMatch(/Send it again|Not done/);
	});

	it("is one line of the log a minute", async () => {
		const isolate = isolateOf({ DB: failingD1(env.DB, "D1_ERROR: D1 DB is overloaded. Too many requests queued.") });
		for (let n = 0; n < 5; n++) expect((await ask(isolate, "/operator/audit", { headers: KEYS })).status).toBe(503);
		expect(logged()).toMatchObject([
			{ event: "request.away", route: "/operator/audit", message: "D1_ERROR: D1 DB is overloaded. Too many requests queued." },
		]);
	});

	it.each(["D1_ERROR: no such table: audit: SQLITE_ERROR", "x is undefined"])("is none where it says %s: that is ours", async (message) => {
		const { status, body } = await ask(isolateOf({ DB: failingD1(env.DB, message) }), "/operator/audit", { headers: KEYS });
		expect([status, body]).toEqual([500, { error: "Internal error" }]);
		expect(logged()).toMatchObject([{ event: "request.failed" }]);
	});

	it("keeps the key of an operator that cannot be read from being an unknown one", async () => {
		const headers = { AccessKey: "access-key-cpa" };
		const { status, body } = await ask(isolateOf({ DB: failingD1(env.DB) }), "/api/account", { headers });
		expect([status, body]).toEqual([503, UNAVAILABLE]);
	});
});

const hangingD1 = (d1: D1Database) => wrapD1(d1, HANGS);

/** Without waiting for what goes on behind the answer. */
async function answerOf(changes: Bindings, path: string, init: RequestInit = {}) {
	const request = new Request(`http://localhost:8787${path}`, { redirect: "manual", ...init });
	const response = await worker.fetch(
		request as unknown as Parameters<typeof worker.fetch>[0],
		isolateOf(changes),
		createExecutionContext(),
	);
	return { status: response.status, retryAfter: response.headers.get("retry-after"), text: await response.text() };
}

const BID = { method: "POST", body: JSON.stringify({ id: "a", imp: [{ id: "1" }], site: { domain: "shoes.example" } }) };

async function clickUrl(): Promise<string> {
	const { text } = await answerOf({}, "/openrtb/identity-cpa", BID);
	const bid = JSON.parse(text) as { seatbid: { bid: { adm: string }[] }[] };
	const adm = JSON.parse(bid.seatbid[0]?.bid[0]?.adm ?? "{}") as { native: { link: { url: string } } };
	const { pathname, search } = new URL(adm.native.link.url);
	return pathname + search;
}

const postback = (txnid: string) => `/api/postback/${WEST_KEY}?${new URLSearchParams(postbackFields({ txnid }))}`;

describe("worker: nobody waits for ever", () => {
	it.each([
		["/operator/audit", 503],
		["/operator/status", 503],
		["/api/account", 503],
		["/api/brands-list", 503],
		["/api/products/search?keyword=shoes", 500],
		["/console", 200],
	])("for a database that says nothing: %s", async (path, status) => {
		const headers = { ...KEYS, ...(path.includes("products") && { AccessKey: undefined }) };
		const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<string, string>;
		const changes = { DB: hangingD1(env.DB), PRODUCTS: hangingD1(env.PRODUCTS) };
		const cookie = path === "/console" ? { cookie: `__Host-session=${"A".repeat(43)}` } : {};
		const [answer, seconds] = await timed(() => answerOf(changes, path, { headers: { ...given, ...cookie } }));
		expect([answer.status, seconds]).toEqual([path === "/console" ? 503 : status, expect.closeTo(33, -1)]);
	});

	it("for the front page, which does without", async () => {
		const headers = { accept: "text/html" };
		const [answer, seconds] = await timed(() => answerOf({ DB: hangingD1(env.DB) }, "/", { headers }));
		expect([answer.status, seconds]).toEqual([200, expect.closeTo(3, -1)]);
	});

	it("for KV: bids are none, clicks and readiness say so, and what the origin needs it for is a 503", async () => {
		const url = await clickUrl();
		const BOOK = withCalls(env.BOOK, { get: HANGS, list: HANGS, put: HANGS });
		const told = async (path: string, init?: RequestInit) => {
			const [{ status, retryAfter }, seconds] = await timed(() => answerOf({ BOOK }, path, init));
			expect(seconds).toBeLessThan(12);
			return [status, retryAfter];
		};
		expect(await told(url)).toEqual([503, "5"]);
		expect(await told("/openrtb/identity-cpa", BID)).toEqual([204, null]);
		expect(await told("/openrtb/identity-cpa", { ...BID, body: BID.body.replace("{", '{"test":1,'), headers: KEYS })).toEqual([204, null]);
		expect(await told("/ready")).toEqual([503, null]);
		expect(await told("/operator/status", { headers: KEYS })).toEqual([503, "5"]);
		expect(await told("/api/earnings", { headers: { AccessKey: KEYS.AccessKey } })).toEqual([200, null]);
	});

	it("for limits, which then limit nothing", async () => {
		const hangs = { limit: HANGS } as RateLimit;
		const changes = { FAILED_KEYS: hangs, PUBLISHERS: hangs, UNKNOWN_KEYS: hangs };
		const [known, seconds] = await timed(() => answerOf(changes, "/api/account", { headers: { AccessKey: KEYS.AccessKey } }));
		expect([known.status, seconds < 3]).toEqual([200, true]);
		const [unknown] = await timed(() => answerOf(changes, "/api/account", { headers: { AccessKey: "another-key" } }));
		expect(unknown.status).toBe(401);
		const [of] = await timed(() => answerOf(changes, postback("x").replace(WEST_KEY, "another-key")));
		expect(JSON.parse(of.text)).toMatchObject({ error_code: 1 });
	});

	it("for a queue that hangs, with the database: a platform is told to send its postback again", async () => {
		const POSTBACKS = withCalls((env as unknown as { POSTBACKS: Queue }).POSTBACKS, { send: HANGS, sendBatch: HANGS });
		const [answer, seconds] = await timed(() => answerOf({ POSTBACKS, DB: hangingD1(env.DB) }, postback("hangs")));
		expect([answer.status, JSON.parse(answer.text), seconds]).toEqual([
			200,
			{ message: "something went wrong", error_code: 2 },
			expect.closeTo(8, -1),
		]);
	});

	it("for a queue that hangs: the postback is settled at once, and for a database that does so then, no longer", async () => {
		const POSTBACKS = withCalls((env as unknown as { POSTBACKS: Queue }).POSTBACKS, { send: HANGS, sendBatch: HANGS });
		const [answer] = await timed(() => answerOf({ POSTBACKS }, postback("at-once")));
		expect(JSON.parse(answer.text)).toEqual({ message: "Postback received successfully" });
		const rows = await env.DB.prepare("SELECT outcome FROM postback_intake WHERE txnid = 'at-once'").all();
		expect(rows.results).toEqual([{ outcome: "accepted" }]);
		// The key is read, and no more.
		let calls = 0;
		const { promise: hanging, reject } = Promise.withResolvers<void>();
		const DB = wrapD1(env.DB, () => (calls++ < 1 ? undefined : hanging));
		const [late, seconds] = await timed(() => answerOf({ POSTBACKS, DB }, postback("too-late")));
		expect([JSON.parse(late.text), seconds]).toEqual([{ message: "something went wrong", error_code: 2 }, expect.closeTo(12, -1)]);
		// What comes of it at last is told, too.
		reject(new Error(LOST));
		await vi.waitFor(() => expect(logged()).toContainEqual(expect.objectContaining({ event: "postback.not_settled", message: LOST })));
	});
});

describe("worker: KV and queues that refuse", () => {
	const refuse = (message: string) => () => Promise.reject(new Error(message));

	it("an import is taken over all the same, and says that its book comes later", async () => {
		const BOOK = withCalls(env.BOOK, { put: refuse("KV PUT failed: 503 Service Unavailable") });
		// A publisher whose database was gone could not end its turn.
		await env.DB.prepare("UPDATE book_state SET lease_until = 0").run();
		const body = JSON.stringify({ exchange_rates: [{ currency: "GBP", date: "2026-11-11", usd: "1.3" }] });
		const answer = await ask(isolateOf({ BOOK }), "/operator/network", { method: "POST", headers: KEYS, body });
		expect([answer.status, answer.body]).toMatchObject([200, { counts: expect.anything() }]);
	});

	it("what cannot be done without is a 503", async () => {
		const BOOK = withCalls(env.BOOK, { get: refuse("KV GET_BULK failed: 500 Internal Server Error"), list: refuse("KV GET failed: 500") });
		const { status, retryAfter, body } = await ask(isolateOf({ BOOK }), "/operator/status", { headers: KEYS });
		expect([status, retryAfter, body]).toEqual([503, "5", UNAVAILABLE]);
		const earnings = await ask(isolateOf({ BOOK }), "/api/earnings", { headers: { AccessKey: KEYS.AccessKey } });
		expect([earnings.status, earnings.body]).toEqual([200, expect.objectContaining({ data_through: null })]);
	});

	it("dead letters stay where they are, and are sent by the next replay", async () => {
		await env.DB.prepare("INSERT INTO dead_letters (id, queue, body, received_at) VALUES ('d-1', 'clicks', '{}', 1)").run();
		const CLICKS = withCalls((env as unknown as { CLICKS: Queue }).CLICKS, { sendBatch: refuse("Queue sendBatch failed: Bad Gateway") });
		const replay = (changes: Bindings) =>
			ask(isolateOf(changes), "/operator/replay", { method: "POST", headers: KEYS, body: '{"queue":"clicks"}' });
		expect(await replay({ CLICKS })).toEqual({ status: 503, retryAfter: "5", body: UNAVAILABLE });
		expect((await replay({ CLICKS: withCalls(CLICKS, { sendBatch: async () => {} }) })).body).toMatchObject({ replayed: { clicks: 1 } });
	});
});

describe("worker: the cron and the consumers", () => {
	const runCron = (changes: Bindings) =>
		worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date(0) }), isolateOf(changes));

	it("without the database, every job is tried, the log says why in two lines, and the next minute does it all", async () => {
		const [failed] = await timed(() => runCron({ DB: failingD1(env.DB) }).then(String, String));
		expect(failed).toContain("failed: caps, ");
		const lines = logged().filter(({ event }) => event === "cron.failed");
		const others = lines.filter(({ job }) => job !== "move");
		expect(others.map(({ message }) => message)).toEqual([LOST, LOST]);
		expect(others[1]?.job?.split(", ").length).toBeGreaterThan(8);
		await runCron({});
	});

	it("with one that hangs, it ends within an invocation's time", async () => {
		const [failed, seconds] = await timed(() => runCron({ DB: hangingD1(env.DB) }).then(String, String));
		expect([failed, seconds < 14 * 60]).toEqual([expect.stringContaining("failed: caps, "), true]);
	});

	it("without the archive, all else is done", async () => {
		const ARCHIVE = withCalls((env as unknown as { ARCHIVE: R2Bucket }).ARCHIVE, { put: HANGS, get: HANGS, list: HANGS });
		await env.DB.batch([
			env.DB.prepare(
				"INSERT INTO callback_attempts (id, callback_id, started_at, latency_ms, answer) VALUES ('00000001', 'none', 0, 5, '')",
			),
			env.DB.prepare("INSERT INTO bid_hours (hour, publisher_id, endpoint, outcome, requests) VALUES (1, 'cpa', 'openrtb', 'bid', 7)"),
		]);
		const countOf = (table: string) => env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first("n");
		const [failed, seconds] = await timed(() => runCron({ ARCHIVE }).then(String, String));
		expect([failed, seconds < 120]).toEqual(["Error: failed: retention", true]);
		expect([await countOf("callback_attempts"), await countOf("bid_hours WHERE hour = 1")]).toEqual([1, 0]);
		await runCron({});
		expect(await countOf("callback_attempts")).toBe(0);
	});

	it("without KV, the jobs that need none are done", async () => {
		const BOOK = withCalls(env.BOOK, { get: HANGS, list: HANGS, put: HANGS, delete: HANGS });
		const [failed, seconds] = await timed(() => runCron({ BOOK }).then(String, String));
		expect([failed, seconds < 120]).toEqual([expect.stringMatching(/failed: .*dead_letters/), true]);
		expect(failed).not.toMatch(/retention|sums|ledger|conversions/);
	});

	const WAYS = [
		["fails", () => failingD1(env.DB), 1],
		["hangs", () => hangingD1(env.DB), 40],
	] as const;

	it.each(WAYS)(
		"a batch of postbacks whose keys are unread comes again whole where the database %s, and asks it once",
		async (_, d1, most) => {
			const { intake, postback: told } = postbackMessage("west");
			const body = {
				format: 1,
				kind: "unclaimed",
				keyHash: "0".repeat(64),
				sent: "",
				signature: null,
				address: null,
				intake,
				postback: told,
			};
			const messages = Array.from({ length: 20 }, (_, at) => ({ id: `m-${at}`, timestamp: new Date(), attempts: 1, body }));
			const batch = createMessageBatch("clickbourse-postbacks", messages);
			const retried = vi.fn();
			const spied = new Proxy(batch, {
				get: (target, name) =>
					name === "messages" ? target.messages.map((message) => withCalls(message, { retry: retried })) : Reflect.get(target, name),
			});
			const [, seconds] = await timed(() => worker.queue(spied, isolateOf({ DB: d1() }), createExecutionContext()));
			expect([retried.mock.calls.length, seconds <= most + 1]).toEqual([20, true]);
			expect(logged().filter(({ event }) => event === "postbacks.not_claimed")).toHaveLength(1);
		},
	);

	it.each(WAYS)("a batch of callbacks comes again whole where the database %s", async (_, d1, most) => {
		const messages = Array.from({ length: 60 }, (_, at) => ({
			id: `m-${at}`,
			timestamp: new Date(),
			attempts: 1,
			body: { format: 1, id: `c-${at}` },
		}));
		const batch = createMessageBatch("clickbourse-callbacks", messages);
		const retried = vi.fn();
		const spied = new Proxy(batch, {
			get: (target, name) =>
				name === "messages" ? target.messages.map((message) => withCalls(message, { retry: retried })) : Reflect.get(target, name),
		});
		const [, seconds] = await timed(() => worker.queue(spied, isolateOf({ DB: d1() }), createExecutionContext()));
		expect([retried.mock.calls.length, seconds <= most + 1]).toEqual([60, true]);
		expect(logged().filter(({ event }) => event === "callback.not_delivered").length).toBeLessThan(7);
	});

	it.each(WAYS)("a batch of clicks fails whole where the database %s", async (_, d1, most) => {
		const messages = [1, 2].map((at) => ({ id: `m-${at}`, timestamp: new Date(), attempts: 1, body: clickMessage() }));
		const batch = createMessageBatch("clickbourse-clicks", messages);
		const [outcome, seconds] = await timed(() =>
			worker.queue(batch, isolateOf({ DB: d1() }), createExecutionContext()).then(() => "done", String),
		);
		expect([outcome, seconds <= most + 1]).toEqual([expect.stringMatching(/Failed query|Network|in time/), true]);
	});
});
