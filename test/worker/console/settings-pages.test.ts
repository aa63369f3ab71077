/** A publisher's settings in the console: keys, secrets, the callback address, its people. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { get, OWN, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { importConversionNetwork } from "../../support/conversions.ts";
import { setNow } from "../../support/load-network.ts";
import { setPublisher } from "../../support/report-rows.ts";

const who: Record<string, Visitor> = {};
const FORM = { overlap_hours: "1" };

beforeAll(async () => {
	setNow("2026-11-18T15:00:00Z");
	await importConversionNetwork();
	who.owner = await signIn({ publisher: "cpa", name: "Ada" });
	who.analyst = await signIn({ publisher: "cpa", name: "Ben", role: "analyst" });
	who.other = await signIn({ publisher: "cpc", name: "Cy" });
	who.stale = await signIn({ publisher: "cpa", name: "Dan" });
	await env.DB.prepare(
		"UPDATE console_sessions SET fresh_at = NULL WHERE person_id = (SELECT id FROM console_people WHERE name = 'Dan')",
	).run();
});

const account = async (key: string) =>
	(await exports.default.fetch("http://localhost:8787/api/account", { headers: { AccessKey: key } })).status;
const personId = (name: string) => env.DB.prepare("SELECT id FROM console_people WHERE name = ?").bind(name).first<string>("id");

async function settings(visitor?: Visitor): Promise<string> {
	const { status, text } = await shown(get("/console/settings", visitor));
	expect(status).toBe(200);
	return text;
}

/** The secret that an answer shows. */
async function made(response: Response): Promise<string> {
	expect([response.status, response.headers.get("cache-control"), response.headers.get("location")]).toEqual([200, "no-store", null]);
	const [, value = ""] = /<copy-text[^>]*><code>([^<]+)<\/code>/.exec(await response.text()) ?? [];
	return value;
}

async function audited(verb: string): Promise<unknown[]> {
	const { results } = await env.DB.prepare(
		"SELECT actor, role, subject_kind AS kind, subject_id AS subject FROM audit WHERE verb = ? AND actor LIKE '%(cpa)'",
	)
		.bind(verb)
		.all();
	return results;
}

