/** What the guard does with pages: those that ask for a fresh proof, what they throw, suspended publishers, and a database that is held. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { Hono } from "hono";
import { html } from "hono/html";
import { beforeAll, describe, expect, it } from "vitest";
import type { ConsoleDeps } from "../../../src/console/deps.ts";
import { answerPage } from "../../../src/console/guard.tsx";
import { HOME_PAGES } from "../../../src/console/home.tsx";
import { page, view } from "../../../src/console/page.ts";
import { SESSION_COOKIE } from "../../../src/console/session/cookie.ts";
import { findPersonByName } from "../../../src/console/session/people.ts";
import { changeRole, endSessions } from "../../../src/console/session/people-standing.ts";
import { beginSession, FRESH_MS, findSession, freshenSession } from "../../../src/console/session/sessions.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { invalidInput } from "../../../src/http/errors.ts";
import { PUBLISHER_LIMIT } from "../../../src/http/limits.ts";
import { PublisherLimit } from "../../../src/http/publisher-limit.ts";
import { HttpError } from "../../../src/lib/http.ts";
import { utf8 } from "../../../src/lib/utf8.ts";
import { ACTOR } from "../../support/actor.ts";
import { get, OWN, shown, signIn, type Visitor } from "../../support/console.ts";
import { setNow } from "../../support/load-network.ts";
import { ACME, importFile } from "../../support/network-import.ts";
import { setPublisher } from "../../support/report-rows.ts";

const START = "2026-11-18T15:00:00Z";
const db = openDatabase(env.DB);
const deps = { db, now: () => Date.now() };

beforeAll(async () => {
	setNow(START);
	await importFile({ publishers: [ACME] });
});

describe("worker: the guard", () => {
	const secret = [
		page({
			method: "GET",
			path: "/console/keys",
			needs: { publisher: "owner", fresh: true },
			title: "Keys",
			handle: ({ actor }) => html`<p>${actor.name}</p>`,
		}),
		page({
			method: "POST",
			path: "/console/keys",
			needs: { publisher: "owner", fresh: true },
			title: "Keys",
			handle: ({ form }) => html`<p>${form.get("kind")}</p>`,
		}),
		page({
			method: "GET",
			path: "/console/faults/:kind",
			needs: { publisher: "analyst", active: true },
			title: "Faults",
			handle({ param }) {
				if (param("kind") === "input") throw invalidInput([{ path: "kind", message: "is <none>" }]);
				if (param("kind") === "gone") throw new HttpError(410, { error: "Gone" });
				throw new TypeError("secret details");
			},
		}),
		page({
			method: "POST",
			path: "/console/made",
			needs: { publisher: "owner" },
			once: true,
			title: "Made",
			handle({ form }) {
				if (form.get("kind") === "wrong") throw invalidInput([{ path: "kind", message: "is none" }]);
				if (form.get("kind") === "fails") throw new TypeError("after it was made, or before");
				return html`<p>${++made}</p>`;
			},
		}),
		page({ method: "POST", path: "/console/secret", needs: "anyone", title: "Secret", isSecret: true, handle: () => html`<p>Set</p>` }),
		page({
			method: "POST",
			path: "/console/look",
			needs: "anyone",
			title: "Look",
			handle: () => view({ mayReturn: true }, html`<p>It comes to</p>`),
		}),
		...HOME_PAGES.filter(({ path }) => path === "/console/sign-out"),
		page({ method: "GET", path: "/console/data", needs: "anyone", title: "Data", isData: true, handle: () => Response.json({}) }),
	];
	const app = new Hono();
	for (const each of secret) app.on(each.method, each.path, (c) => answerPage(consoleDeps, secret, each, c));
	const limit = new PublisherLimit({ now: deps.now, shared: undefined });
	const consoleDeps = { ...deps, consoleUrl: OWN.origin, isHeld: async () => held, publisherApi: { limit } } as ConsoleDeps;
	let held = false;
	let made = 0;

	const ask = (path: string, visitor: Visitor | undefined, init: RequestInit = {}) =>
		app.fetch(
			new Request(OWN.origin + path, { ...init, headers: { ...OWN, ...(visitor && { cookie: visitor.cookie }), ...init.headers } }),
			env,
			createExecutionContext(),
		);

	it("takes a link or a passkey of the last ten minutes", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Fresh" });
		const session = await findSession(db, visitor.cookie.slice(SESSION_COOKIE.length + 1), Date.now());
		const form = { method: "POST", body: new URLSearchParams({ kind: "<b>" }) };
		expect(await (await ask("/console/keys", visitor, form)).text()).toContain("<p>&lt;b&gt;</p>");
		setNow(new Date(Date.parse(START) + FRESH_MS).toISOString());
		const led = await ask("/console/keys", visitor);
		expect([led.status, led.headers.get("location")]).toEqual([303, "/console/confirm?next=%2Fconsole%2Fkeys"]);
		const refused = await ask("/console/keys", visitor, { ...form, headers: { referer: `${OWN.origin}/console/keys?x=1` } });
		expect([refused.status, await refused.text()]).toEqual([
			403,
			expect.stringContaining("/console/confirm?next=%2Fconsole%2Fkeys%3Fx%3D1"),
		]);
		expect((await get("/console/confirm", visitor)).status).toBe(200);
		await freshenSession(db, session?.hash ?? "", Date.now());
		expect(await (await ask("/console/keys", visitor)).text()).toContain("Fresh (acme)");
		expect((await get("/console/confirm?next=%2Fconsole%2Fclicks", visitor)).headers.get("location")).toBe("/console/clicks");
		setNow(START);
		const person = await findPersonByName(db, "acme", "Fresh");
		if (person === null) throw new Error("nobody is called Fresh");
		const token = await beginSession(deps, {
			person: { ...person, publisher: { id: "acme", name: "Acme", status: "active" } },
			method: "access",
			requestId: "r",
		});
		expect((await ask("/console/keys", { cookie: `${SESSION_COOKIE}=${token}` })).status).toBe(303);
	});

	it("asks again who it is where what was sent was long in coming", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Slow" });
		const person = await findPersonByName(db, "acme", "Slow");
		if (person === null) throw new Error("nobody is called Slow");
		const sendWhile = async (lastsMs: number, meanwhile: () => Promise<unknown> = async () => {}) => {
			setNow(START);
			const body = new ReadableStream({
				async pull(controller) {
					controller.enqueue(utf8("kind=sent"));
					await meanwhile();
					setNow(new Date(Date.parse(START) + lastsMs).toISOString());
					controller.close();
				},
			});
			const headers = { "content-type": "application/x-www-form-urlencoded" };
			const answer = await ask("/console/keys", visitor, { method: "POST", headers, body });
			setNow(START);
			return [answer.status, (await answer.text()).includes("<p>sent</p>")];
		};
		expect(await sendWhile(5_000)).toEqual([200, true]);
		expect(await sendWhile(FRESH_MS)).toEqual([403, false]);
		expect(await sendWhile(5_000, () => changeRole(deps, ACTOR, person, "analyst"))).toEqual([403, false]);
		await changeRole(deps, ACTOR, { ...person, role: "analyst" }, "owner");
		expect(await sendWhile(5_000, () => endSessions(deps, ACTOR, person))).toEqual([401, false]);
	});

	it("shows faults as a page, and of what failed its number alone", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Faulty" });
		const told = async (kind: string) => {
			const response = await ask(`/console/faults/${kind}`, visitor);
			return [response.status, await response.text()];
		};
		expect(await told("input")).toEqual([422, expect.stringContaining("<li>kind: is &lt;none&gt;</li>")]);
		expect(await told("gone")).toEqual([410, expect.stringContaining("What this address led to has ended")]);
		const [status, text] = await told("other");
		expect([status, text]).toEqual([500, expect.stringMatching(/<code>[\da-f-]{36}<\/code>/)]);
		expect(text).not.toContain("secret details");
	});

	it("is not there for who is suspended, where its verb is not", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Suspended" });
		await setPublisher("acme", "status", "suspended");
		const page = await ask("/console/faults/gone", visitor);
		expect([page.status, await page.text()]).toEqual([403, expect.stringContaining("Your account is suspended")]);
		expect((await ask("/console/keys", visitor, { method: "POST", body: new URLSearchParams() })).status).toBe(403);
		expect((await ask("/console/keys", visitor)).status).toBe(200);
		await setPublisher("acme", "status", "active");
	});

	it("changes nothing while the database is being moved, and takes no more than it says", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Held" });
		held = true;
		expect((await ask("/console/keys", visitor, { method: "POST", body: new URLSearchParams() })).status).toBe(503);
		const hash = (await findSession(db, visitor.cookie.slice(SESSION_COOKIE.length + 1), Date.now()))?.hash ?? "";
		const out = await ask("/console/sign-out", visitor, { method: "POST", body: new URLSearchParams() });
		expect([out.status, out.headers.get("set-cookie")]).toEqual([303, expect.stringContaining("Max-Age=0")]);
		await expect((await get(out.headers.get("location") ?? "")).text()).resolves.toContain("The database is being moved");
		expect(await db.all(sql`SELECT hash FROM console_sessions WHERE hash = ${hash}`)).toHaveLength(1);
		held = false;
		const again = await ask("/console/sign-out", visitor, { method: "POST", body: new URLSearchParams() });
		expect(again.headers.get("location")).toBe("/console/sign-in?out=1");
		expect(await db.all(sql`SELECT hash FROM console_sessions WHERE hash = ${hash}`)).toEqual([]);
		const other = await signIn({ publisher: "acme", name: "Held" });
		expect((await ask("/console/keys", other, { method: "POST", body: "x".repeat(65 * 1024) })).status).toBe(413);
	});

	it("keeps what was sent where it could not be taken, to be sent again from there", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Kept" });
		const body = new URLSearchParams({ kind: '"<b>"\nline two', form: crypto.randomUUID() });
		const send = (who: Visitor | undefined, path = "/console/keys") => ask(path, who, { method: "POST", body });
		const kept =
			/<form method="post" action="\/console\/keys"[\s\S]*name="kind" value="&quot;&lt;b&gt;&quot;\nline two"[\s\S]*Send it again/;
		const nobody = await send(undefined);
		expect([nobody.status, await nobody.text()]).toEqual([401, expect.stringMatching(kept)]);
		held = true;
		const moved = await send(visitor);
		held = false;
		expect([moved.status, await moved.text()]).toEqual([503, expect.stringMatching(kept)]);
		setNow(new Date(Date.parse(START) + FRESH_MS).toISOString());
		const stale = await send(visitor);
		expect([stale.status, await stale.text()]).toEqual([403, expect.stringMatching(kept)]);
		const parts = new FormData();
		parts.set("kind", "typed");
		parts.set("file", new File(["{}"], "network.json"));
		const multipart = await (await ask("/console/keys", visitor, { method: "POST", body: parts })).text();
		expect(multipart).toMatch(/enctype="multipart\/form-data"[\s\S]*name="kind" value="typed"[\s\S]*type="file"[^>]* name="file"/);
		const broken = { method: "POST", body: "--", headers: { "content-type": "multipart/form-data; boundary=x" } };
		expect((await ask("/console/keys", visitor, broken)).status).toBe(403);
		setNow(START);
		const taken = await send(visitor);
		expect([taken.status, await taken.text()]).toEqual([200, expect.stringContaining("line two")]);
	});

	it("hands back no secret, nothing that is too much, and nothing where nothing was sent", async () => {
		for (const [path, body] of [
			["/console/secret", new URLSearchParams({ kind: "hidden" })],
			["/console/keys", new URLSearchParams({ form: crypto.randomUUID(), kind: " " })],
			["/console/keys", new URLSearchParams({ kind: "hidden".repeat(50_000) })],
			["/console/keys", "hidden"],
		] as const) {
			const { status, text } = await shown(Promise.resolve(ask(path, undefined, { method: "POST", body })));
			expect([path, status, /hidden"|Send it again/.test(text)]).toEqual([path, 401, false]);
		}
	});

	it("takes a form once where its answer is shown once, whoever sends it", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Twice" });
		const send = (form: Record<string, string>, who = visitor) =>
			ask("/console/made", who, { method: "POST", body: new URLSearchParams(form) });
		const form = { form: crypto.randomUUID() };
		const both = await Promise.all([send(form), send(form)]);
		expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412]);
		const again = await send(form);
		expect([again.status, await again.text()]).toEqual([412, expect.stringContaining("This form was sent already")]);
		const headers = { referer: `${OWN.origin}/console/keys?x=1` };
		const told = await (await ask("/console/made", visitor, { method: "POST", body: new URLSearchParams(form), headers })).text();
		expect(told).toContain("<h1>Nothing was changed</h1>");
		expect(told).toContain('<a href="/console/keys?x=1">Back to where you were</a>');
		expect(made).toBe(1);
		const refused = { form: crypto.randomUUID(), kind: "wrong" };
		const notDone = await send(refused);
		expect([notDone.status, await notDone.text()]).toEqual([422, expect.stringContaining("<title>Not done: ")]);
		expect((await send({ ...refused, kind: "right" })).status).toBe(200);
		expect((await send({ ...refused, kind: "right" })).status).toBe(412);
		const failed = { form: crypto.randomUUID(), kind: "fails" };
		expect([(await send(failed)).status, (await send({ ...failed, kind: "right" })).status]).toEqual([500, 412]);
		expect(made).toBe(2);
		for (const strange of [{}, { form: "" }, { form: "x".repeat(36) }]) expect((await send(strange)).status).toBe(422);
		expect((await send(form, await signIn({ publisher: "acme", name: "Other" }))).status).toBe(200);
	});

	it("has browsers keep what a form only looked at, or was refused with, until one signs out, and nothing else", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Goes back" });
		const keptOf = async (path: string, form: Record<string, string> = {}, who: Visitor | undefined = visitor) => {
			const response = await ask(path, who, { method: "POST", body: new URLSearchParams({ form: crypto.randomUUID(), ...form }) });
			return [response.status, response.headers.get("cache-control")];
		};
		expect(await keptOf("/console/look")).toEqual([200, "private, no-cache"]);
		expect(await keptOf("/console/made", { kind: "wrong" })).toEqual([422, "private, no-cache"]);
		expect(await keptOf("/console/made")).toEqual([200, "no-store"]);
		expect(await keptOf("/console/secret")).toEqual([200, "no-store"]);
		expect(await keptOf("/console/look", {}, { cookie: "" })).toEqual([401, "no-store"]);
		expect((await ask("/console/keys", visitor)).headers.get("cache-control")).toBe("no-store");
		const out = await ask("/console/sign-out", visitor, { method: "POST" });
		expect([out.status, out.headers.get("clear-site-data")]).toEqual([303, '"cache"']);
		const ended = await ask("/console/data", visitor);
		expect([ended.status, ended.headers.get("clear-site-data")]).toEqual([401, '"cache"']);
	});

	it("takes as many requests of a session as of a key, and says so", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Busy" });
		const first = await ask("/console/keys", visitor);
		expect([first.status, first.headers.get("ratelimit")]).toEqual([200, `"session";r=${PUBLISHER_LIMIT - 1};t=60`]);
		const hash = (await findSession(db, visitor.cookie.slice(SESSION_COOKIE.length + 1), Date.now()))?.hash ?? "";
		for (let taken = 1; taken < PUBLISHER_LIMIT; taken++) await limit.take(hash, "session");
		const refused = await ask("/console/keys", visitor);
		expect([refused.status, refused.headers.get("retry-after"), await refused.text()]).toEqual([
			429,
			"60",
			expect.stringContaining("Too many requests"),
		]);
		expect((await ask("/console/keys", await signIn({ publisher: "acme", name: "Idle" }))).status).toBe(200);
	});

	it("has browsers keep to https where that is its address, and there alone", async () => {
		const overHttps = { ...consoleDeps, consoleUrl: "https://console.example" } as ConsoleDeps;
		const secure = new Hono();
		for (const each of secret) secure.on(each.method, each.path, (c) => answerPage(overHttps, secret, each, c));
		const answer = await secure.fetch(new Request("https://console.example/console/data"), env, createExecutionContext());
		expect(answer.headers.get("strict-transport-security")).toBe("max-age=31536000");
		expect((await ask("/console/data", undefined)).headers.get("strict-transport-security")).toBeNull();
	});

	it("answers 401 without a session where it is no page", async () => {
		expect((await ask("/console/data", undefined)).status).toBe(401);
	});
});
