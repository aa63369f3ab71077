/** Keys, staff and publishers' people in the console: what is shown once, who may, and who can never be locked out. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { get, OWN, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { setNow } from "../../support/load-network.ts";
import { ACME, importFile, NORTHWIND } from "../../support/network-import.ts";

const START = Date.parse("2026-11-18T15:00:00Z");
const KEYS = "/console/operator/keys";
const STAFF = "/console/operator/staff";
const visitors: Record<string, Visitor> = {};

beforeAll(async () => {
	setNow(new Date(START).toISOString());
	await importFile({ platforms: [NORTHWIND], publishers: [ACME] });
	for (const role of ["viewer", "manager", "admin"]) visitors[role] = await signIn({ staff: `the ${role}`, role });
});

const send = (path: string, form: Record<string, string>, who = "admin") => shown(post(path, visitors[who], form));

async function textOf(path: string, who = "admin"): Promise<string> {
	const { status, text } = await shown(get(path, visitors[who]));
	expect([path, status]).toEqual([path, 200]);
	return text;
}

const rows = async (sql: string, ...values: unknown[]) =>
	(
		await env.DB.prepare(sql)
			.bind(...values)
			.all()
	).results;
const valueIn = (text: string) => text.match(/<copy-text[^>]*><code>([^<]*)<\/code>/)?.[1] ?? "";
const asPublisher = async (key: string) =>
	(await exports.default.fetch("https://base.example/api/account", { headers: { AccessKey: key } })).status;

describe("worker: the page of keys", () => {
	it("lists without keys, for viewers without what changes them", async () => {
		const seen = await textOf(`${KEYS}?owner=acme`, "viewer");
		for (const part of ["access key", "publisher key", "publisher identity", "/console/operator/publishers/acme"])
			expect(seen).toContain(part);
		expect(seen).not.toMatch(/access-key-acme|<button type="submit" class="danger">|Issue one/);
		expect(await textOf(`${KEYS}?kind=platform_key`, "viewer")).toContain("/console/operator/platforms/northwind");
		expect(await textOf(`${KEYS}?owner=nobody`)).toContain("There is none like that");
		for (const query of ["kind=nothing", "nothing=1"]) expect((await shown(get(`${KEYS}?${query}`, visitors.viewer))).status).toBe(422);
	});

	it("issues, rotates with an overlap and revokes; a new key is shown once, and works", async () => {
		const issued = await send(`${KEYS}/issue`, { kind: "access_key", owner: "acme" });
		const key = valueIn(issued.text);
		expect([issued.status, await asPublisher(key)]).toEqual([200, 200]);
		expect(await textOf(`${KEYS}?owner=acme`)).not.toContain(key);
		const rotated = valueIn((await send(`${KEYS}/rotate`, { kind: "access_key", owner: "acme", overlap_hours: "1" })).text);
		expect([await asPublisher(key), await asPublisher(rotated)]).toEqual([200, 200]);
		expect(await textOf(`${KEYS}?owner=acme&kind=access_key`)).toContain("ending");
		const [{ id }] = (await rows(
			"SELECT substr(hash, 1, 12) AS id FROM access_keys WHERE owner_id = 'acme' AND kind = 'access_key' AND expires_at IS NULL",
		)) as [{ id: string }];
		const response = await post(`${KEYS}/revoke`, visitors.admin, { kind: "access_key", owner: "acme", id });
		expect([response.status, response.headers.get("location")]).toEqual([303, `${KEYS}?kind=access_key&owner=acme&revoked=1`]);
		expect(await textOf(response.headers.get("location") ?? "")).toContain("It is revoked");
		expect([await asPublisher(key), await asPublisher(rotated)]).toEqual([200, 401]);
		expect((await send(`${KEYS}/revoke`, { kind: "access_key", owner: "acme", id })).status).toBe(422);
		const verbs = await rows("SELECT verb FROM audit WHERE subject_kind = 'access_key' AND actor = 'the admin' ORDER BY at, verb");
		expect(verbs.map(({ verb }) => verb)).toEqual(["issueKeys", "revokeKeys", "rotateKeys"]);
	});

	it("makes operator keys with a role and an end, callback secrets, and other names", async () => {
		const operator = await send(`${KEYS}/issue`, { kind: "operator_key", owner: "bo", role: "viewer", expires: "2027-01-01T00:00:00Z" });
		const asked = await exports.default.fetch("https://base.example/operator/publishers", {
			headers: { OperatorKey: valueIn(operator.text) },
		});
		expect(asked.status).toBe(200);
		expect(valueIn((await send(`${KEYS}/issue`, { kind: "callback_secret", owner: "acme" })).text)).toMatch(/^whsec_/);
		expect(
			(await send(`${KEYS}/rotate`, { kind: "publisher_identity", owner: "acme", overlap_hours: "24", value: "acme_new" })).text,
		).toContain("acme_new");
		expect(await textOf(`${KEYS}?owner=acme&kind=publisher_identity`)).toContain("acme_rtb");
		const wanted = { kind: "publisher_identity", owner: "acme", overlap_hours: "48", value: "new name" };
		const refused = await send(`${KEYS}/rotate`, wanted);
		expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('class="fault"')]);
		for (const [name, value] of Object.entries(wanted)) expect(refused.text).toMatch(new RegExp(`name="${name}"[^>]* value="${value}"`));
	});

	it.each([
		["issue", {}],
		["issue", { kind: "access_key", owner: "<script>" }],
		["issue", { kind: "publisher_id", owner: "acme" }],
		["issue", { kind: "operator_key", owner: "bo" }],
		["issue", { kind: "operator_key", owner: "operator", role: "admin" }],
		["issue", { kind: "operator_key", owner: "bo", role: "admin", expires: "2020-01-01T00:00:00Z" }],
		["issue", { kind: "access_key", owner: "acme", role: "admin" }],
		["rotate", { kind: "access_key", owner: "acme", overlap_hours: "-1" }],
		["rotate", { kind: "access_key", owner: "acme", overlap_hours: "soon" }],
		["rotate", { kind: "access_key", owner: "acme", value: "chosen" }],
		["revoke", { kind: "access_key", owner: "acme" }],
		["revoke", { kind: "access_key", owner: "acme", id: "" }],
		["revoke", { kind: "callback_secret", owner: "acme" }],
	])("%s of %j is refused, and nothing is done", async (verb, form: Record<string, string>) => {
		const count = "SELECT (SELECT count(*) FROM access_keys) || ' ' || (SELECT count(*) FROM audit) AS n";
		const before = await rows(count);
		const { status, text } = await send(`${KEYS}/${verb}`, form);
		expect([status, text.includes("<script>")]).toEqual([422, false]);
		expect(await rows(count)).toEqual(before);
	});
});

const idOf = async (name: string, publisher: string | null = null) =>
	(
		(await rows("SELECT id FROM console_people WHERE name = ? AND publisher_id IS NOT DISTINCT FROM ?", name, publisher)) as [
			{ id: string },
		]
	)[0].id;

describe("worker: staff", () => {
	it("are invited by a link that signs in once, get another role, and are kept out", async () => {
		const invited = await send(STAFF, { name: "Mae", email: "Mae@Example.com", role: "viewer" });
		const url = valueIn(invited.text);
		expect([invited.status, url]).toEqual([200, expect.stringContaining("/console/sign-in/")]);
		expect(await textOf(STAFF)).not.toContain(new URL(url).pathname);
		expect((await post(new URL(url).pathname)).status).toBe(303);
		expect((await post(new URL(url).pathname)).status).toBe(410);
		const mae = await idOf("Mae");
		const link = valueIn((await send(`${STAFF}/${mae}/link`, {})).text);
		const cookie = ((await post(new URL(link).pathname)).headers.get("set-cookie") ?? "").split(";")[0] ?? "";
		expect((await get("/console/operator/publishers", { cookie })).status).toBe(200);
		expect((await send(`${STAFF}/${mae}/role`, { was: "viewer", role: "manager" })).status).toBe(303);
		const late = await send(`${STAFF}/${mae}/role`, { was: "viewer", role: "admin" });
		expect([late.status, late.text.includes("Their role is manager by now")]).toEqual([412, true]);
		expect((await send(`${STAFF}/${mae}/role`, { was: "manager", role: "owner" })).status).toBe(422);
		expect((await send(`${STAFF}/${mae}/end-sessions`, {})).status).toBe(303);
		expect((await get("/console/operator/publishers", { cookie })).status).toBe(303);
		expect((await send(`${STAFF}/${mae}/disable`, {})).status).toBe(303);
		expect(await textOf(`${STAFF}?done=disable`)).toContain("They may not sign in any more");
		expect((await send(`${STAFF}/${mae}/link`, {})).status).toBe(422);
		expect((await send(`${STAFF}/${mae}/enable`, {})).status).toBe(303);
		const audited = await rows("SELECT verb FROM audit WHERE subject_id = ? AND actor = 'the admin' ORDER BY verb", mae);
		expect(audited.map(({ verb }) => verb)).toEqual([
			"changeRole",
			"disablePerson",
			"enablePerson",
			"endSessions",
			"invitePerson",
			"issueSignInLink",
		]);
	});

	it("at fault are told beside their fields", async () => {
		for (const [form, part] of [
			[{ name: "Mae", role: "viewer" }, "is someone else&#39;s"],
			[{ name: "<b>", role: "viewer" }, "must be a name"],
			[{ name: "Nel", role: "owner" }, "must be one of viewer"],
			[{ name: "Nel", role: "viewer", email: "nel" }, "must be an e-mail address"],
			[{}, "must be a name"],
		] as const) {
			const { status, text } = await send(STAFF, form);
			expect([status, text.includes(part), text.includes("<b>")]).toEqual([422, true, false]);
		}
	});

	it("always have an admin, whichever way two of them go about it", async () => {
		const admin = await idOf("the admin");
		for (const [deed, form] of [
			["disable", {}],
			["role", { was: "admin", role: "viewer" }],
		] as const) {
			const headers = { ...OWN, referer: `${OWN.origin}${STAFF}` };
			const { status, text } = await shown(post(`${STAFF}/${admin}/${deed}`, visitors.admin, form, headers));
			expect([deed, status, text.includes("the last admin who may sign in")]).toEqual([deed, 422, true]);
			// On the page that it was asked on, with all that can be done there.
			expect([deed, text.includes(`action="${STAFF}/${admin}/end-sessions"`)]).toEqual([deed, true]);
		}
		expect((await get(STAFF, visitors.admin)).status).toBe(200);
		visitors.other = await signIn({ staff: "the other", role: "admin" });
		const other = await idOf("the other");
		const both = await Promise.all([
			send(`${STAFF}/${admin}/disable`, {}, "other"),
			send(`${STAFF}/${other}/role`, { was: "admin", role: "viewer" }, "admin"),
		]);
		expect(both.filter(({ status }) => status === 303)).toHaveLength(1);
		const left = await rows("SELECT name FROM console_people WHERE publisher_id IS NULL AND role = 'admin' AND disabled_at IS NULL");
		expect(left).toHaveLength(1);
		const who = left[0]?.name === "the admin" ? "admin" : "other";
		visitors.admin = visitors[who] ?? { cookie: "" };
	});
});

describe("worker: a publisher's people", () => {
	const PEOPLE = "/console/operator/publishers/acme/people";

	it("are invited for that publisher alone, and for no other", async () => {
		const invited = await send(PEOPLE, { name: "Ada", role: "owner" });
		const signedIn = await post(new URL(valueIn(invited.text)).pathname);
		const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
		expect((await get("/console/earnings", { cookie })).status).toBe(200);
		expect(await textOf(PEOPLE)).toContain("Ada");
		const ada = await idOf("Ada", "acme");
		for (const path of [`${STAFF}/${ada}/disable`, "/console/operator/publishers/nobody/people", `${PEOPLE}/nobody/enable`])
			expect((await send(path, { name: "x", role: "owner" })).status).toBe(404);
		expect((await send(PEOPLE, { name: "Bea", role: "admin" })).status).toBe(422);
		expect((await post(`${PEOPLE}/${ada}/disable`, visitors.admin)).headers.get("location")).toBe(`${PEOPLE}?done=disable`);
		expect((await get("/console/earnings", { cookie })).status).toBe(303);
	});
});

describe("worker: what asks for a passkey or a link used lately", () => {
	it("is done by nobody else, nor by other roles; keeping someone out waits for none", async () => {
		for (const who of ["viewer", "manager"]) {
			for (const path of [`${KEYS}/issue`, `${KEYS}/rotate`, `${KEYS}/revoke`, STAFF, `${STAFF}/x/disable`])
				expect((await send(path, { kind: "access_key", owner: "acme" }, who)).status).toBe(403);
			expect((await shown(get(STAFF, visitors[who]))).status).toBe(403);
		}
		const mae = await idOf("Mae");
		setNow(new Date(START + 11 * 60_000).toISOString());
		const count = "SELECT (SELECT count(*) FROM access_keys) || ' ' || (SELECT count(*) FROM console_links) AS n";
		const before = await rows(count);
		for (const path of [
			`${KEYS}/issue`,
			`${KEYS}/rotate`,
			`${KEYS}/revoke`,
			STAFF,
			`${STAFF}/${mae}/link`,
			`${STAFF}/${mae}/role`,
			`${STAFF}/${mae}/enable`,
		]) {
			const { status, text } = await send(path, { kind: "access_key", owner: "acme", name: "Nel", role: "viewer", was: "viewer" });
			expect([path, status, text.includes("Confirm that it is you")]).toEqual([path, 403, true]);
		}
		expect(await rows(count)).toEqual(before);
		// Nothing is to be typed that would be lost then.
		for (const path of [KEYS, STAFF, "/console/operator/platforms/northwind"]) {
			const text = await textOf(path);
			expect([path, text.includes(`/console/confirm?next=${encodeURIComponent(path)}`)]).toEqual([path, true]);
			expect(text).not.toMatch(/Make an invitation|\/keys\/issue"|\/secret"/);
		}
		expect((await send(`${STAFF}/${mae}/disable`, {})).status).toBe(303);
	});
});