describe("worker: a publisher's settings", () => {
	it("are seen by all of its people, changed by its owners, and only just after they proved who they are", async () => {
		const text = await settings(who.analyst);
		for (const told of ["identity-cpa", "id-cpa", "conversions (CPA)", "80%", "https://publisher.example/s2s", "Ada", "Access Key"]) {
			expect(text).toContain(told);
		}
		expect(text).not.toMatch(/<form method="post" action="\/console\/settings|access-key-cpa|Invite someone|Cy</);
		expect(await settings(who.owner)).toContain('action="/console/settings/keys/issue"');
		for (const [path, form] of [
			["keys/issue", { kind: "access_key" }],
			["keys/rotate", { kind: "access_key", ...FORM }],
			["keys/revoke", { kind: "access_key", id: "000000000000" }],
			["callback-address", { callback_url: "https://evil.example/", yes: "1" }],
			["members", { name: "Eve", role: "owner" }],
			[`members/${await personId("Ben")}/role`, { role: "owner" }],
		] as const) {
			const refused = await shown(post(`/console/settings/${path}`, who.analyst, form));
			expect([path, refused.status]).toEqual([path, 403]);
			const stale = await shown(post(`/console/settings/${path}`, who.stale, form));
			expect([path, stale.status, stale.text]).toEqual([path, 403, expect.stringContaining("Confirm that it is you")]);
		}
		for (const path of ["callback-address", "members"]) expect((await get(`/console/settings/${path}`, who.stale)).status).toBe(303);
		const { n } = (await env.DB.prepare("SELECT count(*) AS n FROM audit WHERE actor LIKE '%(cpa)' AND verb <> 'signIn'").first<{
			n: number;
		}>()) ?? { n: -1 };
		expect(n).toBe(0);
	});

	it("issue a key that works at once, rotate it with an overlap, and revoke it", async () => {
		const key = await made(await post("/console/settings/keys/issue", who.owner, { kind: "access_key" }));
		expect(await account(key)).toBe(200);
		const text = await settings(who.owner);
		expect(text).not.toContain(key);
		const rotated = await made(await post("/console/settings/keys/rotate", who.owner, { kind: "access_key", overlap_hours: "2" }));
		expect([await account(key), await account(rotated)]).toEqual([200, 200]);
		const ends = await env.DB.prepare(
			"SELECT DISTINCT expires_at FROM access_keys WHERE owner_id = 'cpa' AND kind = 'access_key' AND expires_at IS NOT NULL",
		).all();
		expect(ends.results).toEqual([{ expires_at: Date.parse("2026-11-18T17:00:00Z") }]);
		for (const [value, works] of [
			[key, [401, 200]],
			[rotated, [401, 401]],
		] as const) {
			const id = (await sha256Hex(value)).slice(0, 12);
			expect(await settings(who.owner)).toContain(`value="${id}"`);
			const revoked = await post("/console/settings/keys/revoke", who.owner, { kind: "access_key", id });
			expect(revoked.headers.get("location")).toBe("/console/settings?done=revoked");
			expect(await settings(who.owner)).not.toContain(`value="${id}"`);
			expect([await account(key), await account(rotated)]).toEqual(works);
		}
		expect(await audited("issueKeys")).toEqual([{ actor: "Ada (cpa)", role: "owner", kind: "access_key", subject: "cpa" }]);
		expect(await audited("rotateKeys")).toHaveLength(1);
		expect(await audited("revokeKeys")).toHaveLength(2);
	});

	it("issue and rotate a secret that signs callbacks", async () => {
		const secret = await made(await post("/console/settings/keys/issue", who.owner, { kind: "callback_secret" }));
		expect(secret).toMatch(/^whsec_/);
		expect(await made(await post("/console/settings/keys/rotate", who.owner, { kind: "callback_secret", overlap_hours: "0" }))).toMatch(
			/^whsec_/,
		);
		const { results } = await env.DB.prepare(
			"SELECT expires_at IS NULL AS valid, sealed FROM callback_secrets WHERE publisher_id = 'cpa' ORDER BY valid",
		).all();
		expect(results.map(({ valid }) => Number(valid))).toEqual([0, 1]);
		expect(JSON.stringify(results)).not.toContain(secret);
		expect(await settings(who.owner)).not.toContain("whsec_");
	});

	it("refuse other kinds, other publishers' keys and strange forms, and change nothing", async () => {
		const theirs = await env.DB.prepare(
			"SELECT substr(hash, 1, 12) AS id FROM access_keys WHERE owner_id = 'cpc' AND kind = 'access_key'",
		).first<string>("id");
		for (const [path, form] of [
			["issue", {}],
			["issue", { kind: "operator_key", owner: "cpa", role: "admin" }],
			["issue", { kind: "platform_key" }],
			["issue", { kind: "toString" }],
			["rotate", { kind: "publisher_identity", overlap_hours: "1" }],
			["rotate", { kind: "access_key" }],
			["rotate", { kind: "access_key", overlap_hours: "1e9" }],
			["rotate", { kind: "access_key", overlap_hours: "<b>" }],
			["revoke", { kind: "publisher_key" }],
			["revoke", { kind: "access_key", id: theirs ?? "" }],
			["revoke", { kind: "access_key", id: "'; DROP TABLE access_keys --" }],
		] as const) {
			expect([path, form, (await post(`/console/settings/keys/${path}`, who.owner, form)).status]).toEqual([path, form, 422]);
		}
		const refused = await shown(post("/console/settings/keys/rotate", who.owner, { kind: "access_key", overlap_hours: "9999" }));
		expect(refused.text).toMatch(/class="fault"[\s\S]*name="overlap_hours"[^>]* value="9999"/);
		const issued = await made(await post("/console/settings/keys/issue", who.owner, { kind: "publisher_key", owner: "cpc" }));
		expect(issued).not.toBe("");
		const { results } = await env.DB.prepare("SELECT owner_id FROM access_keys WHERE kind = 'publisher_key' AND owner_id = 'cpc'").all();
		expect(results).toHaveLength(1);
		expect(await account("access-key-cpc")).toBe(200);
	});

	it("that are not revoked are shown again, with what stands against it", async () => {
		const form = { kind: "access_key", id: "0".repeat(12) };
		for (const from of ["/console/settings", "/console/settings?done=revoked", "/console/settings/keys/revoke", undefined]) {
			const headers = { ...OWN, ...(from !== undefined && { referer: `${OWN.origin}${from}` }) };
			const { status, text } = await shown(post("/console/settings/keys/revoke", who.owner, form, headers));
			expect([from, status, text]).toEqual([from, 422, expect.stringContaining("<h1>Settings</h1>")]);
			expect(text).toMatch(/role="alert"[^>]*><strong>Nothing was changed<\/strong><ul><li>id: /);
			expect(text).toContain('action="/console/settings/keys/issue"');
			expect(text).toContain('<a href="/console/settings" aria-current="page">');
			expect(text).not.toContain('class="notice good"');
		}
		// A page that is not theirs is not shown, whatever a request says that it came from.
		const referer = `${OWN.origin}/console/operator/keys`;
		const strange = await shown(post("/console/settings/keys/revoke", who.owner, form, { ...OWN, referer }));
		expect([strange.status, strange.text]).toEqual([422, expect.stringContaining("<h1>Something is not right</h1>")]);
	});

	it("are made once by a form, and revoked by those who are suspended, too", async () => {
		const form = { kind: "publisher_key", form: crypto.randomUUID() };
		await made(await post("/console/settings/keys/issue", who.other, form));
		const again = await shown(post("/console/settings/keys/issue", who.other, form));
		expect([again.status, again.text]).toEqual([412, expect.stringContaining("sent already")]);
		await setPublisher("cpc", "status", "suspended");
		const text = await settings(who.other);
		expect(text).not.toContain("keys/issue");
		const [, id = ""] = /name="kind" value="publisher_key"\/?><input type="hidden" name="id" value="([\da-f]{12})"/.exec(text) ?? [];
		expect((await post("/console/settings/keys/issue", who.other, { kind: "access_key" })).status).toBe(403);
		expect((await post("/console/settings/keys/revoke", who.other, { kind: "publisher_key", id })).status).toBe(303);
		expect(await settings(who.other)).not.toContain(id);
		await setPublisher("cpc", "status", "active");
	});
});

describe("worker: keys that a publisher's people make", () => {
	it.each(["publisher_key", "callback_secret"])("of a %s are a hundred a day at most; staff make more", async (kind) => {
		const table =
			kind === "callback_secret"
				? "callback_secrets WHERE publisher_id = 'cpa'"
				: `access_keys WHERE owner_id = 'cpa' AND kind = '${kind}'`;
		const count = () => env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>("n");
		const rotate = () => shown(post("/console/settings/keys/rotate", who.owner, { kind, overlap_hours: "0" }));
		expect((await rotate()).status).toBe(200);
		const before = (await count()) ?? 0;
		const endedKeys =
			kind === "callback_secret"
				? `INSERT INTO callback_secrets (id, publisher_id, sealed, created_at, expires_at) SELECT 'ended-' || atom, 'cpa', '', ?, 1`
				: `INSERT INTO access_keys (hash, kind, owner_id, created_at, expires_at) SELECT 'ended-' || atom, '${kind}', 'cpa', ?, 1`;
		const numbers = JSON.stringify(Array.from({ length: 99 - before }, (_, n) => n));
		await env.DB.prepare(`${endedKeys} FROM json_each(?)`).bind(Date.now(), numbers).run();
		expect((await rotate()).status).toBe(200);
		const refused = await rotate();
		expect([refused.status, refused.text, await count()]).toEqual([422, expect.stringContaining("100 that were made within a day"), 100]);
		const byStaff = await exports.default.fetch("http://localhost:8787/operator/keys/rotate", {
			method: "POST",
			headers: { OperatorKey: env.OPERATOR_KEY },
			body: JSON.stringify({ kind, owner: "cpa", overlap_hours: 0 }),
		});
		expect([byStaff.status, await count()]).toEqual([200, 101]);
	});
});

describe("worker: a publisher's callback address", () => {
	const PATH = "/console/settings/callback-address";
	const etagOf = (text: string) => (/name="etag" value="([^"]+)"/.exec(text)?.[1] ?? "").replaceAll("&quot;", '"');
	const stored = () => env.DB.prepare("SELECT callback_url FROM publishers WHERE id = 'cpa'").first<string>("callback_url");

	it("is shown before it is changed, refused where it may not be called, and told of where it changed meanwhile", async () => {
		const { text } = await shown(get(PATH, who.owner));
		const etag = etagOf(text);
		for (const url of [
			"http://publisher.example/",
			"https://127.0.0.1/",
			"https://metadata.internal/",
			"javascript:alert(1)",
			"<script>",
		]) {
			const refused = await shown(post(PATH, who.owner, { callback_url: url, etag, yes: "1" }));
			expect([url, refused.status, refused.text]).toEqual([url, 422, expect.stringContaining("The address was not changed")]);
			expect(refused.text).not.toContain("<script>");
		}
		const callback_url = "https://new.example/s2s?token=abc&tx={txnid}&of={nothing}";
		const preview = await shown(post(PATH, who.owner, { callback_url, etag }));
		expect([preview.status, preview.text]).toEqual([200, expect.stringContaining("Change the address")]);
		expect(preview.text).toContain("{nothing}");
		expect(await stored()).toBe("https://publisher.example/s2s");
		const changed = await post(PATH, who.owner, { callback_url, etag, yes: "1" });
		expect([changed.status, changed.headers.get("location")]).toEqual([303, "/console/settings?done=address"]);
		expect(await stored()).toBe(callback_url);
		expect(await audited("changePublisherEntry")).toContainEqual({ actor: "Ada (cpa)", role: "owner", kind: "publisher", subject: "cpa" });
		expect((await post(PATH, who.owner, { callback_url: "https://late.example/", etag, yes: "1" })).status).toBe(412);
		const late = await shown(post(PATH, who.owner, { callback_url: "https://late.example/", etag }));
		expect([late.status, late.text]).toEqual([412, expect.stringMatching(/name="callback_url"[^>]* value="https:\/\/late\.example\/"/)]);
		expect([etagOf(late.text), await stored()]).toEqual([etagOf((await shown(get(PATH, who.owner))).text), callback_url]);
		expect(await settings(who.owner)).toContain("token=***");
		const cleared = await post(PATH, who.owner, { callback_url: "", etag: etagOf((await shown(get(PATH, who.owner))).text), yes: "1" });
		expect([cleared.status, await stored()]).toEqual([303, null]);
	});

	it("is changed at most twenty times a day: each change raises the network's version, and operators' imports would never end", async () => {
		const version = () => env.DB.prepare("SELECT max(version) AS version FROM network_versions").first<number>("version");
		const change = async (n: number) =>
			(await post(PATH, who.owner, { callback_url: `https://new.example/${n}?tx={txnid}`, yes: "1" })).status;
		const statuses: number[] = [];
		while (statuses.at(-1) !== 422 && statuses.length <= 20) statuses.push(await change(statuses.length));
		expect(statuses).toEqual([...Array<number>(statuses.length - 1).fill(303), 422]);
		const changes = await env.DB.prepare(
			"SELECT count(*) AS n FROM audit WHERE verb = 'changePublisherEntry' AND subject_id = 'cpa' AND role = 'owner'",
		).first<number>("n");
		expect(changes).toBe(20);
		const before = await version();
		const refused = await shown(post(PATH, who.owner, { callback_url: "https://late.example/", yes: "1" }));
		expect([refused.status, refused.text, await version()]).toEqual([422, expect.stringContaining("20 times within a day"), before]);
		// What is only looked at changes nothing.
		expect((await post(PATH, who.owner, { callback_url: "https://late.example/" })).status).toBe(200);
	});
});

