/** People of the console: who is invited, given links, signed out, disabled. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import {
	changeRole,
	disablePerson,
	enablePerson,
	endSessions,
	findPerson,
	findPersonByName,
	invitePerson,
	issueSignInLink,
	type KnownPerson,
	linkUrl,
	listPeople,
} from "../../../src/console/session/people.ts";
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
		["name", { ...NEW, name: "<b>" }],
		["name", { ...NEW, name: "" }],
		["email", { ...NEW, name: "B", email: "nobody" }],
	] as const)("are refused by their %s: %j", async (path, wanted) => {
		await expect(invitePerson(deps, ACTOR, wanted)).rejects.toMatchObject({ status: 422, body: { faults: [{ path }] } });
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
	const ask = async (body: object) => {
		const response = await exports.default.fetch("https://base.example/operator/sign-in-links", {
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
