/** People of the console: who is invited, given links, signed out, disabled. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { invitePerson, issueSignInLink, linkUrl } from "../../../src/console/session/invite.ts";
import { findPerson, findPersonByName, type KnownPerson, listPeople } from "../../../src/console/session/people.ts";
import { changedPersonSchema, peopleSchema, personSchema, signInLinkPreviewSchema } from "../../../src/console/session/people-answers.ts";
import { changeRole, disablePerson, enablePerson, endSessions } from "../../../src/console/session/people-standing.ts";
import { beginSession, findSession } from "../../../src/console/session/sessions.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { ACTOR } from "../../support/actor.ts";
import { get, issueLink, post, signIn } from "../../support/console.ts";
import { setNow } from "../../support/load-network.ts";
import { ACME, importFile, OPERATOR_HEADERS } from "../../support/network-import.ts";

const START = "2026-11-18T15:00:00Z";
const db = openDatabase(env.DB);
const deps = { db, now: () => Date.now() };

beforeAll(async () => {
	setNow(START);
	await importFile({ publishers: [ACME] });
	await env.DB.prepare(
		"INSERT INTO access_keys (hash, kind, owner_id, created_at, role) VALUES ('h', 'operator_key', 'Key Holder', 0, 'viewer')",
	).run();
});

const NEW = { publisherId: "acme", name: "Ada", email: null, role: "owner" } as const;

async function known(publisherId: string | null, name: string): Promise<KnownPerson> {
	const person = await findPersonByName(db, publisherId, name);
	if (person === null) throw new Error(`nobody is called ${name}`);
	return person;
}

async function verbsOf(person: KnownPerson): Promise<string[]> {
	const { results } = await env.DB.prepare("SELECT verb FROM audit WHERE subject_kind = 'person' AND subject_id = ? ORDER BY verb")
		.bind(person.id)
		.all<{ verb: string }>();
	return results.map(({ verb }) => verb);
}

describe("worker: people", () => {
	it("are invited once by a name, with their audit, and listed", async () => {
		const { person, token } = await invitePerson(deps, ACTOR, NEW);
		expect((await post(new URL(linkUrl("https://x.example", token)).pathname)).status).toBe(303);
		expect(await findPerson(db, "acme", person.id)).toEqual(person);
		await expect(findPerson(db, "other", person.id)).rejects.toMatchObject({ status: 404 });
		await expect(findPerson(db, null, person.id)).rejects.toMatchObject({ status: 404 });
		await expect(invitePerson(deps, ACTOR, NEW)).rejects.toMatchObject({ status: 422, body: { faults: [{ path: "name" }] } });
		expect(await verbsOf(person)).toEqual(["invitePerson", "signIn"]);
		expect((await listPeople(db, "acme")).map(({ name }) => name)).toEqual(["Ada"]);
		const staff = { publisherId: null, name: "Ada", email: "Ada@Example.com", role: "viewer" } as const;
		expect((await invitePerson(deps, ACTOR, staff)).person.email).toBe("ada@example.com");
		await expect(invitePerson(deps, ACTOR, { ...staff, name: "Bea" })).rejects.toMatchObject({ body: { faults: [{ path: "email" }] } });
	});

	it.each([
		["publisher", { ...NEW, publisherId: "nobody", name: "B" }],
		["role", { ...NEW, name: "B", role: "admin" }],
		["role", { ...NEW, publisherId: null, name: "B", role: "owner" }],
		["name", { ...NEW, publisherId: null, name: "operator", role: "admin" }],
		["name", { ...NEW, publisherId: null, name: "Operator", role: "admin" }],
		["name", { ...NEW, name: "Ada " }],
		["name", { ...NEW, name: "ada" }],
		["name", { ...NEW, name: "\uff21da" }],
		["name", { ...NEW, name: "Ada\u3164" }],
		["name", { ...NEW, name: "\u0410da" }],
		["name", { ...NEW, publisherId: null, name: "ADA", role: "viewer" }],
		["name", { ...NEW, publisherId: null, name: "KEY holder", role: "viewer" }],
		["name", { ...NEW, publisherId: null, name: "\uff4fperator", role: "viewer" }],
		["name", { ...NEW, name: "<b>" }],
		["name", { ...NEW, name: "" }],
		["email", { ...NEW, name: "B", email: "nobody" }],
	] as const)("are refused by their %s: %j", async (path, wanted) => {
		await expect(invitePerson(deps, ACTOR, wanted)).rejects.toMatchObject({ status: 422, body: { faults: [{ path }] } });
	});

	it("of a publisher are a hundred at most that its owners make, those disabled within a day among them; staff make others", async () => {
		const owner = { ...ACTOR, role: "owner" } as const;
		const crowd = (name: string) => invitePerson(deps, owner, { ...NEW, name });
		const present = (await listPeople(db, "acme")).length;
		const rest = Array.from({ length: 105 - present }, (_, at) => `Crowd ${at}`);
		const made = await Promise.allSettled(rest.map(crowd));
		expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(100 - present);
		for (const { reason } of made.filter(({ status }) => status === "rejected") as PromiseRejectedResult[])
			expect(reason).toMatchObject({
				status: 422,
				body: { faults: [{ path: "", message: expect.stringMatching(/^at most 100 people/) }] },
			});
		await disablePerson(deps, owner, await known("acme", "Crowd 0"));
		await expect(crowd("One more")).rejects.toMatchObject({ status: 422 });
		await invitePerson(deps, ACTOR, { ...NEW, name: "Crowd of staff" });
		setNow("2026-11-19T15:00:01Z");
		await disablePerson(deps, owner, await known("acme", "Crowd 1"));
		await crowd("Crowd anew");
		await expect(crowd("One more")).rejects.toMatchObject({ status: 422 });
		// Those who were kept out come in only where there is room.
		const kept = await known("acme", "Crowd 2");
		await disablePerson(deps, owner, kept);
		await enablePerson(deps, owner, kept);
		const late = await known("acme", "Crowd 1");
		await expect(enablePerson(deps, owner, late)).rejects.toMatchObject({ status: 422 });
		expect((await known("acme", "Crowd 1")).disabledAt).not.toBeNull();
		await enablePerson(deps, ACTOR, late);
		expect((await known("acme", "Crowd 1")).disabledAt).toBeNull();
		await env.DB.prepare("DELETE FROM console_people WHERE name LIKE 'Crowd %'").run();
		setNow(START);
	});

	it("are signed out everywhere, and their links end", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Grace" });
		const grace = await known("acme", "Grace");
		const { token } = await issueSignInLink(deps, ACTOR, grace);
		await endSessions(deps, ACTOR, grace);
		expect((await get("/console/earnings", visitor)).headers.get("location")).toContain("ended=1");
		const told = await post("/console/view-as", visitor);
		expect([told.status, await told.text()]).toEqual([401, expect.stringContaining("Your session has ended")]);
		expect((await post(`/console/sign-in/${token}`)).status).toBe(410);
		const [counts] = (await env.DB.prepare("SELECT counts FROM audit WHERE verb = 'endSessions' AND subject_id = ?").bind(grace.id).all())
			.results;
		expect(counts).toEqual({ counts: '{"sessions":1}' });
	});

	it("who are disabled are signed out, and get no link until they are enabled", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Linus" });
		const linus = await known("acme", "Linus");
		const { token } = await issueSignInLink(deps, ACTOR, linus);
		await disablePerson(deps, ACTOR, linus);
		await disablePerson(deps, ACTOR, linus);
		expect((await get("/console/earnings", visitor)).status).toBe(303);
		const page = await post(`/console/sign-in/${token}`);
		expect([page.status, await page.text()]).toEqual([410, expect.stringContaining("may not sign in any more")]);
		await expect(issueSignInLink(deps, ACTOR, linus)).rejects.toMatchObject({ status: 422 });
		expect(await beginSession(deps, { person: { ...linus, publisher: null }, method: "passkey", requestId: "r" })).toBeNull();
		await enablePerson(deps, ACTOR, linus);
		await signIn({ publisher: "acme", name: "Linus" });
		expect(await verbsOf(linus)).toEqual([
			"disablePerson",
			"enablePerson",
			"invitePerson",
			"issueSignInLink",
			"issueSignInLink",
			"signIn",
			"signIn",
		]);
	});

	it("have another role from their next page on", async () => {
		const visitor = await signIn({ staff: "promoted", role: "viewer" });
		const person = await known(null, "promoted");
		await expect(changeRole(deps, ACTOR, person, "owner")).rejects.toMatchObject({ status: 422 });
		await changeRole(deps, ACTOR, person, "admin");
		const token = visitor.cookie.split("=")[1];
		expect((await findSession(db, token, Date.now()))?.person.role).toBe("admin");
	});

	it("keep an owner, however many take each other's place at once; staff may take the last", async () => {
		const owners = async () => (await listPeople(db, "acme")).filter(({ role, disabledAt }) => role === "owner" && disabledAt === null);
		await signIn({ publisher: "acme", name: "Second" });
		const before = await owners();
		expect(before.length).toBeGreaterThan(1);
		const owner = { ...ACTOR, role: "owner" } as const;
		const done = await Promise.allSettled(
			before.map((person, at) => (at % 2 === 0 ? disablePerson(deps, owner, person) : changeRole(deps, owner, person, "analyst"))),
		);
		const refused = done.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
		expect(refused).toMatchObject([{ status: 422, body: { faults: [{ message: expect.stringContaining("the last owner") }] } }]);
		const [left, ...others] = await owners();
		if (left === undefined) throw new Error("no owner is left");
		expect([others, await verbsOf(left)]).toEqual([[], expect.not.arrayContaining(["disablePerson", "changeRole"])]);
		await disablePerson(deps, ACTOR, left);
		expect(await owners()).toEqual([]);
	});

	it("are named in the audit by what they do", async () => {
		await signIn({ publisher: "acme", name: "Named", role: "analyst" });
		const [row] = (await env.DB.prepare("SELECT actor, role FROM audit WHERE verb = 'signIn' AND actor LIKE 'Named%'").all()).results;
		expect(row).toEqual({ actor: "Named (acme)", role: "analyst" });
	});
});

describe("worker: POST /operator/sign-in-links", () => {
	const ask = async (body: object, query = "") => {
		const response = await exports.default.fetch(`https://base.example/operator/sign-in-links${query}`, {
			method: "POST",
			headers: OPERATOR_HEADERS,
			body: JSON.stringify(body),
		});
		return { status: response.status, body: await response.json<{ faults?: { path: string }[] }>() };
	};

	it("makes whoever is new, and gives whoever is there another link", async () => {
		const made = await issueLink({ staff: "new", role: "manager", email: "new@example.com" });
		expect(made).toMatchObject({ purpose: "invitation", person: { publisher: null, role: "manager", email: "new@example.com" } });
		expect(await issueLink({ staff: "new" })).toMatchObject({ purpose: "sign_in", person: made.person });
		expect(await issueLink({ staff: "new", invitation: true })).toMatchObject({ purpose: "invitation", expires_at: made.expires_at });
		const stored = await env.DB.prepare("SELECT * FROM console_links").all();
		expect(JSON.stringify(stored.results)).not.toContain(made.url.split("/").at(-1));
	});

	it("says whose link it would be, and makes nobody and nothing", async () => {
		const stored = async () =>
			Promise.all(
				["console_people", "console_links", "audit"].map(
					async (table) => (await env.DB.prepare(`SELECT * FROM ${table} ORDER BY 1`).all()).results,
				),
			);
		const made = await issueLink({ staff: "there", role: "viewer", email: "there@example.com" });
		const before = await stored();
		const { status, body } = await ask({ staff: "newer", role: "manager", email: "newer@example.com" }, "?dry_run=1");
		expect(status).toBe(200);
		const { expires_at: expiresAt, ...told } = v.parse(signInLinkPreviewSchema, body);
		const person = { id: null, publisher: null, name: "newer", email: "newer@example.com", role: "manager" };
		expect(told).toEqual({ dry_run: true, person, purpose: "invitation", url: null, ends: 0 });
		expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 71 * 3_600_000);
		const known = (await ask({ staff: "there" }, "?dry_run=1")).body;
		expect(known).toMatchObject({ dry_run: true, person: made.person, purpose: "sign_in", url: null, ends: 1 });
		for (const [wanted, path] of [
			[{ staff: "newer", role: "owner" }, "role"],
			[{ staff: "newer", role: "viewer", email: "there@example.com" }, "email"],
			[{ publisher: "nobody" }, "publisher"],
		] as const) {
			const refused = [await ask(wanted, "?dry_run=1"), await ask(wanted)];
			for (const answer of refused) expect([wanted, answer.status, answer.body.faults?.[0]?.path]).toEqual([wanted, 422, path]);
		}
		expect((await ask({ staff: "there" }, "?dryrun=1")).status).toBe(422);
		expect(await stored()).toEqual(before);
	});

	it.each([
		[{}, "publisher"],
		[{ publisher: "acme", staff: "x" }, "publisher"],
		[{ publisher: "nobody" }, "publisher"],
		[{ publisher: "acme", role: "admin" }, "role"],
		[{ staff: "nobody" }, "role"],
		[{ staff: "new", role: "admin" }, "role"],
		[{ staff: "new", email: "other@example.com" }, "email"],
	])("%j: 422", async (body, path) => {
		const answer = await ask(body);
		expect(answer.status).toBe(422);
		expect(answer.body.faults?.[0]?.path).toBe(path);
	});
});

describe("worker: /operator/people", () => {
	const call = async (path: string, body?: object, headers: Record<string, string> = OPERATOR_HEADERS) => {
		const response = await exports.default.fetch(`https://base.example/operator/people${path}`, {
			method: body === undefined ? "GET" : "POST",
			headers,
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		return { status: response.status, body: await response.json<Record<string, unknown>>(), headers: response.headers };
	};
	const read = async (id: string) => v.parse(personSchema, (await call(`/${id}`)).body);

	it("lists a publisher's people and the staff, page by page", async () => {
		for (const name of ["Lise", "Mia"]) await signIn({ publisher: "acme", name, role: "analyst" });
		const { body, headers } = await call("?publisher=acme");
		expect(headers.get("cache-control")).toBe("no-store");
		const { data } = v.parse(peopleSchema, body);
		expect(data).toEqual(
			expect.arrayContaining([expect.objectContaining({ publisher: "acme", name: "Mia", role: "analyst", state: "active" })]),
		);
		const paged: unknown[] = [];
		for (let cursor = ""; ; ) {
			const page = v.parse(peopleSchema, (await call(`?publisher=acme&limit=1${cursor}`)).body);
			paged.push(...page.data);
			if (page.next_cursor === null) break;
			cursor = `&cursor=${page.next_cursor}`;
		}
		expect(paged).toEqual(data);
		const staff = v.parse(peopleSchema, (await call("")).body);
		expect(staff.data.every(({ publisher }) => publisher === null)).toBe(true);
	});

	it("changes what a page changes, with a dry run that changes nothing, and shows no secret", async () => {
		const visitor = await signIn({ publisher: "acme", name: "Changed" });
		const { id } = await known("acme", "Changed");
		const shown = await read(id);
		expect(shown).toMatchObject({ role: "owner", state: "active", passkeys: [], sessions: [{ method: "link", viewing: null }] });
		const session = (await env.DB.prepare("SELECT hash FROM console_sessions WHERE person_id = ?").bind(id).first<string>("hash")) ?? "";
		expect(session.length).toBeGreaterThan(32);
		expect(JSON.stringify(shown)).not.toContain(session);

		for (const [verb, body, becomes] of [
			["role", { role: "analyst", was: "owner" }, { role: "analyst" }],
			["sign-out", { session: shown.sessions[0]?.id }, { sessions: [] }],
			["disable", {}, { state: "disabled" }],
			["enable", {}, { state: "active" }],
		] as const) {
			const before = await read(id);
			const dry = await call(`/${id}/${verb}?dry_run=1`, body);
			expect([verb, dry.status, v.parse(changedPersonSchema, dry.body)]).toEqual([
				verb,
				200,
				{ dry_run: true, person: expect.objectContaining(becomes) },
			]);
			expect(await read(id)).toEqual(before);
			const done = await call(`/${id}/${verb}`, body);
			expect(done.body).toEqual({ dry_run: false, person: (dry.body as { person: object }).person });
			expect(await read(id)).toMatchObject(becomes);
		}
		expect((await get("/console/earnings", visitor)).status).toBe(303);
		expect(await verbsOf(await known("acme", "Changed"))).toEqual([
			"changeRole",
			"disablePerson",
			"enablePerson",
			"endSessions",
			"invitePerson",
			"signIn",
		]);
	});

	it("removes a passkey, once, and a page shows and does the same", async () => {
		await signIn({ publisher: "acme", name: "Keyed" });
		const { id } = await known("acme", "Keyed");
		const store = (credential: string) =>
			env.DB.prepare(
				"INSERT INTO console_passkeys (credential_id, person_id, public_key, counter, transports, name, created_at) VALUES (?, ?, 'x', 0, '[]', ?, ?)",
			)
				.bind(credential, id, `of ${credential}`, Date.now())
				.run();
		await Promise.all(["one", "two"].map(store));
		expect((await call(`/${id}/remove-passkey?dry_run=1`, { passkey: "one" })).body).toMatchObject({
			person: { passkeys: [{ id: "two" }] },
		});
		expect((await read(id)).passkeys).toHaveLength(2);
		expect((await call(`/${id}/remove-passkey`, { passkey: "one" })).body).toMatchObject({ person: { passkeys: [{ id: "two" }] } });
		expect((await call(`/${id}/remove-passkey`, { passkey: "one" })).status).toBe(404);
		expect((await call(`/${id}/remove-passkey?dry_run=1`, { passkey: "one" })).status).toBe(404);
		expect((await call(`/${id}/sign-out`, { session: "0".repeat(16) })).status).toBe(404);

		const admin = await signIn({ staff: "remover", role: "admin" });
		const page = `/console/operator/publishers/acme/people/${id}`;
		const text = await (await get(page, admin)).text();
		expect(text).toContain("of two");
		const [session] = (await read(id)).sessions;
		for (const [verb, what] of [
			["remove-passkey", "two"],
			["end-session", session?.id ?? ""],
		] as const)
			expect((await post(`${page}/${verb}`, admin, { id: what })).headers.get("location")).toBe(`${page}?done=${verb}`);
		expect(await read(id)).toMatchObject({ passkeys: [], sessions: [] });
		// Under staff's path there is nobody of a publisher's.
		expect((await get(`/console/operator/staff/${id}`, admin)).status).toBe(404);
	});

	it("is an admin's alone: no lesser key, and no publisher's, sees or changes anybody", async () => {
		await signIn({ publisher: "acme", name: "Guarded" });
		const { id } = await known("acme", "Guarded");
		const issued = await exports.default.fetch("https://base.example/operator/keys/issue", {
			method: "POST",
			headers: OPERATOR_HEADERS,
			body: JSON.stringify({ kind: "operator_key", owner: "mel", role: "manager" }),
		});
		const { issued: key } = await issued.json<{ issued: { value: string } }>();
		for (const [headers, status] of [
			[{ OperatorKey: key.value }, 403],
			[{ AccessKey: ACME.access_key }, 401],
			[{}, 401],
		] as [Record<string, string>, number][]) {
			for (const [path, body] of [
				["", undefined],
				[`/${id}`, undefined],
				...["role", "disable", "enable", "sign-out", "remove-passkey"].map((verb) => [`/${id}/${verb}`, {}] as const),
			] as const)
				expect([path, (await call(path, body, headers)).status]).toEqual([path, status]);
		}
		expect(await read(id)).toMatchObject({ state: "active", role: "owner" });
	});

	it.each([
		["/role", { role: "admin" }, 422],
		["/role", { role: "analyst", was: "analyst" }, 412],
		["/role?dry_run=1", { role: "analyst", was: "analyst" }, 412],
		["/role?dry_run=1", { role: "admin" }, 422],
		["/role", {}, 422],
		["/disable?dryrun=1", {}, 422],
		["/remove-passkey", {}, 422],
	])("POST %s of %j: %i, and nothing is changed", async (path, body, status) => {
		await issueLink({ publisher: "acme", name: "Bad" });
		const { id } = await known("acme", "Bad");
		const before = await read(id);
		expect((await call(`/${id}${path}`, body)).status).toBe(status);
		expect((await call(`/nobody${path}`, body)).status).toBe(status === 412 || "role" in body ? 404 : status);
		expect(await read(id)).toEqual(before);
	});

	it("keeps the last admin of the staff, in a dry run, too", async () => {
		const admins = v.parse(peopleSchema, (await call("")).body).data.filter(({ role, state }) => role === "admin" && state === "active");
		const [last, ...others] = admins;
		for (const { id } of others) expect((await call(`/${id}/disable`, {})).status).toBe(200);
		for (const [verb, body] of [
			["disable", {}],
			["role", { role: "viewer" }],
		] as const)
			for (const query of ["?dry_run=1", ""]) expect((await call(`/${last?.id}/${verb}${query}`, body)).status).toBe(422);
		expect(await read(last?.id ?? "")).toMatchObject({ state: "active", role: "admin" });
	});
});