describe("worker: a publisher's people", () => {
	const member = (id: string | null, deed: string) => `/console/settings/members/${id}/${deed}`;

	it("are invited by a link that works once, given roles, signed out, disabled and enabled", async () => {
		const link = await made(
			await post("/console/settings/members", who.owner, { name: "Eve", email: "eve@publisher.example", role: "analyst" }),
		);
		expect(link).toMatch(/^http:\/\/localhost:8787\/console\/sign-in\//);
		const opened = await exports.default.fetch(link, { method: "POST", headers: OWN, redirect: "manual" });
		expect(opened.status).toBe(303);
		const eve = { cookie: (opened.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
		expect((await get("/console/settings/members", eve)).status).toBe(403);
		const id = await personId("Eve");
		expect((await post(member(id, "role"), who.owner, { role: "owner" })).status).toBe(303);
		expect((await get("/console/settings/members", eve)).status).toBe(200);
		expect((await post(member(id, "disable"), who.stale)).headers.get("location")).toBe("/console/settings?done=disable");
		expect((await get("/console/settings", eve)).status).toBe(303);
		expect((await post(member(id, "link"), who.owner)).status).toBe(422);
		expect((await post(member(id, "enable"), who.owner)).status).toBe(303);
		expect(await made(await post(member(id, "link"), who.owner))).toContain("/console/sign-in/");
		expect((await post(member(id, "end-sessions"), who.owner)).status).toBe(303);
		expect(await audited("disablePerson")).toEqual([{ actor: "Dan (cpa)", role: "owner", kind: "person", subject: id }]);
	});

	it("are put out where their publisher is suspended, too; nothing else is offered there", async () => {
		const id = await personId("Eve");
		await setPublisher("cpa", "status", "suspended");
		const offered = [...(await settings(who.owner)).matchAll(/action="(\/console\/settings\/[^"]+)"/g)];
		for (const [, path = ""] of offered) expect(path).toMatch(/\/(?:disable|end-sessions|revoke)$/);
		for (const path of ["/console/callbacks", "/console/claims"])
			expect((await shown(get(path, who.owner))).text).not.toMatch(/method="post" action="\/console\/c/);
		for (const deed of ["link", "role", "enable"]) expect((await post(member(id, deed), who.owner, { role: "owner" })).status).toBe(403);
		for (const deed of ["end-sessions", "disable"]) expect((await post(member(id, deed), who.owner)).status).toBe(303);
		await setPublisher("cpa", "status", "active");
		expect((await post(member(id, "enable"), who.owner)).status).toBe(303);
	});

	it("are one's own publisher's alone, and nobody leaves it without an owner", async () => {
		const [ada, cy] = [await personId("Ada"), await personId("Cy")];
		for (const deed of ["link", "role", "enable", "disable", "end-sessions"]) {
			expect([deed, (await post(member(cy, deed), who.owner, { role: "analyst" })).status]).toEqual([deed, 404]);
		}
		expect((await post(member(ada, "disable"), who.owner)).status).toBe(422);
		expect((await post(member(ada, "role"), who.owner, { role: "analyst" })).status).toBe(422);
		for (const form of [
			{},
			{ name: "", role: "owner" },
			{ name: "<b>", role: "owner" },
			{ name: "Fay", role: "admin" },
			{ name: "Ben", role: "analyst" },
		] as Record<string, string>[]) {
			const refused = await shown(post("/console/settings/members", who.owner, form));
			expect([form, refused.status]).toEqual([form, 422]);
			expect(refused.text).not.toContain("<b>");
		}
		expect(await settings(who.other)).not.toMatch(/Ada|Ben/);
	});
});
